"""Scores rows in Beam YAML: Score is a transform of a provider of type python.

    providers:
      - type: python
        config: {}
        transforms:
          ScoreByTree: espalier.beam_yaml.Score
"""

from collections.abc import Callable
from typing import Any

import apache_beam as beam
from apache_beam.ml.inference.base import PredictionResult, RunInference
from apache_beam.typehints.row_type import RowTypeConstraint
from apache_beam.typehints.schemas import named_fields_from_element_type
from apache_beam.yaml.yaml_errors import ErrorHandlingConfig, map_errors_to_standard_format

from .beam import TreeModelHandler, as_mapping

_SCORED = {"prediction": str, "probabilities": dict[str, float], "leaf": int, "tests": int, "cost": float}


class _Handler(TreeModelHandler):
    """A handler whose results have the exceptions of refused rows."""

    def get_postprocess_fns(self) -> list[Callable[[PredictionResult], PredictionResult]]:
        """Returns no steps."""
        return []


class Score(beam.PTransform):  # type: ignore[misc]
    """Adds the prediction of a tree to rows of a schema: prediction, probabilities by class, leaf, tests and cost."""

    def __init__(self, model: str, strict: bool = False, error_handling: ErrorHandlingConfig | None = None) -> None:
        """Takes model and strict as TreeModelHandler does.

        A row that is refused makes the pipeline fail, or goes to the output that error_handling names.
        """
        super().__init__()
        self._handler = _Handler(model, strict=strict)
        self._errors = dict(error_handling)["output"] if error_handling else None

    def expand(self, rows: beam.PCollection) -> beam.PCollection | dict[str, beam.PCollection]:
        """Scores rows."""
        fields = named_fields_from_element_type(rows.element_type)
        taken = [name for name, _ in fields if name in _SCORED]
        if taken:
            raise ValueError(f"the rows have the fields {', '.join(taken)}, which Score adds: rename them")
        results = rows | RunInference(self._handler)
        good = results if self._errors is None else results | "Scored" >> beam.Filter(lambda r: not _refused(r))
        scored = good | beam.Map(_row).with_output_types(RowTypeConstraint.from_fields([*fields, *_SCORED.items()]))
        if self._errors is None:
            return scored
        errors = results | "Refused" >> beam.Filter(_refused) | beam.Map(_error)
        return {"good": scored, self._errors: errors | map_errors_to_standard_format(rows.element_type)}


def _refused(result: PredictionResult) -> bool:
    return isinstance(result.inference, Exception)


def _row(result: PredictionResult) -> beam.Row:
    if _refused(result):
        raise result.inference
    return beam.Row(**as_mapping(result.example), **result.inference._asdict())


def _error(result: PredictionResult) -> tuple[Any, tuple[type, Exception, list[str]]]:
    """Returns a refused row in the form of Beam's exception handling."""
    return result.example, (type(result.inference), result.inference, [])
