"""Rows are scored in Beam YAML, by Beam's own runner of YAML."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest
from espalier import Prediction, Tree

pytest.importorskip("jinja2")  # which Beam YAML needs
from apache_beam.yaml.main import run  # noqa: E402

IRIS = str(pathlib.Path(__file__).parent / "golden" / "iris.tree.json")
ROWS: list[dict[str, Any]] = [
    {"id": 1, "sepallength": 5.1, "sepalwidth": 3.5, "petallength": 1.4, "petalwidth": 0.2},
    {"id": 2, "sepallength": 6.1, "sepalwidth": 2.8, "petallength": 4.7, "petalwidth": 1.2},
    {"id": 3, "sepallength": 7.1, "sepalwidth": None, "petallength": 5.9, "petalwidth": 2.1},
]

PIPELINE = """
pipeline:
  transforms:
    - type: Create
      name: Rows
      config:
        elements: {rows}
    - type: ScoreByTree
      name: Score
      input: Rows
      config: {config}
{sinks}
providers:
  - type: python
    config: {{}}
    transforms:
      ScoreByTree: espalier.beam_yaml.Score
"""

SINK = """
    - type: MapToFields
      name: {name}Lines
      input: {input}
      config:
        language: python
        fields:
          line:
            callable: |
              import json
              def line(row):
                return json.dumps(row.as_dict(), default=lambda inner: inner.as_dict())
    - type: WriteToText
      input: {name}Lines
      config:
        path: {out}/{name}
"""


def lines(out: pathlib.Path, name: str) -> list[dict[str, object]]:
    return [json.loads(line) for file in out.glob(f"{name}-*") for line in file.read_text().splitlines()]


def pipeline(rows: list[dict[str, Any]], config: dict[str, Any], out: pathlib.Path) -> None:
    outputs = ["Score.good", "Score.bad"] if "error_handling" in config else ["Score"]
    sinks = "".join(SINK.format(input=output, name=output.replace(".", "_"), out=out) for output in outputs)
    run(["--yaml_pipeline", PIPELINE.format(rows=json.dumps(rows), config=json.dumps(config), sinks=sinks)])


def test_scores(tmp_path: pathlib.Path) -> None:
    pipeline(ROWS, {"model": IRIS}, tmp_path)
    want: list[Prediction] = Tree.load(IRIS).predictions(ROWS).rows()
    got = sorted(lines(tmp_path, "Score"), key=lambda row: str(row["id"]))
    assert got == [{**row, **prediction._asdict()} for row, prediction in zip(ROWS, want, strict=True)]


def test_refused(tmp_path: pathlib.Path) -> None:
    """A row without a column that the tree tests goes to the output of errors, or ends the pipeline."""
    rows = [{"petal": 1.5}, {"petal": 2.5}]
    config = {"model": IRIS, "error_handling": {"output": "bad"}}
    pipeline(rows, config, tmp_path)
    assert lines(tmp_path, "Score_good") == []
    refused = lines(tmp_path, "Score_bad")
    assert sorted(str(row["element"]) for row in refused) == ["[1.5]", "[2.5]"]
    assert all("which the tree tests" in str(row["msg"]) for row in refused)
    with pytest.raises(Exception, match="which the tree tests"):
        pipeline(rows, {"model": IRIS}, tmp_path)


def test_taken(tmp_path: pathlib.Path) -> None:
    with pytest.raises(Exception, match="rows have the fields cost, which Score adds"):
        pipeline([{**row, "cost": 1.0} for row in ROWS], {"model": IRIS}, tmp_path)
