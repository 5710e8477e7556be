"""Trains trees of frames by the command espalier."""

from __future__ import annotations

import contextlib
import csv
import html
import io
import json
import os
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Mapping
from typing import Any

from .tree import Tree


class EspalierError(Exception):
    """The command espalier has failed. The text is its message."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        """2: usage; 3: data; 4: the gate of retrain; 5: the runner; 1: internal error."""


class Run:
    """A finished run: a folder that `espalier train` has written. A notebook shows its report."""

    folder: str
    tree: Tree

    def __init__(self, folder: str, summary: str = "") -> None:
        """Reads a run folder on this machine. Raises what Tree.from_run raises."""
        self.folder = folder
        self.tree = Tree.from_run(folder)
        self.summary = summary
        """What the command printed: the tree, its figures and trees for other budgets."""

    @property
    def metrics(self) -> dict[str, Any]:
        """The content of metrics.json: figures by part of the rows."""
        return dict(self._read("metrics.json"))

    @property
    def frontier(self) -> list[dict[str, Any]]:
        """The trees of frontier.json by ascending cost; empty if the run chose among no trees."""
        if not os.path.exists(self._path("frontier.json")):
            return []
        return list(self._read("frontier.json")["points"])

    @property
    def report(self) -> str:
        """The path of report.html."""
        return self._path("report.html")

    def frontier_tree(self, number: int) -> Tree:
        """Returns a tree of the frontier, counted from 0."""
        return Tree.load(self._path(self.frontier[number]["tree"]))

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def _read(self, name: str) -> Any:
        with open(self._path(name), encoding="utf-8") as file:
            return json.load(file)

    def _repr_html_(self) -> str:
        """Returns the report in a frame, for notebooks."""
        with open(self.report, encoding="utf-8") as file:
            page = html.escape(file.read())
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 1px solid gray"></iframe>'

    def __repr__(self) -> str:
        return self.summary or f"Run({self.folder!r})"


def train(
    rows: Any,
    label: str,
    *,
    costs: Mapping[str, float] | str | None = None,
    budget: float | None = None,
    output: str | None = None,
    espalier: str | None = None,
    **settings: Any,
) -> Run:
    """Trains a tree by `espalier train` and returns the run.

    rows is a pandas DataFrame, without its index, or what pyarrow.table takes. label names the column
    of the classes. costs is the price of a test on each feature (1 if it is absent), or the path of a
    CSV file of costs. budget is the greatest expected cost per row. output is the run folder; without
    it, the folder is temporary and goes with the run. espalier is the program; without it, the
    variable ESPALIER names it, or it is found on PATH. settings are further settings by the names of
    flags (max_leaves=8, tests=["threshold", "both"], ordered={"size": ["low", "medium", "high"]}); None
    leaves out a setting.

    Raises EspalierError with the message of the command if it fails, and FileNotFoundError if there is
    no such program.
    """
    flags = {"label": label, "max_expected_cost": budget, "costs": costs, "progress": "none", **settings}
    with contextlib.ExitStack() as removal:
        work = tempfile.mkdtemp(prefix="espalier")
        removal.callback(shutil.rmtree, work, ignore_errors=True)
        flags["input"] = os.path.join(work, "rows.parquet")
        flags["output"] = output or os.path.join(work, "run")
        _write_rows(rows, flags["input"])
        if isinstance(costs, Mapping):
            flags["costs"] = os.path.join(work, "costs.csv")
            _write_costs(costs, flags["costs"])
        run = Run(flags["output"], command("train", espalier=espalier, **flags))
        if output is None:
            weakref.finalize(run, removal.pop_all().close)
    return run


def find(espalier: str | None = None) -> str:
    """Returns the path of the program espalier. Raises FileNotFoundError if it is absent."""
    name = espalier or os.environ.get("ESPALIER") or "espalier"
    program = shutil.which(name)
    if program is None:
        raise FileNotFoundError(
            f"the program {name} is not there: install Espalier, or name the program by the variable ESPALIER"
        )
    return program


def command(verb: str, *arguments: str, espalier: str | None = None, **flags: Any) -> str:
    """Runs a verb of the command and returns what it prints.

        command("predict", model="runs/credit", input="new/*.parquet", output="scored")

    A flag that is None is left out. Raises EspalierError with the message of the command if it fails,
    and FileNotFoundError if there is no such program.
    """
    settings = []
    for name, value in flags.items():
        if isinstance(value, Mapping):
            settings += [f"--{name}={key}={_text(item)}" for key, item in value.items()]
        elif value is not None:
            settings.append(f"--{name}={_text(value)}")
    done = subprocess.run(
        [find(espalier), verb, *settings, "--", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        message = done.stderr.strip().removeprefix("espalier: ")
        raise EspalierError(message or f"exit code {done.returncode}", done.returncode)
    return done.stdout


def _text(value: Any) -> str:
    """Returns a setting as the text of a flag; lists are a line of CSV."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow([_text(item) for item in value])
        return line.getvalue()
    return str(value)


def _write_costs(costs: Mapping[str, float], path: str) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["feature", "cost"])
        writer.writerows(costs.items())


def _write_rows(rows: Any, path: str) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("train writes Parquet by pyarrow: install the extra train of espalier_beam") from error
    frame = hasattr(rows, "columns") and hasattr(rows, "index")
    table = pyarrow.Table.from_pandas(rows, preserve_index=False) if frame else pyarrow.table(rows)
    pyarrow.parquet.write_table(table, path)
