"""Values of JSON rows are read as by the scorers in Go: the cases are common."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest
from espalier import Tree

FOLDER = pathlib.Path(__file__).parents[2] / "induce" / "rowtype" / "rowtypetest"
CASES = json.loads((FOLDER / "cases.json").read_text())["cases"]


@pytest.mark.filterwarnings("ignore:.*more than a tenth")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['column']}={case['value']!r}")
def test_values(case: dict[str, Any]) -> None:
    if case["value"] == float("inf"):
        pytest.skip("the decoder of JSON in Python reads 1e999 as infinity")
    tree = Tree.load(str(FOLDER / "tree.json"))
    row = {case["column"]: case["value"]}
    inquiry = tree.ask()
    if "class" in case:
        assert tree.predict([row]).tolist() == [case["class"]]
        inquiry.give(case["column"], case["value"])
        while inquiry.next() is not None:
            inquiry.answer(None)
        assert inquiry.result().prediction == case["class"]
        return
    with pytest.raises((TypeError, ValueError)):
        tree.predict([row])
    with pytest.raises((TypeError, ValueError)):
        inquiry.give(case["column"], case["value"])
