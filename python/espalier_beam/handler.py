"""Trees in Beam pipelines: a model handler for RunInference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from apache_beam.ml.inference.base import ModelHandler, PredictionResult

from .tree import LATEST, Tree


class TreeModelHandler(ModelHandler[Any, PredictionResult, Tree]):  # type: ignore[misc]
    """Scores rows by a tree.

    Elements are mappings from names to values, beam.Rows or named tuples. For each, RunInference
    returns a PredictionResult whose inference is a Prediction: class, probabilities, leaf, number of
    tests and cost. A batch is scored at once.

        results = rows | RunInference(TreeModelHandler("gs://models/credit/LATEST.json"))

    The model may be replaced while a pipeline runs: RunInference(handler, model_metadata_pcoll=...)
    with Beam's WatchFilePattern.
    """

    def __init__(self, uri: str, **options: Any) -> None:
        """Takes the URL of a tree.json, a run folder or a LATEST.json, which workers read.

        options are options of Beam's ModelHandler, such as max_batch_size.
        """
        super().__init__(**options)
        self._uri = uri

    def load_model(self) -> Tree:
        """Reads the tree. The errors are the same as for Tree.load and Tree.from_run."""
        if self._uri.endswith(".json") and not self._uri.endswith(LATEST):
            return Tree.load(self._uri)
        return Tree.from_run(self._uri)

    def run_inference(
        self, batch: Sequence[Any], model: Tree, inference_args: dict[str, Any] | None = None
    ) -> Iterable[PredictionResult]:
        """Scores a batch of rows."""
        predictions = model.predictions([as_mapping(row) for row in batch]).rows()
        return [PredictionResult(row, p, model.digest[:16]) for row, p in zip(batch, predictions)]

    def update_model_path(self, model_path: str | None = None) -> None:
        """Takes the URL of a newer model; load_model then reads it."""
        self._uri = model_path or self._uri

    def get_metrics_namespace(self) -> str:
        """Returns the namespace of the metrics of RunInference."""
        return "BeamML_Espalier"


def as_mapping(row: Any) -> Mapping[str, Any]:
    """Returns a row as a mapping from names to values."""
    if isinstance(row, Mapping):
        return row
    convert = getattr(row, "as_dict", None) or getattr(row, "_asdict", None)
    if convert is None:
        raise TypeError(f"a row of type {type(row).__name__}: want a mapping, a beam.Row or a named tuple")
    mapping: Mapping[str, Any] = convert()
    return mapping
