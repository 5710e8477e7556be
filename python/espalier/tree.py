"""Trees: scores of many rows, and inquiries for one."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import files, leafmodel, pointer
from .document import Document, decode
from .frames import Columns, like
from .inquiry import Inquiry
from .predictions import Floats, Integers, Predictions
from .program import callers_level

LATEST = "LATEST.json"
_MANY = 0.1  # the share of unseen values and of absent names that is warned of, as by the command


def _object(uri: str) -> dict[str, Any]:
    """Reads a JSON object. Raises ValueError if the file is none."""
    try:
        document = json.loads(files.read(uri))
    except RecursionError as error:
        raise ValueError(f"{uri}: lists or objects are nested too deeply") from error
    if not isinstance(document, dict):
        raise ValueError(f"{uri}: want a JSON object")
    return document


class Tree:
    """A trained classification tree.

    Rows are a pandas DataFrame or a mapping from names to columns (further columns are ignored); an
    array of shape (n, n_features_in_) with columns in the order of feature_names_in_; or a list of
    mappings from names to values, in which an absent name is a missing value. None, NaN, NA and NaT
    are missing values.

    Methods with rows raise ValueError if a column is absent, and TypeError if a feature has a value
    of the wrong type. They warn of a feature if training did not have the values of more than a tenth
    of the rows.
    """

    digest: str
    """The SHA-256 of tree.json in hexadecimal."""
    document: Document
    """The content of tree.json."""

    def __init__(self, encoded: bytes, uri: str = "tree.json") -> None:
        """Takes the bytes of a tree.json; messages name uri. Raises ValueError if it is not a tree."""
        self.digest = hashlib.sha256(encoded).hexdigest()
        try:
            self.document = decode(encoded)
        except ValueError as error:
            raise ValueError(f"{uri}: not a tree that can be used: {error}") from error

    @classmethod
    def load(cls, uri: str | os.PathLike[str]) -> Tree:
        """Reads a tree.json at a path or a URL that Beam can open.

        Raises OSError if it cannot be read, and ValueError if it is not a tree.
        """
        return cls(files.read(os.fspath(uri)), os.fspath(uri))

    @classmethod
    def from_run(cls, uri: str | os.PathLike[str]) -> Tree:
        """Reads the tree of a finished run: a run folder, or the LATEST.json of `espalier retrain`.

        Raises OSError if a file cannot be read, and ValueError if the tree has another digest than
        LATEST.json, or otherwise the run folder, lists.
        """
        uri = os.fspath(uri)
        folder, _, name = uri.rpartition("/")
        digest = ""
        run = uri
        if name == LATEST:
            try:
                below, digest = pointer.read(files.read(uri))
            except ValueError as error:
                raise ValueError(f"{uri}: {error}") from error
            run = files.join(folder, below)
        files.read(files.join(run, "_SUCCESS"))  # is written last
        tree = cls.load(files.join(run, "tree.json"))
        if not digest:
            counted = files.join(run, "distribution.json")
            leaves = _object(counted).get("leaves")
            if leaves is not None:  # without held-out rows none are counted
                listed = leaves.get("tree_sha256") if isinstance(leaves, dict) else None
                if not isinstance(listed, str):
                    raise ValueError(f"{counted}: leaves has no tree_sha256")
                digest = listed
        if digest and tree.digest != digest:
            raise ValueError(f"{run}/tree.json: the digest is {tree.digest}: want {digest}")
        return tree

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The names of the k classes, in the order of probabilities."""
        return self.document.classes

    @property
    def feature_names_in_(self) -> npt.NDArray[Any]:
        """The names of the features that the tree tests, shape (n_features_in_,)."""
        return np.array([feature.name for feature in self.document.features], dtype=object)

    @property
    def n_features_in_(self) -> int:
        """The number of features that the tree tests."""
        return len(self.document.features)

    @property
    def cost_unit(self) -> str:
        """The unit of costs; empty if unknown."""
        return self.document.cost_unit

    def paths(self, nodes: Integers) -> list[Integers]:
        """Returns the ids of the nodes from the root to each of the nodes, which included."""
        parents = self.document.splits.parents()
        known: dict[int, Integers] = {}
        for node in np.unique(nodes).tolist():
            path = [node]
            while path[-1]:
                path.append(int(parents[path[-1]]))
            known[node] = np.array(path[::-1], dtype=np.int64)
        return [known[node] for node in nodes.tolist()]

    def predict(self, rows: Any) -> npt.NDArray[Any]:
        """Returns the predicted classes, shape (n,)."""
        return self.predictions(rows).prediction

    def predict_proba(self, rows: Any) -> Floats:
        """Returns the probabilities, shape (n, k), columns in the order of classes_."""
        return self.predictions(rows).probabilities

    def apply(self, rows: Any) -> Integers:
        """Returns the ids of the leaves in tree.json, shape (n,)."""
        return self._leaves(self._encoded(rows))

    def tests(self, rows: Any) -> Integers:
        """Returns the numbers of tests, shape (n,)."""
        return self.document.depths[self.apply(rows)]

    def cost(self, rows: Any) -> Floats:
        """Returns the billed costs of the tests, shape (n,), in cost_unit."""
        return self.document.costs[self.apply(rows)]

    def further_costs(self, rows: Any) -> dict[str, Floats]:
        """Returns the billed costs of the tests in further currencies, such as minutes, by currency, shape (n,)."""
        leaves = self.apply(rows)
        return {unit: costs[leaves] for unit, costs in self.document.further_costs.items()}

    def predictions(self, rows: Any) -> Predictions:
        """Returns class, probabilities, leaf, number of tests and cost of each row, and counts unseen values."""
        values = self._encoded(rows)
        return self.predict_encoded(values, self._leaves(values))

    def predictions_frame(self, rows: Any) -> Any:
        """Returns the columns that `espalier predict` writes as a frame of the kind of the rows.

        A frame of pandas keeps the index of the rows. Rows that are no frame get a mapping of columns.
        """
        return like(rows, self.predictions(rows).columns())

    def predict_encoded(self, values: Floats, leaves: Integers) -> Predictions:
        """Returns the predictions at nodes, shape (n,), for encoded values, shape (n_features_in_, n)."""
        document = self.document
        probabilities, predicted = document.probabilities[leaves], document.predicted[leaves]
        if document.models is not None and (rows := document.models.modelled(leaves)).size:
            p = leafmodel.probabilities(
                document.models.scores(values[:, rows], leaves[rows]), len(document.classes)
            )
            if document.factors is not None:
                p = leafmodel.rescale(p, document.factors)
            probabilities[rows] = p
            predicted[rows] = leafmodel.decide(p, document.error_costs, document.threshold)
        return Predictions(
            classes=document.classes,
            prediction=document.classes[predicted],
            number=predicted,
            probabilities=probabilities,
            leaf=leaves,
            tests=document.depths[leaves],
            cost=document.costs[leaves],
            unseen={
                feature.name: int(count)
                for feature, of in zip(document.features, values)
                if not feature.numeric and (count := np.count_nonzero(of == feature.unlisted))
            },
        )

    def ask(self, confidence: float = 0.0) -> Inquiry:
        """Begins an inquiry for one row, which asks for a value only when a test needs it.

        It ends at a leaf or, with a confidence in (0, 1], at the first node whose most probable class
        has at least this probability on new rows, by a lower bound, and whose test would cost something.
        Raises ValueError for another confidence than 0.
        """
        return Inquiry(self, confidence)

    def _leaves(self, values: Floats) -> Integers:
        rows = np.arange(values.shape[1])
        return self.document.splits.leaves(values, np.zeros(len(rows), dtype=np.int64), rows)

    def _encoded(self, rows: Any) -> Floats:
        """Returns the values of rows as numbers, shape (n_features_in_, n)."""
        features = self.document.features
        if Columns.has(rows):
            table = Columns(rows)
            absent = [feature.name for feature in features if feature.name not in table.names]
            if absent:
                raise ValueError(f"absent columns: {', '.join(absent)}")
            columns = [table[feature.name] for feature in features]
            count = len(table)
        elif isinstance(rows, (list, tuple)) and all(isinstance(row, Mapping) for row in rows):
            columns = [[row.get(feature.name) for row in rows] for feature in features]
            count = len(rows)
            for feature in features:
                if (without := sum(feature.name not in row for row in rows)) > count * _MANY:
                    warnings.warn(
                        f"feature {feature.name!r}: {without} of {count} rows do not have this name, which is read as a "
                        "missing value: another spelling? None says that there is no value",
                        stacklevel=callers_level(),
                    )
        else:
            array = np.asarray(rows) if hasattr(rows, "dtype") else np.array(rows, dtype=object)
            if array.ndim != 2 or array.shape[1] != len(features):
                raise ValueError(
                    f"rows of shape {array.shape}: want (n, {len(features)}), the columns of feature_names_in_"
                )
            columns, count = list(array.T), len(array)
        values = np.empty((len(features), count))
        for at, (feature, column) in enumerate(zip(features, columns)):
            values[at] = feature.encode(column)
            new = values[at] == feature.unlisted
            if not feature.numeric and new.sum() > count * _MANY:
                example = np.asarray(column, dtype=object)[new.argmax()]
                warnings.warn(
                    f"feature {feature.name!r}: more than a tenth of the rows have a value that training did not have, "
                    f"such as {example!r}: another spelling, or another type?",
                    stacklevel=callers_level(),
                )
        return values
