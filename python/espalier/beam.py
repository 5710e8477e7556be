"""Trees in Beam pipelines: a model handler for RunInference."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from apache_beam.metrics import Metrics
from apache_beam.ml.inference.base import ModelHandler, PredictionResult

from .tree import LATEST, Tree

_NAMESPACE = "BeamML_Espalier"


class TreeModelHandler(ModelHandler[Any, PredictionResult, Tree]):  # type: ignore[misc]
    """Scores rows by a tree.

    Elements are mappings from names to values, beam.Rows or named tuples. For each, RunInference
    returns a PredictionResult whose inference is a Prediction: class, probabilities, leaf, number of
    tests and cost. A batch is scored at once.

        results = rows | RunInference(TreeModelHandler("gs://models/credit/LATEST.json"))

    A row that is refused, such as one with a text in a column of numbers, fails alone, after the
    inference: with_exception_handling then has it in failed_postprocessing.

    The model may be replaced while a pipeline runs: RunInference(handler, model_metadata_pcoll=...)
    with Beam's WatchFilePattern. If the new model cannot be read, the earlier one stays: the counter
    models_refused counts it, and the log says why.
    """

    def __init__(self, uri: str, *, strict: bool = False, keyed: bool = False, **options: Any) -> None:
        """Takes the URL of a tree.json, a run folder or a LATEST.json, which workers read.

        A mapping without the key of a tested feature has a missing value there, the counter
        keys_missing counts it, and the log names the key once for each handler; with strict, the row
        is refused, as are beam.Rows and named tuples without it. keyed is for Beam's KeyedModelHandler, which allows no step after the inference: a row
        that is refused then fails its batch. options are options of Beam's ModelHandler, such as
        max_batch_size.
        """
        super().__init__(**options)
        self._uri = uri
        self._strict = strict
        self._keyed = keyed
        self._earlier: Tree | None = None
        self._told: set[str] = set()  # absent keys that are in the log

    def load_model(self) -> Tree:
        """Reads the tree. The errors of the first one are the same as for Tree.load and Tree.from_run."""
        try:
            if self._uri.endswith(".json") and not self._uri.endswith(LATEST):
                self._earlier = Tree.load(self._uri)
            else:
                self._earlier = Tree.from_run(self._uri)
        except (ImportError, OSError, ValueError):
            if self._earlier is None:
                raise
            Metrics.counter(_NAMESPACE, "models_refused").inc()
            logging.exception("%s: the earlier model stays", self._uri)
        return self._earlier

    def run_inference(
        self, batch: Sequence[Any], model: Tree, inference_args: dict[str, Any] | None = None
    ) -> list[PredictionResult]:
        """Scores a batch of rows. The inference of a row that is refused is the exception, but with keyed it is raised."""
        version = model.digest[:16]
        try:
            rows = model.predictions([self._mapping(row, model) for row in batch]).rows()
            return [PredictionResult(row, prediction, version) for row, prediction in zip(batch, rows)]
        except (TypeError, ValueError) as error:
            if self._keyed:
                raise
            if len(batch) == 1:
                return [PredictionResult(batch[0], error, version)]
        return [result for row in batch for result in self.run_inference([row], model)]

    def get_postprocess_fns(self) -> list[Callable[[PredictionResult], PredictionResult]]:
        """Returns the step that fails for refused rows."""
        return [] if self._keyed else [_checked]

    def update_model_path(self, model_path: str | None = None) -> None:
        """Takes the URL of a newer model; load_model then reads it."""
        self._uri = model_path or self._uri

    def get_metrics_namespace(self) -> str:
        """Returns the namespace of the metrics of RunInference."""
        return _NAMESPACE

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_earlier": None}  # workers read the tree

    def _mapping(self, row: Any, model: Tree) -> Mapping[str, Any]:
        """Returns a row with a value for each tested feature."""
        mapping = as_mapping(row)
        absent = [feature.name for feature in model.document.features if feature.name not in mapping]
        if not absent:
            return mapping
        if self._strict or mapping is not row:
            raise ValueError(f"a row without {', '.join(map(repr, absent))}, which the tree tests: want None for no value")
        Metrics.counter(_NAMESPACE, "keys_missing").inc(len(absent))
        untold = [name for name in absent if name not in self._told]
        if untold:
            self._told.update(untold)
            logging.warning(
                "a row lacks %s, which model %s tests: it counts as missing. Is the key misspelled?",
                ", ".join(map(repr, untold)),
                model.digest[:16],
            )
        return {**dict.fromkeys(absent), **mapping}


def _checked(result: PredictionResult) -> PredictionResult:
    """Returns the result of a row, and raises the exception of a refused one."""
    if isinstance(result.inference, Exception):
        raise result.inference
    return result


def as_mapping(row: Any) -> Mapping[str, Any]:
    """Returns a row as a mapping from names to values."""
    if isinstance(row, Mapping):
        return row
    convert = getattr(row, "as_dict", None) or getattr(row, "_asdict", None)
    if convert is None:
        raise TypeError(f"a row of type {type(row).__name__}: want a mapping, a beam.Row or a named tuple")
    mapping: Mapping[str, Any] = convert()
    return mapping
