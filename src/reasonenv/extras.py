"""Imports of optional packages, with an error that names the extra to install."""

from __future__ import annotations

import importlib
from types import ModuleType

from reasonenv.errors import MissingExtraError

__all__ = ["need"]


def need(module: str, *, extra: str, by: str) -> ModuleType:
    """Import and return `module`.

    Args:
        module: dotted name of the optional module.
        extra: the extra of reasonenv that installs it.
        by: what needs it, for the message.

    Raises:
        MissingExtraError: the module is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        top = module.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != top:
            raise  # the package is there and one of its own dependencies is not
        raise MissingExtraError(
            f'{by} needs {top}: pip install "reasonenv[{extra}]"', name=error.name
        ) from error
