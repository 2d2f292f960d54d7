"""Problems from a Hugging Face data set: from the cache, or from the hub where it answers."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from reasonenv.errors import DataError, HubUnavailableError
from reasonenv.extras import need
from reasonenv.hub import why_unreachable
from reasonenv.problems.base import ProblemList
from reasonenv.problems.columns import ROW_FORMS, Columns
from reasonenv.problems.rows import from_rows

__all__ = ["load_hub"]

_offline_lock = threading.Lock()


def load_hub(
    dataset: str,
    config: str | None = None,
    split: str = "train",
    *,
    columns: Columns | Mapping[str, Any] | None = None,
    kind: str | None = None,
    name: str | None = None,
    revision: str | None = None,
) -> ProblemList:
    """Return the problems of one split of a Hugging Face data set, in its order.

    Where the hub does not answer within two seconds, the data set comes from the local cache, at
    once or not at all: the many retries of `datasets` are not waited for.

    Args:
        dataset: its id on the hub, such as "openai/gsm8k".
        config: which of its configurations.
        split: which of its splits.
        columns: which column holds what; None takes the usual names.
        kind: "math", "choice", "countdown"; None and "jsonl" let each row decide.
        name: what messages call it; the id unless given.
        revision: which branch or commit of it; None is the main branch.

    Raises:
        MissingExtraError: `datasets` is not installed.
        HubUnavailableError: it is not in the cache and the hub cannot be reached.
        DataError: the hub has no such data set, configuration or split, or a row is no problem.
    """
    datasets = need("datasets", extra="data", by="a data set from the Hugging Face hub")
    hub = need("huggingface_hub", extra="data", by="a data set from the Hugging Face hub")
    what = f"{name or dataset}: the data set {dataset} (config {config}, split {split})"
    told_offline = hub.constants.HF_HUB_OFFLINE
    reason = "HF_HUB_OFFLINE is set" if told_offline else why_unreachable()
    try:
        with _offline(hub) if reason else contextlib.nullcontext():
            rows = datasets.load_dataset(dataset, config, split=split, revision=revision)
    except datasets.exceptions.DatasetNotFoundError as error:
        raise DataError(
            f"{what} is not on the hub, or needs a login (`hf auth login`): {_first_line(error)}"
        ) from error
    except ValueError as error:  # an unknown configuration or split; the text lists the valid ones
        if not reason:
            raise DataError(f"{what} cannot be loaded: {_first_line(error)}") from error
        raise _unavailable(what, kind, f"{reason}; {_first_line(error)}", datasets) from error
    except (OSError, hub.errors.HfHubHTTPError) as error:
        raise _unavailable(what, kind, reason or _first_line(error), datasets) from error
    where = f"{dataset}[{split}]"
    return from_rows(rows, columns=columns, kind=kind, name=name or dataset, where=where)


def _unavailable(what: str, kind: str | None, reason: str, datasets: Any) -> HubUnavailableError:
    return HubUnavailableError(
        f"{what} is not in the cache ({datasets.config.HF_DATASETS_CACHE}) and cannot come from "
        f"the hub ({reason}). Give it as a local file instead, data=FILE.jsonl, one object a line: "
        f"{ROW_FORMS[kind or 'jsonl']}. Or load it once on a machine with a network and bring the "
        "cache along (HF_HOME says where it lies; HF_HUB_OFFLINE=1 uses it without asking the hub, "
        "and must be unset for a download)."
    )


@contextlib.contextmanager
def _offline(hub: Any) -> Iterator[None]:
    """Have the hub's client refuse requests at once, for a moment; the environment is untouched.

    There is no argument for it in `load_dataset`, whose only other way out is five retries.
    """
    with _offline_lock:
        before = hub.constants.HF_HUB_OFFLINE
        hub.constants.HF_HUB_OFFLINE = True
        try:
            yield
        finally:
            hub.constants.HF_HUB_OFFLINE = before


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
