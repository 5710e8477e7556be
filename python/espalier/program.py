"""The program espalier: where it is, and calls of its verbs."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

_WARNING = "warning: "
_FOLDER = re.compile(re.escape(tempfile.gettempdir() + os.sep) + r"espalier[a-z0-9_]{8}[/\\]")  # goes with the call
# A command reaches to the end of its clause or sentence, and may have quoted texts, and points, commas and brackets in words.
_COMMAND = r"""\bespalier (?=[a-zA-Z-])(?:'[^'\n]*'|[;,.](?=\S)|(?<=[\s/.])\.|(?<=\S)\([^()\s]*\)|[^;,.()`'\n])*"""
_FLAG = re.compile(_COMMAND + r"|(?<![\w-])--(?=([a-z]\w*))\1")  # settings have the names of flags


class EspalierError(ValueError):
    """The program espalier has failed. The text is its message."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        """2: usage; 3: data; 4: the gate of retrain; 5: the runner; 1: internal error."""

    def __reduce__(self) -> tuple[type[EspalierError], tuple[str, int]]:
        return EspalierError, (str(self), self.exit_code)


class EspalierWarning(UserWarning):
    """A warning of the program espalier."""


def find(espalier: str | None = None) -> str:
    """Returns the path of the program.

    It is the given one, the one that the variable ESPALIER names, the one that was installed with this
    package, or one on PATH. Raises FileNotFoundError if there is none.
    """
    name = espalier or os.environ.get("ESPALIER")
    if not name:
        name = next((path for path in _installed() if os.access(path, os.X_OK)), "espalier")
    program = shutil.which(name)
    if program is None:
        raise FileNotFoundError(
            f"the program {name} is not there: install a wheel of espalier for this machine, or name the program by "
            "the variable ESPALIER"
        )
    return program


def _installed() -> Iterator[str]:
    """Returns where a wheel puts the program, by the ways in which pip installs."""
    name = "espalier" + (sysconfig.get_config_var("EXE") or "")
    yield os.path.join(sysconfig.get_path("scripts"), name)
    yield os.path.join(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")), name)
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", name)  # --target


def command(
    verb: str,
    *arguments: str,
    espalier: str | None = None,
    processors: int | None = None,
    **flags: Any,
) -> str:
    """Runs a verb of the program and returns what it prints.

        command("predict", model="runs/credit", input="new/*.parquet", output="scored")

    A flag that is None is left out; a mapping is a flag for each key, KEY=VALUE; a list is one flag.
    processors is the number of processors that the program may use. Raises EspalierError with the message
    of the program if it fails, and FileNotFoundError if there is none.
    """
    settings = []
    for name, value in flags.items():
        if isinstance(value, Mapping):
            settings += [f"--{name}={text(key)}={text(item)}" for key, item in value.items()]
        elif value is not None:
            settings.append(f"--{name}={text(value)}")
    environment = os.environ if processors is None else {**os.environ, "GOMAXPROCS": str(processors)}
    with subprocess.Popen(
        [find(espalier), verb, *settings, "--", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=environment,
    ) as process:
        try:
            printed, message = process.communicate()
        except BaseException:  # such as an interrupt in a notebook
            process.terminate()
            raise
    said = _FOLDER.sub("", without_dashes(message)).splitlines()
    if process.returncode:
        lines = [line for line in said if not line.startswith(_WARNING)]
        reason = "\n".join(lines).strip().removeprefix("espalier: ")
        raise EspalierError(reason or f"exit code {process.returncode}", process.returncode)
    for line in said:
        if line.startswith(_WARNING):
            warnings.warn(line.removeprefix(_WARNING), EspalierWarning, stacklevel=callers_level())
    return printed


def without_dashes(message: str) -> str:
    """Returns a text of the program with the names of settings in place of flags. Commands stay as they are typed."""
    return _FLAG.sub(lambda match: match[1] or match[0], message)


def callers_level() -> int:
    """The stack level, for a warning of the calling function, of the first caller outside of this package."""
    here = os.path.dirname(__file__) + os.sep
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_code.co_filename.startswith(here):
        frame, level = frame.f_back, level + 1
    return level


def text(value: Any) -> str:
    """Returns a value as the program spells it; lists are a line of CSV."""
    if hasattr(value, "tolist"):  # of numpy and pandas
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow([text(item) for item in value])
        return line.getvalue()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)
