"""LATEST.json: the run in use."""

from __future__ import annotations

import datetime
import re
from typing import Any

from . import checks, files

_MAX_BYTES = 1 << 16
_FORMS: dict[str, type] = {
    **{"format": str, "version": int, "run": str, "tree_sha256": str},
    **{"promoted": str, "reason": str, "held_until": str},
}


def read(encoded: bytes) -> tuple[str, str]:
    """Returns the folder of the run that a LATEST.json names, and the digest of its tree.

    Raises ValueError if Go refuses it: see the package io/latest.
    """
    if len(encoded) > _MAX_BYTES:
        raise ValueError(f"{len(encoded)} bytes: want at most {_MAX_BYTES}")
    try:
        document = checks.value(encoded)
    except RecursionError as error:
        raise ValueError("lists or objects are nested too deeply") from error
    if not isinstance(document, dict):
        raise ValueError('want an object of format "espalier/latest"')
    found: dict[str, Any] = {"format": "", "version": 0, "run": "", "tree_sha256": ""}
    for name, value in checks.members(document):
        if value is None or name not in _FORMS:
            continue
        if type(value) is not _FORMS[name] or name == "promoted" and not _is_time(value):
            raise ValueError(f"{name}: {value!r}: want {'a time' if name == 'promoted' else _FORMS[name].__name__}")
        found[name] = value
    if found["format"] != "espalier/latest" or found["version"] != 1:
        raise ValueError('want format "espalier/latest" and version 1')
    if not re.fullmatch("[0-9a-f]{64}", found["tree_sha256"]):
        raise ValueError(f"tree_sha256: {found['tree_sha256']!r}: want 64 hexadecimal digits")
    if not files.is_below(found["run"]):
        raise ValueError(f"run: {found['run']!r}: want a relative path of plain parts")
    return found["run"], found["tree_sha256"]


def _is_time(text: Any) -> bool:
    """Reports whether a text is a time of RFC 3339."""
    form = r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)"
    parts = re.fullmatch(form, text, re.ASCII)
    if parts is None:
        return False
    try:
        datetime.datetime.fromisoformat(re.sub("^0000", "2000", parts[1]))  # Go has a year 0, a leap year
    except ValueError:  # a day or an hour that there is not
        return False
    return True
