"""Trees of all versions on golden rows, whose predictions the command has written (make_golden.py)."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest
from espalier import Prediction, Tree

GOLDEN = pathlib.Path(__file__).parent / "golden"
NAMES = sorted(path.name.split(".")[0] for path in GOLDEN.glob("*.tree.json"))


def value(spelled: Any) -> Any:
    """Reads a value of golden rows: numbers that JSON lacks are {"number": "+Inf"}."""
    return float(spelled["number"]) if isinstance(spelled, dict) else spelled


def golden(name: str, folder: pathlib.Path = GOLDEN) -> tuple[Tree, list[dict[str, Any]], list[Prediction]]:
    """Returns a tree, rows and their predictions."""
    tree = Tree.load(str(folder / f"{name}.tree.json"))
    document = json.loads((folder / f"{name}.rows.json").read_text())
    rows = [dict(zip(document["features"], map(value, row["values"]))) for row in document["rows"]]
    for moment in [feature.name for feature in tree.document.features if feature.unit]:
        for row in rows:  # counts, which are numbers of numpy
            row[moment] = None if row[moment] is None else np.float64(row[moment])
    want = [
        Prediction(
            row["class"],
            dict(zip(document["classes"], row["probabilities"])),
            row["leaf"],
            row["tests"],
            row["cost"],
        )
        for row in document["rows"]
    ]
    return tree, rows, want


def test_trees() -> None:
    assert len(NAMES) == 9
    versions = {json.loads((GOLDEN / f"{name}.tree.json").read_text())["version"] for name in NAMES}
    assert versions == {1, 2, 3, 4}


@pytest.mark.parametrize("name", NAMES)
def test_golden(name: str) -> None:
    tree, rows, want = golden(name)
    assert len(rows) > 20
    columns = {feature: [row[feature] for row in rows] for feature in tree.feature_names_in_}
    array = np.array([list(row.values()) for row in rows], dtype=object)
    assert list(tree.feature_names_in_) == list(rows[0])
    for form in rows, columns, array:
        for got, expected, row in zip(tree.predictions(form).rows(), want, rows):
            assert got._replace(probabilities={}) == expected._replace(probabilities={}), row
            tolerance = 1e-12 if tree.document.models else 0
            assert got.probabilities == pytest.approx(expected.probabilities, rel=0, abs=tolerance), row


@pytest.mark.parametrize("name", NAMES)
def test_methods(name: str) -> None:
    """Each method returns its part of predictions."""
    tree, rows, _ = golden(name)
    all_of = tree.predictions(rows)
    np.testing.assert_array_equal(tree.predict(rows), all_of.prediction)
    np.testing.assert_array_equal(tree.predict_proba(rows), all_of.probabilities)
    np.testing.assert_array_equal(tree.apply(rows), all_of.leaf)
    np.testing.assert_array_equal(tree.tests(rows), all_of.tests)
    np.testing.assert_array_equal(tree.cost(rows), all_of.cost)
    assert len(all_of) == len(rows) == len(all_of.rows())
    assert tree.predictions([]).probabilities.shape == (0, len(tree.classes_))


@pytest.mark.parametrize("name", NAMES)
def test_inquiry(name: str) -> None:
    """Lazy questions give the same predictions; values that are given cost nothing."""
    tree, rows, want = golden(name)
    for row, expected in zip(rows, want):
        inquiry = tree.ask()
        asked = []
        while (question := inquiry.next()) is not None:
            asked.append(question.feature)
            assert question.cost > 0
            inquiry.answer(row[question.feature])
        assert inquiry.path[-1] == expected.leaf and len(inquiry.path) == expected.tests + 1
        assert len(set(asked)) == len(asked) <= expected.tests
        result = inquiry.result()
        assert result == tree.predictions([row]).rows()[0]
        given = tree.ask()
        for feature, x in row.items():
            given.give(feature, x)
        assert given.next() is None
        assert given.result() == result._replace(cost=0.0)
