"""The Python of docs/python.md runs from top to bottom, in a folder with bench/data."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import pytest
from espalier import Prediction, Tree, command

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_page(
    espalier: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ESPALIER", espalier)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bench").symlink_to(ROOT / "bench")
    blocks = re.findall(r"\n```python\n(.*?)\n```\n", (ROOT / "docs" / "python.md").read_text(), re.DOTALL)
    assert len(blocks) == 9
    names: dict[str, Any] = {}
    for block in blocks:
        if "onnx_inference" in block:
            command("export", "runs/credit", format="onnx", output="credit.onnx")
        exec(compile(block, "docs/python.md", "exec"), names)
    printed = capfd.readouterr().out
    assert "Cost per row" in printed and "probability_good" in printed and "FrontierTree(" in printed
    assert any(line in ("good", "bad") for line in printed.splitlines())
    assert isinstance(names["inquiry"].result(), Prediction)
    onnx_agrees(names)


def onnx_agrees(names: dict[str, Any]) -> None:
    """Checks the handler of the page against the tree on all rows."""
    handler, rows = names["onnx"], names["loans"].to_dict("records")
    results = handler.run_inference(rows, handler.load_model())
    want = Tree.from_run("runs/credit").predictions(rows).rows()
    for result, expected in zip(results, want, strict=True):
        label, probabilities, leaf, tests, cost = result.inference
        assert (label, leaf, tests, cost) == (expected.prediction, expected.leaf, expected.tests, expected.cost)
        assert probabilities.tolist() == pytest.approx(list(expected.probabilities.values()), abs=1e-12)
