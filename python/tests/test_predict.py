"""Predictions equal `espalier predict`, on all rows of public data sets and on points in time."""

from __future__ import annotations

import datetime
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from espalier import Predictions, Tree, train
from espalier.program import command

QUICK: dict[str, Any] = {
    "algorithm": "ec45",
    "lambda": 10,
    "theta": 0.005,
    "folds": 0,
    "certificate": "none",
    "report": "none",
    "select": "first",
}
CASES: list[tuple[str, dict[str, Any]]] = [
    ("credit-g", {"tests": "multiway", "repeat_cost": "free"}),
    ("credit-g", {"tests": "both", "leaf_model": "boosted"}),
    ("mushroom", {"tests": "onehot"}),
    ("mushroom", {"tests": "set"}),
    ("bank-marketing", {"tests": "all", "leaf_model": "boosted"}),
    ("electricity", {"tests": "both", "categorical": ["day"], "leaf_model": "boosted"}),
    ("iris", {"tests": "threshold", "leaf_model": "linear", "theta": 0.05}),
    ("spambase", {"tests": "both", "leaf_estimate": "majority"}),
    ("phoneme", {"tests": "threshold", "leaf_model": "linear"}),
    ("tic-tac-toe", {"tests": "multiway"}),
    ("speed-dating", {"tests": "both", "categorical": ["samerace"]}),
    ("firewall", {"tests": "both", "leaf_model": "boosted", "max_leaves": 20}),
]
MODELS = 1e-12  # the greatest difference of probabilities at leaves with models


def groups(names: list[str], path: pathlib.Path) -> str:
    """Writes costs in groups and returns the path."""
    lines = ["feature,cost,group,group_cost"]
    for i, name in enumerate(names):
        group = "lab,7" if i % 4 == 0 else ","
        lines.append(f'"{name}",{1 + i % 5},{group}')
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def changed(table: Any, label: str) -> Any:
    """Returns the rows with missing and unseen values in every third column."""
    random = np.random.default_rng(1)
    for i, name in enumerate(table.column_names):
        if name == label or i % 3:
            continue
        values = table[name].to_pylist()
        for row in random.choice(len(values), min(len(values) // 4, 5000), replace=False):
            x = values[row]
            values[row] = None if row % 2 or x is None else x + "?" if isinstance(x, str) else x * 3 + 1
        table = table.set_column(i, name, pa.array(values, table.schema.field(name).type))
    return table


def predicted(espalier: str, run: str, table: Any, folder: pathlib.Path) -> Any:
    """Returns what espalier predict writes for rows."""
    pq.write_table(table, folder / "new.parquet")
    flags: dict[str, Any] = {"model": run, "input": str(folder / "new.parquet"), "output": str(folder / "scored")}
    flags["progress"] = "none"
    command("predict", espalier=espalier, **flags)
    return pq.read_table(folder / "scored" / "new.parquet").to_pandas()


def check(got: Predictions, want: pd.DataFrame, tolerance: float) -> None:
    """Compares predictions with the columns that espalier predict has written."""
    columns = got.columns()
    assert set(columns) <= set(want.columns)
    for name, column in columns.items():
        if name.startswith("probability_"):
            np.testing.assert_allclose(column, want[name], rtol=0, atol=tolerance, err_msg=name)
        else:
            np.testing.assert_array_equal(column, want[name], err_msg=name)


@pytest.mark.parametrize(("name", "settings"), CASES, ids=lambda case: case if isinstance(case, str) else "")
def test_public_data(
    name: str,
    settings: dict[str, Any],
    data: Callable[[str], Any],
    espalier: str,
    tmp_path: pathlib.Path,
) -> None:
    table = data(name)
    costs = groups([c for c in table.column_names if c != "class"], tmp_path / "costs.csv")
    output = str(tmp_path / "run")
    run = train(table, "class", costs=costs, output=output, espalier=espalier, **(QUICK | settings))
    new = changed(table, "class")
    want = predicted(espalier, run.folder, new, tmp_path)
    tolerance = MODELS if run.tree.document.models else 0
    frame = new.to_pandas()
    check(run.tree.predictions(frame), want, tolerance)
    few = 2000
    rows = new.slice(0, few).to_pylist()
    check(run.tree.predictions(rows), want[:few], tolerance)
    names = run.tree.feature_names_in_
    check(run.tree.predictions({c: frame[c].to_numpy() for c in names}), want, tolerance)
    check(run.tree.predictions(frame[names].to_numpy()), want, tolerance)
    inquire(run.tree, rows[:300], want)


def inquire(tree: Tree, rows: list[dict[str, Any]], want: pd.DataFrame) -> None:
    """Checks that lazy questions lead to the predictions, and ask for nothing more than the tests."""
    for row, name, leaf, tests, cost in zip(rows, want["prediction"], want["leaf"], want["tests"], want["cost"]):
        inquiry = tree.ask()
        asked = 0
        while (question := inquiry.next()) is not None:
            inquiry.answer(row[question.feature])
            asked += 1
        result = inquiry.result()
        assert (result.prediction, result.leaf, result.tests, result.cost) == (name, leaf, tests, cost)
        assert result.probabilities == tree.predictions([row]).rows()[0].probabilities
        assert asked <= tests  # a repeated test has its value already


def visits(rows: int) -> Any:
    """Rows whose class depends on points in time, booleans and numbers as categories."""
    random = np.random.default_rng(2)
    instants = random.integers(-(2**50), 2**50, rows)
    days, clocks = random.integers(-9000, 9000, rows), random.integers(0, 24 * 60, rows) * 60_000_000
    urgent, ward = random.random(rows) < 0.4, random.integers(0, 5, rows)
    ill = (instants > 0) ^ (days > 100) ^ (clocks > 43_200_000_000) ^ urgent ^ (ward == 3)
    some = random.random(rows) < 0.1
    return pa.table(
        {
            "admitted": pa.array(instants, mask=some).cast(pa.timestamp("us", tz="UTC")),
            "local": pa.array(instants // 7000, mask=some).cast(pa.timestamp("ms")),
            "born": pa.array(days.astype(np.int32)).cast(pa.date32()),
            "clock": pa.array(clocks).cast(pa.time64("us")),
            "urgent": pa.array(urgent),
            "ward": pa.array(ward, mask=some),
            "class": np.where(ill, "ill", "well"),
        }
    )


def shops(rows: int) -> Any:
    """Rows whose class depends on one of 200 shops, of which some are rare and some are missing."""
    random = np.random.default_rng(3)
    shop = (200 * random.random(rows) ** 2).astype(int)
    unknown = random.random(rows) < 0.1
    sold = unknown | (random.normal(size=200)[shop] + random.normal(size=rows) > 0)
    names = np.array([f"shop {k}" for k in range(200)])[shop]
    return pa.table({"shop": pa.array(names, mask=unknown), "class": np.where(sold, "yes", "no")})


def purchases(rows: int) -> Any:
    """Rows whose class depends on one of 40 shops and on one of 60 items, some of which are missing."""
    random = np.random.default_rng(4)
    shop, item = (40 * random.random(rows)).astype(int), (60 * random.random(rows) ** 2).astype(int)
    bought = random.normal(size=40)[shop] + random.normal(size=60)[item] + random.normal(size=rows) > 0
    shops = np.array([f"shop {k}" for k in range(40)])[shop]
    items = np.array([f"item {k}" for k in range(60)])[item]
    missing = random.random(rows) < 0.1
    return pa.table({"shop": shops, "item": pa.array(items, mask=missing), "class": np.where(bought, "yes", "no")})


def test_sets(espalier: str, tmp_path: pathlib.Path) -> None:
    table = shops(4000)
    run = train(table, "class", output=str(tmp_path / "run"), espalier=espalier, **(QUICK | {"tests": "set"}))
    rows = changed(table, "class")
    check(run.tree.predictions(rows.to_pandas()), predicted(espalier, run.folder, rows, tmp_path), 0)


def test_moments(espalier: str, tmp_path: pathlib.Path) -> None:
    table = visits(4000)
    settings = QUICK | {"tests": "both", "categorical": ["ward"], "theta": 0.0005}
    run = train(table, "class", output=str(tmp_path / "run"), espalier=espalier, **settings)
    assert run.tree.n_features_in_ >= 5
    want = predicted(espalier, run.folder, table, tmp_path)
    check(run.tree.predictions(table.to_pandas()), want, 0)
    check(run.tree.predictions(table.to_pylist()), want, 0)
    texts = [
        {k: v.isoformat() if isinstance(v, (datetime.date, datetime.time)) else v for k, v in row.items()}
        for row in table.to_pylist()
    ]
    check(run.tree.predictions(texts), want, 0)


def test_priors_and_error_costs(data: Callable[[str], Any], espalier: str, tmp_path: pathlib.Path) -> None:
    table = data("credit-g")
    (tmp_path / "priors.csv").write_text("class,prior\nbad,0.6\ngood,0.4\n")
    (tmp_path / "errors.csv").write_text("actual,predicted,cost\nbad,good,5\ngood,bad,1\n")
    settings = QUICK | {"tests": "both", "leaf_model": "boosted", "priors": str(tmp_path / "priors.csv")}
    settings |= {"error_costs": str(tmp_path / "errors.csv")}
    run = train(table, "class", output=str(tmp_path / "run"), espalier=espalier, **settings)
    want = predicted(espalier, run.folder, table, tmp_path)
    assert run.tree.document.models and run.tree.document.factors is not None
    check(run.tree.predictions(table.to_pandas()), want, MODELS)
