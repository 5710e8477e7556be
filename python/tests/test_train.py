"""train, with the command, and the notebook of examples."""

from __future__ import annotations

import gc
import importlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import nbclient
import nbformat
import pytest
from espalier import EspalierError, Run, Tree, train
from espalier.program import find
from test_predict import QUICK

EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"


def test_train(data: Callable[[str], Any], espalier: str, tmp_path: pathlib.Path) -> None:
    frame = data("credit-g").to_pandas().set_index("age", drop=False)  # the index is not a column
    settings = {"tests": ["threshold", "both"], "max_leaves": 8, "drop_null_labels": True, "max_depth": None}
    output = str(tmp_path / "run")
    costs = {"duration": 2.5, "credit_amount": 0}
    run = train(frame, label="class", costs=costs, budget=2, output=output, espalier=espalier, **settings)
    assert run.folder == output and run.tree.n_features_in_ > 0
    assert run.metrics["test"]["rows"] == 199  # as the summary says
    assert "199 to test it" in repr(run) and "checking_status" in run.tree.feature_names_in_
    assert run.tree.cost(frame).mean() <= 2.2  # 2 on training rows
    costs_of = [point["expected_cost"] for point in run.frontier]
    assert costs_of == sorted(costs_of) and len(costs_of) > 2
    assert len(run.frontier_tree(0).predict(frame)) == 1000
    assert os.path.getsize(run.report) > 10_000
    page = run._repr_html_()
    assert page.startswith("<iframe srcdoc=") and "<script" not in page  # it is escaped
    assert Run(output).tree.digest == run.tree.digest
    with pytest.raises(EspalierError, match="finished run: choose another folder, or replace it with overwrite"):
        train(frame, "class", output=output, espalier=espalier)
    train(frame, "class", output=output, espalier=espalier, overwrite=True, **QUICK)
    assert Run(output).frontier == []


def test_ordered(espalier: str) -> None:
    sizes = ["low", "medium", "high"]
    frame = {"size": sizes * 40, "class": ["a", "a", "b"] * 40}
    tree = train(frame, "class", espalier=espalier, ordered={"size": sizes}, **QUICK).tree
    assert list(tree.predict({"size": [*sizes, "huge", None]})) == ["a", "a", "b", "a", "a"]


def test_temporary(data: Callable[[str], Any], espalier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """ESPALIER names the program, and a run without an output goes with its folder."""
    monkeypatch.setenv("ESPALIER", espalier)
    run = train(data("iris"), "class", **QUICK)
    folder = run.folder
    assert os.path.isdir(folder) and not os.path.exists(run.report)  # report none
    del run
    gc.collect()
    assert not os.path.exists(os.path.dirname(folder))


def test_errors(data: Callable[[str], Any], espalier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = data("iris")
    with pytest.raises(
        EspalierError, match='^label: no input file has a column "klass"; did you mean'
    ) as caught:
        train(table, "klass", espalier=espalier)
    assert caught.value.exit_code == 2
    with pytest.raises(EspalierError, match="max_deep"):
        train(table, "class", espalier=espalier, max_deep=3)
    monkeypatch.delenv("ESPALIER", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("espalier.program._installed", lambda: iter(()))
    with pytest.raises(FileNotFoundError, match="the program espalier is not there"):
        find()
    with pytest.raises(FileNotFoundError, match="/no/such/program"):
        train(table, "class", espalier="/no/such/program")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(path: pathlib.Path, espalier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESPALIER", espalier)
    notebook = nbformat.read(path, as_version=4)
    assert all(cell.get("outputs", []) == [] for cell in notebook.cells), "commit notebooks without outputs"
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    drawn = [output["data"]["text/html"] for output in shown if "<svg" in output.get("data", {}).get("text/html", "")]
    assert len(drawn) == 3 and ">bad<" in drawn[0] and ">good<" in drawn[0]
    assert any("probability_good" in output.get("data", {}).get("text/plain", "") for output in shown)


def test_paths(data: Callable[[str], Any], espalier: str, tmp_path: pathlib.Path) -> None:
    """Paths may be pathlib's; a LATEST.json that leads elsewhere is refused, as are damaged ones."""
    run = train(data("iris"), "class", output=tmp_path / "run", **QUICK)
    assert run.tree.digest == Tree.from_run(tmp_path / "run").digest == Run(tmp_path / "run").tree.digest
    with pytest.raises(ValueError, match="want a folder of this machine"):
        train(data("iris"), "class", output="file:///runs/iris")
    (tmp_path / "trees").mkdir()
    latest = tmp_path / "trees" / "LATEST.json"
    head = {"format": "espalier/latest", "version": 1, "tree_sha256": run.tree.digest}
    for document in ({**head, "run": "../run"}, head, [1], None, {**head, "run": "/run"}, {**head, "run": 3}):
        latest.write_text(json.dumps(document))
        with pytest.raises(ValueError, match="LATEST.json"):
            Tree.from_run(latest)
    (tmp_path / "LATEST.json").write_text(json.dumps({**head, "run": "run"}))
    assert Tree.from_run(tmp_path / "LATEST.json").digest == run.tree.digest
    for counted in ("[]", '{"leaves": {}}', '{"leaves": 3}'):
        (tmp_path / "run" / "distribution.json").write_text(counted)
        with pytest.raises(ValueError, match="distribution.json"):
            Tree.from_run(tmp_path / "run")


def test_former_name(data: Callable[[str], Any], espalier: str) -> None:
    with pytest.warns(DeprecationWarning, match="espalier_beam is now called espalier"):
        former = importlib.import_module("espalier_beam")
    assert former.Tree is Tree and former.train is train


def test_interrupt(espalier: str, tmp_path: pathlib.Path) -> None:
    """An interrupt of Python ends the program, and no file stays."""
    if os.name == "nt":
        pytest.skip("Windows has no SIGINT for another process")
    script = """
import numpy as np, sys
from espalier import EspalierClassifier
x = np.random.default_rng(0).normal(size=(40_000, 20))
print("begins", flush=True)
EspalierClassifier(preset="accurate").fit(x, x[:, 0] * x[:, 1] + x[:, 2] > 0)
"""
    environment = {**os.environ, "TMPDIR": str(tmp_path), "ESPALIER": espalier}
    with subprocess.Popen(
        [sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as fit:
        assert fit.stdout is not None and fit.stdout.readline() == b"begins\n"
        wait_for(lambda: any(tmp_path.glob("espalier*/run/_LOCK")))
        fit.send_signal(signal.SIGINT)
        _, message = fit.communicate(timeout=20)
    assert b"KeyboardInterrupt" in message
    assert list(tmp_path.glob("espalier*")) == []


def wait_for(condition: Callable[[], bool]) -> None:
    """Waits up to a minute."""
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    pytest.fail("the condition is not met after a minute")
