"""The former name of the package espalier."""

import warnings
from typing import Any

import espalier

warnings.warn("the package espalier_beam is now called espalier: import espalier", DeprecationWarning, stacklevel=2)


def __getattr__(name: str) -> Any:
    return getattr(espalier, name)
