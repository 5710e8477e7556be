"""Runs: folders that the program writes, trained of frames."""

from __future__ import annotations

import contextlib
import html
import io
import json
import os
import re
import shutil
import tempfile
import weakref
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

from . import frames
from .program import command, without_dashes
from .settings import flags
from .tree import Tree


# Settings that name columns whose types do not matter.
_NAMING = "label", "weight", "count", "group", "split_column", "split_time", "ignore", "categorical", "ordered", "numeric", "cuts"


class Text(str):
    """A text that a notebook and a console show as it is."""

    def __repr__(self) -> str:
        return str(self)


class Picture:
    """A drawing, which a notebook shows."""

    def __init__(self, svg: str) -> None:
        self.svg = svg
        """The drawing as SVG."""

    def save(self, path: str) -> None:
        """Writes the drawing to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_html_(self) -> str:
        return f'<div style="overflow: auto; max-height: 40em">{self.svg}</div>'


class Run:
    """A finished run: a folder that `espalier train` has written. A notebook shows its report."""

    folder: str

    def __init__(self, folder: str | os.PathLike[str], summary: str = "", *, espalier: str | None = None) -> None:
        """Takes a run folder on this machine; espalier is the program. Raises what Tree.from_run raises."""
        self.folder = os.fspath(folder)
        self.summary = Text(summary)
        """What the program printed: the tree, its figures and trees for other budgets."""
        self.espalier = espalier
        """The program; None for the one that is found."""
        self._read_tree: tuple[os.stat_result, Tree] | None = None
        _ = self.tree

    @property
    def tree(self) -> Tree:
        """The tree of the folder as it is now."""
        now = os.stat(self._path("tree.json"))
        if self._read_tree is None or _changed(self._read_tree[0], now):
            self._read_tree = now, Tree.from_run(self.folder)
        return self._read_tree[1]

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

    def show(self, **settings: Any) -> Text:
        """Returns what `espalier show` prints: the tree, or show(figures=True) all figures."""
        return Text(self._call("show", **settings))

    def plot(self, picture: str | None = None, *, depth: int | None = None) -> Picture:
        """Draws the tree up to a depth, or a picture of the run: frontier, roc, calibration or importance."""
        form = "svg" if picture is None else None
        return Picture(self._call("show", picture=picture, format=form, depth=depth))

    def select(self, number: int | None = None, *, output: str | os.PathLike[str] | None = None, **demands: Any) -> Run:
        """Returns a run with another tree of the frontier, without training.

        The tree is the one of the number, as frontier counts from 0, or the best within demands, such as
        max_cost=20 or min_sensitivity={"ill": 0.95}, which are settings of `espalier frontier`. output is
        the folder of the new run; without it, the folder is temporary. Raises EspalierError if no tree
        keeps the demands, and IndexError without such a number.
        """
        if number is None and not any(value is not None for value in demands.values()):
            raise ValueError("want the number of a tree, or a demand such as max_cost=20")
        if number is not None and not 0 <= number < len(self.frontier):
            raise IndexError(f"tree {number}: want a number from 0 to {len(self.frontier) - 1}")
        return _new_run(
            "frontier", {**demands, "promote": number, "without_rows": True}, output, self.espalier, self.folder
        )

    def evaluate(self, rows: Any, **settings: Any) -> dict[str, Any]:
        """Returns the metrics of the tree on rows with labels, as `espalier evaluate --json` does."""
        return dict(json.loads(self._call("evaluate", rows, json=True, **settings)))

    def drift(self, rows: Any, **settings: Any) -> dict[str, Any]:
        """Returns how far rows have moved from the training rows, as `espalier drift --json` does."""
        return dict(json.loads(self._call("drift", rows, json=True, **settings)))

    def export(self, format: str, *, output: str | os.PathLike[str] | None = None, **settings: Any) -> Text | bytes:
        """Returns the tree as source code, such as "python" or "c"; bytes for "onnx". With output, it is written there."""
        if output is not None:
            return Text(self._call("export", format=format, output=output, **settings))
        with frames.folder() as work:
            path = os.path.join(work, "model")
            self._call("export", format=format, output=path, **settings)
            with open(path, "rb") as file:
                written = file.read()
        return written if format == "onnx" else Text(written.decode())

    def _call(self, verb: str, rows: Any = None, **settings: Any) -> str:
        """Calls a verb, with the rows as its input. Raises EspalierError if it fails."""
        with frames.folder() as work:
            if rows is not None:
                settings["input"] = os.path.join(work, "rows.parquet")
                frames.write(rows, settings["input"])
            return command(verb, self.folder, espalier=self.espalier, **flags(settings, work))

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def _read(self, name: str) -> Any:
        with open(self._path(name), encoding="utf-8") as file:
            return json.load(file)

    def _repr_html_(self) -> str:
        """Returns the report in a frame, for notebooks; without a report, the drawn tree."""
        if not os.path.exists(self.report):
            return self.plot()._repr_html_()
        with open(self.report, encoding="utf-8") as file:
            page = html.escape(file.read())
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 1px solid gray"></iframe>'

    def __repr__(self) -> str:
        return self.summary or f"Run({self.folder!r})"


def _changed(before: os.stat_result, now: os.stat_result) -> bool:
    return (before.st_mtime_ns, before.st_size, before.st_ino) != (now.st_mtime_ns, now.st_size, now.st_ino)


def train(
    rows: Any,
    label: str,
    *,
    costs: Mapping[str, Any] | str | None = None,
    budget: float | None = None,
    output: str | os.PathLike[str] | None = None,
    espalier: str | None = None,
    **settings: Any,
) -> Run:
    """Trains a tree by `espalier train` and returns the run.

    rows is a frame of pandas, without its index, or of polars, an Arrow table or a mapping from names to
    columns. label names the column of the classes. costs is the price of a test on each feature (1 if it
    is absent), or the path of a CSV file of costs. budget is the greatest expected cost per row. output
    is the run folder; without it, the folder is temporary and goes with the run. espalier is the program:
    see find. settings are further settings by the names of flags, with Python values: see
    espalier.settings.flags; None leaves out a setting. Ordered categories of a frame are read in their
    order, and categories that are numbers as categories.

    Raises EspalierError with the message of the program if it fails, and FileNotFoundError if there is
    none. Warnings of the program are warnings.
    """
    return train_table(
        frames.table(rows),
        {"label": str(label), "max_expected_cost": budget, "costs": costs, **settings},
        output,
        espalier,
    )


def train_table(
    table: Any, settings: Mapping[str, Any], output: str | os.PathLike[str] | None = None, espalier: str | None = None, **options: Any
) -> Run:
    """Trains a tree of an Arrow table, as train does; options are options of espalier.command."""
    settings = {"progress": "none", **settings}
    for name, value in frames.encoded_columns(table, _named(settings)).items():
        if value and not isinstance(value, dict):
            given = settings.get(name)
            settings[name] = value + ([] if given is None else [given] if isinstance(given, str) else list(given))
        elif value:
            settings[name] = {**value, **(settings.get(name) or {})}
    with frames.folder() as work:
        path = os.path.join(work, "rows.parquet")
        frames.write(table, path)
        return _new_run("train", {**flags(settings, work), "input": path}, output, espalier, **options)


def _named(settings: Mapping[str, Any]) -> set[str]:
    """Returns the columns that settings name: they are no features, or are read as the setting says."""
    named: set[str] = set()
    for name in _NAMING:
        value = settings.get(name)
        if value is not None:
            named.update([value] if isinstance(value, str) else map(str, value))
    return named


def _new_run(
    verb: str, settings: Mapping[str, Any], output: str | os.PathLike[str] | None, espalier: str | None, *arguments: str, **options: Any
) -> Run:
    """Calls a verb that writes a run. Without an output, its folder is temporary and goes with the run."""
    with contextlib.ExitStack() as removal:
        work = tempfile.mkdtemp(prefix="espalier")
        removal.callback(shutil.rmtree, work, ignore_errors=True)
        if output is not None and "://" in os.fspath(output):
            raise ValueError(f"output={output!r}: want a folder of this machine; command takes URLs")
        folder = os.fspath(output or os.path.join(work, "run"))
        given = {**flags(settings, work), "output": folder}
        summary = command(verb, *arguments, espalier=espalier, **options, **given)
        run = Run(folder, summary if output else _of_python(summary, folder), espalier=espalier)
        if output is None:
            weakref.finalize(run, removal.pop_all().close)
    return run


def _of_python(summary: str, folder: str) -> str:
    """Returns a summary whose commands about a temporary folder are methods of Run and of the estimator."""
    calls = {"show": "show", "frontier": "select", "export": "export"}

    def call(match: re.Match[str]) -> str:
        arguments = re.findall(r"--(\w+)(?: (?!--)(\S+))?", match[2])
        values = [value if name == "promote" else f"{name}={value or True}" for name, value in arguments if name != "output"]
        return f"{calls.get(match[1], match[1])}({', '.join(values)})"

    summary = re.sub(rf"\n(?:wrote|Report:) {re.escape(folder)}.*(?=\n)", "", summary)
    return without_dashes(re.sub(rf"espalier (\w+) {re.escape(folder)}\S*((?: --\w+(?: (?!--)\S+)?)*)", call, summary))


class Archive:
    """A run in memory, which can be pickled. Its folder exists for the time of a call."""

    def __init__(self, run: Run) -> None:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for folder, _, names in os.walk(run.folder):
                for name in sorted(names):
                    path = os.path.join(folder, name)
                    archive.write(path, os.path.relpath(path, run.folder))
        self._packed = packed.getvalue()
        self._espalier = run.espalier
        self.summary = run.summary

    def write(self, folder: str) -> None:
        """Writes the files of the run into a folder."""
        with zipfile.ZipFile(io.BytesIO(self._packed)) as archive:
            archive.extractall(folder)

    @contextlib.contextmanager
    def run(self) -> Iterator[Run]:
        """Returns the run in a temporary folder."""
        with frames.folder() as work:
            self.write(work)
            yield Run(work, self.summary, espalier=self._espalier)
