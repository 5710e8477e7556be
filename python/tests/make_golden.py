"""Writes the golden trees and rows of tests/golden: python tests/make_golden.py [PROGRAM]

A tree is trained by the command, or comes from the tests of the Go package tree. The command chooses
the rows (each cut and its neighbours, infinities, both zeros, missing, unseen and empty values) and
predicts them.
"""

from __future__ import annotations

import json
import pathlib
import shutil
import sys
import tempfile
from typing import Any

import pyarrow.parquet as pq
from espalier import train
from espalier.program import command, find
from test_predict import QUICK, purchases, shops, visits

GOLDEN = pathlib.Path(__file__).parent / "golden"
DATA = pathlib.Path(__file__).parents[2] / "bench" / "data"
COSTS = "feature,cost,group,group_cost\nduration,1,lab,3\ncredit_amount,2,lab,3\n"
TREES: dict[str, tuple[str, dict[str, Any]]] = {
    "iris": ("iris", {"theta": 0.02, "leaf_model": "linear"}),
    "iris_small": ("iris", {"theta": 0.1, "max_leaves": 3}),
    "multiway": ("credit-g", {"theta": 0.02, "tests": "multiway", "max_leaves": 30}),
    "boosted": ("credit-g", {"tests": "both", "max_leaves": 8, "leaf_model": "boosted"}),
    "moments": ("visits", {"tests": "both", "theta": 0.01, "max_leaves": 25}),
    "sets": ("shops", {"tests": "set", "max_leaves": 12}),
    "boosted_sets": ("purchases", {"tests": "set", "max_leaves": 4, "leaf_model": "boosted"}),
}
WITH_THRESHOLD = ("decided", "decided_models")  # trees of package tree: some rows are at the threshold
TREE = pathlib.Path(__file__).parents[2] / "induce" / "tree" / "testdata" / "golden"
MADE = {"visits": visits, "shops": shops, "purchases": purchases}


def main(program: str) -> None:
    with tempfile.TemporaryDirectory() as work:
        costs = pathlib.Path(work, "costs.csv")
        costs.write_text(COSTS)
        for name, (data, settings) in TREES.items():
            table = MADE[data](3000) if data in MADE else pq.read_table(DATA / data)
            prices = str(costs) if name == "multiway" else None
            run = train(table, "class", costs=prices, espalier=program, **(QUICK | settings))
            write(name, f"{run.folder}/tree.json", program, work)
        for name in WITH_THRESHOLD:
            write(name, str(TREE / f"{name}.json"), program, work)


def write(name: str, tree: str, program: str, work: str) -> None:
    """Writes a tree and its rows."""
    shutil.copy(tree, GOLDEN / f"{name}.tree.json")
    flags: dict[str, Any] = {"format": "json", "output": f"{work}/{name}.json", "golden": f"{work}/{name}.rows.json"}
    command("export", tree, espalier=program, **flags)
    rows = json.loads(pathlib.Path(flags["golden"]).read_text())
    (GOLDEN / f"{name}.rows.json").write_text(json.dumps(rows, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(find(*sys.argv[1:2]))
