"""RunInference by TreeModelHandler on Beam's DirectRunner: in batch, and in a stream whose model is replaced."""

from __future__ import annotations

import decimal
import pathlib
import pickle
from typing import Any, NamedTuple

import apache_beam as beam
import pytest
from apache_beam.metrics import MetricsFilter
from apache_beam.ml.inference.base import KeyedModelHandler, ModelMetadata, PredictionResult, RunInference
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.test_stream import TestStream
from apache_beam.testing.util import assert_that, equal_to, is_empty
from apache_beam.transforms.window import FixedWindows, TimestampedValue
from espalier import Prediction, Tree, TreeModelHandler
from espalier.beam import as_mapping

GOLDEN = pathlib.Path(__file__).parent / "golden"
IRIS = str(GOLDEN / "iris.tree.json")
OTHER = str(GOLDEN / "iris_small.tree.json")
ROWS: list[dict[str, float | None]] = [
    {"sepallength": 5.1, "sepalwidth": 3.5, "petallength": 1.4, "petalwidth": 0.2},
    {"sepallength": 6.1, "sepalwidth": 2.8, "petallength": 4.7, "petalwidth": 1.2},
    {"sepallength": 7.1, "sepalwidth": None, "petallength": 5.9, "petalwidth": 2.1},
]


class Flower(NamedTuple):
    petallength: float
    petalwidth: float
    sepallength: float
    sepalwidth: float | None


def predictions(uri: str) -> list[Prediction]:
    return Tree.load(uri).predictions(ROWS).rows()


@pytest.mark.parametrize(
    "form", [dict, lambda **row: beam.Row(**row), Flower], ids=["mapping", "Row", "named tuple"]
)
def test_batch(form: Any) -> None:
    want = predictions(IRIS)

    def check(results: list[PredictionResult]) -> None:
        assert len(results) == 40 * len(ROWS)
        for at, row in enumerate(ROWS):
            of_row = [r for r in results if as_mapping(r.example) == row]
            assert [r.inference for r in of_row] == 40 * [want[at]]

    with beam.Pipeline("DirectRunner") as pipeline:
        rows = pipeline | beam.Create([form(**row) for _ in range(40) for row in ROWS])
        assert_that(rows | RunInference(TreeModelHandler(IRIS, max_batch_size=50)), check)


def test_stream() -> None:
    """The side input of a window names the model for the rows of the window, as WatchFilePattern does."""
    stream = TestStream()
    models = {0: IRIS, 100: OTHER, 200: IRIS}
    for start, uri in models.items():
        stream.advance_watermark_to(start)
        stream.add_elements([TimestampedValue(ModelMetadata(uri, pathlib.Path(uri).stem), start)], tag="models")
        stream.add_elements([TimestampedValue((start, row), start + 1) for row in ROWS], tag="rows")
    stream.advance_watermark_to_infinity()

    def check(results: list[tuple[int, Prediction]]) -> None:
        for start, uri in models.items():
            got = sorted(p for at, p in results if at == start)
            assert got == sorted(predictions(uri)), start

    options = PipelineOptions(["--streaming"])
    with beam.Pipeline("DirectRunner", options=options) as pipeline:
        elements = pipeline | stream
        model = elements["models"] | "windows of models" >> beam.WindowInto(FixedWindows(100))
        results = (
            elements["rows"]
            | "windows of rows" >> beam.WindowInto(FixedWindows(100))
            | beam.Map(lambda pair: pair[1] | {"window": pair[0]})
            | RunInference(TreeModelHandler(IRIS), model_metadata_pcoll=model)
            | beam.Map(lambda result: (result.example["window"], result.inference))
            | "all" >> beam.WindowInto(FixedWindows(1000))
        )
        assert_that(results, check)


def test_update_model_path() -> None:
    handler = TreeModelHandler(IRIS)
    handler.update_model_path(OTHER)
    assert handler.load_model().digest == Tree.load(OTHER).digest
    handler.update_model_path(None)
    assert handler.load_model().digest == Tree.load(OTHER).digest
    copied = pickle.loads(pickle.dumps(handler))
    assert copied.load_model().digest == Tree.load(OTHER).digest


def test_memory_filesystem(tmp_path: pathlib.Path) -> None:
    """A tree is read through Beam's FileSystems if its URL has a scheme."""
    pytest.importorskip("apache_beam.io.localfilesystem")
    from apache_beam.io.localfilesystem import LocalFileSystem

    class Shelf(LocalFileSystem):  # type: ignore[misc]
        @classmethod
        def scheme(cls) -> str:
            return "shelf"

        def open(self, path: str, *args: Any, **options: Any) -> Any:
            return super().open(str(GOLDEN / path.removeprefix("shelf://")), *args, **options)

    assert TreeModelHandler("shelf://iris.tree.json").load_model().digest == Tree.load(IRIS).digest


def test_wrong_rows() -> None:
    handler = TreeModelHandler(IRIS)
    [result] = handler.run_inference([3], handler.load_model())
    assert str(result.inference) == "a row of type int: want a mapping, a beam.Row or a named tuple"
    with pytest.raises(TypeError, match="a row of type int"):
        TreeModelHandler(IRIS, keyed=True).run_inference([3], handler.load_model())


@pytest.mark.parametrize("value", ["long", 10**400, decimal.Decimal("1e5000"), [1.0]])
def test_bad_row_of_a_batch(value: Any) -> None:
    """One row of a batch fails alone; so it does by a key in a batch of rows of other keys."""
    bad = {**ROWS[0], "petallength": value, "petalwidth": "wide"}

    def is_bad(failed: list[Any]) -> None:
        assert [result.example for result, _ in failed] == [bad]
        assert failed[0][1][0] is TypeError

    with beam.Pipeline("DirectRunner") as pipeline:
        handler = TreeModelHandler(IRIS, min_batch_size=50, max_batch_size=50)
        rows = pipeline | beam.Create([*ROWS, bad] + 15 * ROWS)
        good, failures = rows | RunInference(handler).with_exception_handling()
        assert_that(good | beam.combiners.Count.Globally(), equal_to([16 * len(ROWS)]))
        assert_that(failures.failed_postprocessing[0], is_bad, label="failed")
        assert_that(failures.failed_inferences, is_empty(), label="no batch fails")
        keyed = KeyedModelHandler(TreeModelHandler(IRIS, keyed=True))
        pairs = rows | beam.Filter(lambda row: row != bad) | beam.Map(lambda row: (str(row), row))
        assert_that(pairs | "keyed" >> RunInference(keyed) | "n" >> beam.combiners.Count.Globally(), equal_to([48]), label="all keyed")


@pytest.mark.filterwarnings("ignore")
def test_absent_keys(caplog: pytest.LogCaptureFixture) -> None:
    """A schema without a tested column is an error; keys of mappings are counted and logged once, or refused."""
    short = [{name: value for name, value in row.items() if name != "petalwidth"} for row in ROWS]
    tree = Tree.load(IRIS)
    for handler, rows in (
        (TreeModelHandler(IRIS), [beam.Row(**row) for row in short]),
        (TreeModelHandler(IRIS, strict=True), short),
    ):
        for result in handler.run_inference(rows, tree):
            assert str(result.inference).startswith("a row without 'petalwidth', which the tree tests")
    assert not caplog.messages
    handler = TreeModelHandler(IRIS)
    got = [result.inference for _ in range(2) for result in handler.run_inference(short, tree)][: len(short)]
    assert [message for message in caplog.messages if message.startswith("a row lacks 'petalwidth', which model")] == caplog.messages
    assert len(caplog.messages) == 1
    assert got == tree.predictions([{**row, "petalwidth": None} for row in short]).rows()
    pipeline = beam.Pipeline("DirectRunner")
    _ = pipeline | beam.Create(short) | RunInference(TreeModelHandler(IRIS))
    result = pipeline.run()
    result.wait_until_finish()
    found = result.metrics().query(MetricsFilter().with_name("keys_missing"))["counters"]
    assert [counter.committed for counter in found] == [3]
    with pytest.warns(UserWarning, match="feature 'petalwidth': 3 of 3 rows do not have this name"):
        tree.predict(short)


def test_broken_model(tmp_path: pathlib.Path) -> None:
    """The earlier model stays where the new one is broken; the first one has to be whole."""
    (tmp_path / "broken.json").write_text("{")
    handler = TreeModelHandler(IRIS)
    whole = handler.load_model()
    for path in ("broken.json", "absent.json"):
        handler.update_model_path(str(tmp_path / path))
        assert handler.load_model() is whole
    handler.update_model_path(OTHER)
    assert handler.load_model().digest == Tree.load(OTHER).digest
    with pytest.raises(ValueError, match="not a tree that can be used"):
        TreeModelHandler(str(tmp_path / "broken.json")).load_model()
