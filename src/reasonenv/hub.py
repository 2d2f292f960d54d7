"""Whether a Hugging Face hub answers: asked once, before its clients retry for minutes."""

from __future__ import annotations

import threading

__all__ = ["PROBE_SECONDS", "why_unreachable"]

PROBE_SECONDS = 2.0  # how long the hub may take to answer before only the cache is asked


def why_unreachable() -> str:
    """Return why the hub cannot be asked, "" where it answers.

    In a thread, as no time-out of an HTTP client covers a name look-up that hangs.
    """
    from huggingface_hub import constants, get_session

    endpoint = constants.ENDPOINT
    outcome = [f"{endpoint} did not answer within {PROBE_SECONDS:g} s"]

    def probe() -> None:
        try:
            get_session().head(endpoint, timeout=PROBE_SECONDS)
            outcome[0] = ""  # any answer will do, also an error: `datasets` will explain it
        except Exception as error:  # whatever HTTP client this version of the hub has
            text = str(error).strip() or type(error).__name__
            outcome[0] = f"{endpoint}: {text.splitlines()[0]}"

    thread = threading.Thread(target=probe, name="reasonenv-hub-probe", daemon=True)
    thread.start()
    thread.join(PROBE_SECONDS + 0.5)
    return outcome[0]
