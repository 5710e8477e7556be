"""Predictions of a tree: for one row, and for many rows by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]


class Prediction(NamedTuple):
    """The prediction for one row."""

    prediction: str
    """The predicted class."""
    probabilities: dict[str, float]
    """The probability of each class."""
    leaf: int
    """The id of the leaf's node in tree.json."""
    tests: int
    """The number of tests on the path."""
    cost: float
    """The billed cost of these tests, in the unit of the tree's costs."""


@dataclass(frozen=True)
class Predictions:
    """The predictions for n rows, in the order of the rows."""

    classes: npt.NDArray[Any]
    """The k classes of the tree."""
    prediction: npt.NDArray[Any]
    """The predicted classes, shape (n,)."""
    number: Integers
    """The positions of the predicted classes in classes, shape (n,)."""
    probabilities: Floats
    """The probabilities, shape (n, k), columns in the order of classes."""
    leaf: Integers
    """The ids of the leaves in tree.json, shape (n,)."""
    tests: Integers
    """The numbers of tests, shape (n,)."""
    cost: Floats
    """The billed costs, shape (n,), in the unit of the tree's costs."""
    unseen: dict[str, int]
    """The numbers of rows with a category that training did not have, of the features with such rows."""

    def __len__(self) -> int:
        return len(self.leaf)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """Returns the columns that `espalier predict` writes, by their names there."""
        columns: dict[str, npt.NDArray[Any]] = {"prediction": self.prediction}
        for k, name in enumerate(self.classes):
            columns[f"probability_{name}"] = self.probabilities[:, k]
        return columns | {"leaf": self.leaf, "tests": self.tests, "cost": self.cost}

    def rows(self) -> list[Prediction]:
        """Returns a Prediction for each row."""
        names = self.classes.tolist()
        return [
            Prediction(prediction, dict(zip(names, probabilities)), leaf, tests, cost)
            for prediction, probabilities, leaf, tests, cost in zip(
                self.prediction.tolist(),
                self.probabilities.tolist(),
                self.leaf.tolist(),
                self.tests.tolist(),
                self.cost.tolist(),
            )
        ]
