"""An estimator for scikit-learn."""

from __future__ import annotations

import numbers
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state, column_or_1d, estimator_html_repr
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from . import frames
from .inquiry import Inquiry
from .predictions import Floats, Integers
from .program import text
from .run import Archive, Picture, Run, Text, train_table
from .tree import Tree

_SEEDS = 2**31 - 1
_FOLDED = 50_000  # rows up to which folds choose the tree by default
_DRAWN = 4  # tests on a path that a notebook shows
_BUDGETS = ("max_expected_cost", "max_cost", "max_tests", "max_leaves", "max_depth")
_BY_CLASS = ("class_weights", "priors", "error_costs", "positive", "min_sensitivity", "min_specificity", "min_precision")
_DEMANDS = {*_BUDGETS[:-1], *_BY_CLASS[4:], "confidence", "selection", "merit", "tolerance", "error_costs"}
_OWN = {"input", "label", "output", "weight", "count", "group", "overwrite", "resume", "dry_run", "config"}


class FrontierTree(NamedTuple):
    """A tree that may be selected."""

    number: int
    cost: float
    """What the tests of a training row cost on average."""
    max_cost: float
    """What the tests of the most expensive path cost."""
    tests: float
    """The number of tests of a training row on average."""
    leaves: int
    merit: float
    """The figure by which trees are compared, on held-out rows."""


class EspalierClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A small decision tree whose tests have prices.

        tree = EspalierClassifier(costs={"ct": 120, "age": 0}, max_expected_cost=20)
        tree.fit(frame, labels).predict_proba(frame)

    The program espalier trains the tree: the parameters are the settings of `espalier train` by their
    names, and None is the default of the program. Rows are arrays, or frames of pandas, polars or Arrow,
    with numbers, texts, dates and missing values as they are: nothing has to be encoded or imputed.

    Parameters
    ----------
    costs : mapping or sequence
        The price of a test on each feature, by name or in the order of the columns; 1 where it is absent.
        A mapping for each feature has prices of values.
    groups : mapping
        {"blood": (4, ["crp", "hb"])}: a price that the first test of some features pays.
    error_costs : mapping
        {("ill", "healthy"): 100}: what predictions cost, by actual and predicted class; the tree of the
        least total of tests and errors is then chosen.
    class_weight : "balanced" or mapping
        Factors of the weights of rows, by class.
    priors : mapping
        Frequencies of the classes where the tree is used.
    positive : class
        The class of interest: the rarer of two if it is absent.
    max_expected_cost, max_cost, max_tests, max_leaves, max_depth : numbers
        Budgets, above 0: the cost of a row on average, of the most expensive path, the tests that a row
        pays for, the leaves, and the tests of the longest path.
    min_sensitivity, min_specificity, min_precision : mappings
        {"ill": 0.95}: a share of one class that the tree keeps on new rows, with the confidence of the parameter
        confidence; a threshold on the probability of the class is chosen for them.
    selection, merit, tolerance : texts and a number
        How the tree is chosen: selection is the setting --select of `espalier train --help_all`.
    categorical, ordered, cuts, absent, forbid, first, monotone : mappings and sequences
        What may be tested: categorical=["plz"], ordered={"size": ["low", "high"]}, cuts={"age": [18, 65]},
        absent={"ct": "unordered"}, monotone={"age": 1}. Ordered categories of frames are read in their
        order, and categories that are numbers as categories.
    preset, leaf_model, teacher, repeat_cost, min_rows : texts and a number
        How trees grow: preset="accurate" puts models in the leaves.
    folds, split : number, text
        Which rows choose the tree. By default 5 folds of up to 50,000 rows, or 10 % of more rows, and 20 %
        of the rows for a threshold that min_sensitivity and the like demand. There are no test rows, as
        cross_val_score and the like have their own.
    cost_unit : text
        What costs are counted in, such as euros.
    settings : mapping
        Further settings by name.
    n_jobs : int
        Processors of the program. None: all or, where it is set, as many as OMP_NUM_THREADS says, as in a
        parallel search; -1: all.
    random_state : int or RandomState
        Seed of the folds. None: the same each time.

    Attributes
    ----------
    classes_ : array of shape (n_classes,), the labels as they were given, or the names of the ranges that the
        setting label_cuts makes of numbers, such as "< 10"
    n_features_in_, feature_names_in_ : the features of fit
    tree_ : Tree, whose classes are texts
    cost_ : float, the cost of the tests of a training row on average
    frontier_ : list of FrontierTree, the trees that select takes, by ascending cost
    metrics_ : dict, the figures of the run by part of its rows
    summary_ : text, what the program printed
    """

    def __init__(
        self,
        *,
        costs: Any = None,
        groups: Any = None,
        error_costs: Any = None,
        class_weight: Any = None,
        priors: Any = None,
        positive: Any = None,
        max_expected_cost: Any = None,
        max_cost: Any = None,
        max_tests: Any = None,
        max_leaves: Any = None,
        max_depth: Any = None,
        min_sensitivity: Any = None,
        min_specificity: Any = None,
        min_precision: Any = None,
        confidence: Any = None,
        selection: Any = None,
        merit: Any = None,
        tolerance: Any = None,
        categorical: Any = None,
        ordered: Any = None,
        cuts: Any = None,
        absent: Any = None,
        forbid: Any = None,
        first: Any = None,
        monotone: Any = None,
        preset: Any = None,
        leaf_model: Any = None,
        teacher: Any = None,
        repeat_cost: Any = None,
        min_rows: Any = None,
        folds: Any = None,
        split: Any = None,
        cost_unit: Any = None,
        settings: Any = None,
        n_jobs: Any = None,
        random_state: Any = None,
    ) -> None:
        given = dict(locals())
        del given["self"]
        self.__dict__.update(given)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> EspalierClassifier:
        """Trains a tree.

        X has shape (n, n_features), y and sample_weight have shape (n,). Weights that are all whole numbers
        count equal rows, as scikit-learn wants: a row of weight 2 is two rows (--count). The unit of other
        weights does not matter (--weight). groups, of shape (n,), are values such as customers, whose rows
        stay together in the folds. Raises ValueError with the message of the program.
        """
        for attribute in [known for known in vars(self) if known.endswith("_") or known == "_archive"]:
            delattr(self, attribute)  # of an earlier fit
        columns = self._columns(X, reset=True)
        if y is None:
            raise ValueError("This EspalierClassifier requires y to be passed, but the target y is None.")
        name = getattr(y, "name", None)
        y = _targets(y, self._cuts_labels)
        rows = len(next(iter(columns.values())))
        check_consistent_length(np.empty(rows), y)
        self.classes_ = np.unique(y)
        settings = self._settings(columns, rows)
        settings["label"] = _add(columns, name if isinstance(name, str) and name else "class", y if self._cuts_labels else _labels(y))
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, np.empty(rows), dtype=np.float64)
            counts = bool((weight == np.floor(weight)).all())
            settings["count" if counts else "weight"] = _add(columns, "sample_weight", weight)
        if groups is not None:
            check_consistent_length(y, groups)
            settings["group"] = _add(columns, "group", groups)
        run = train_table(frames.table(columns), settings, processors=self._processors())
        self._take(run)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Returns the predicted classes, shape (n,): by error costs and thresholds, if the tree has them."""
        predictions = self._tree.predictions(self._columns(X))
        classes: npt.NDArray[Any] = self.classes_[self._positions[predictions.number]]
        return classes

    def predict_proba(self, X: Any) -> Floats:
        """Returns the probabilities, shape (n, n_classes), columns in the order of classes_."""
        given = self._tree.predict_proba(self._columns(X))
        probabilities = np.zeros((len(given), len(self.classes_)))
        probabilities[:, self._positions] = given
        return probabilities

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Returns the accuracy. Where label_cuts has made the classes, y has numbers, or the names of ranges."""
        if self._cuts_labels:
            check_is_fitted(self)
            y = _in_ranges(y, self.classes_)
        return float(super().score(X, y, sample_weight))

    def apply(self, X: Any) -> Integers:
        """Returns the ids of the leaves in tree.json, shape (n,)."""
        return self._tree.apply(self._columns(X))

    def cost(self, X: Any) -> Floats:
        """Returns what the tests cost, shape (n,)."""
        return self._tree.cost(self._columns(X))

    def decision_path(self, X: Any) -> csr_array:
        """Returns the nodes that each row passes, shape (n, nodes): 1 for those on its path."""
        paths = self._tree.paths(self.apply(X))
        ends = np.cumsum([0, *(len(path) for path in paths)])
        nodes = np.concatenate([np.zeros(0, dtype=np.int64), *paths])
        shape = len(paths), len(self._tree.document.tests)
        return csr_array((np.ones(len(nodes), dtype=np.int64), nodes, ends), shape=shape)

    def ask(self, confidence: float = 0.0) -> Inquiry:
        """Begins an inquiry, which asks for the values of one case when a test needs them: see Tree.ask."""
        return self._tree.ask(confidence)

    def explain(self, row: Any) -> Text:
        """Returns the tests that a row passes, what they cost and where they lead.

        row is a mapping, or one row of what predict takes.
        """
        check_is_fitted(self)
        if hasattr(row, "to_frame") and np.ndim(row) == 1:  # a row of pandas
            row = row.to_frame().T.infer_objects()
        if isinstance(row, Mapping):
            rows: Any = {name: [value] for name, value in row.items()}
        else:
            rows = self._columns([row] if np.ndim(row) == 1 else row)
        if len(frames.Columns(rows)) != 1:
            raise ValueError(f"{len(frames.Columns(rows))} rows: want one")
        with self._fitted_run() as run, frames.folder() as work:
            path = os.path.join(work, "row.parquet")
            frames.write(rows, path)
            return Text(run.show(row=f"{path}:0").replace(f"row 0 of {path}", "the row"))

    def select(self, number: int | None = None, **demands: Any) -> EspalierClassifier:
        """Returns an estimator with another tree of frontier_, without training.

        The tree is the one of a number, or the best within demands, which are parameters such as
        max_cost=20; min_sensitivity={"ill": 0.95} and the like need a fit with a demand, or with
        split="80/20/0". Demands become parameters of the estimator. A number does not, so a clone trains and
        chooses anew, and earlier demands need not hold for the tree. Raises ValueError if no tree keeps the
        demands, or for a parameter that is none.
        """
        if others := demands.keys() - _DEMANDS:
            raise ValueError(f"select by {min(others)!r}: want a number or some of {', '.join(sorted(_DEMANDS))}")
        _check_budgets(demands)
        other: EspalierClassifier = clone(self).set_params(**demands)
        with self._fitted_run() as run:
            chosen = run.select(number, **self._program_settings(demands))
        fitted = {name: value for name, value in vars(self).items() if name not in self.get_params(deep=False)}
        other.__dict__.update(fitted)
        other._take(chosen)
        return other

    def plot(self, picture: str | None = None, depth: int | None = None) -> Picture:
        """Draws the tree up to a depth, or a picture: frontier, roc, calibration or importance."""
        with self._fitted_run() as run:
            return run.plot(picture, depth=depth)

    def show(self, **settings: Any) -> Text:
        """Returns the tree as text, or show(figures=True) all figures of the run."""
        with self._fitted_run() as run:
            return run.show(**settings)

    def export(self, format: str, **settings: Any) -> Text | bytes:
        """Returns the tree as source code, such as "python" or "c"; bytes for "onnx"."""
        with self._fitted_run() as run:
            return run.export(format, **settings)

    def save(self, folder: str) -> Run:
        """Writes the run into a new folder, for the program, for pipelines and for services."""
        check_is_fitted(self)
        os.makedirs(folder)
        self._archive.write(folder)
        return Run(folder, self.summary_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tree_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _repr_html_(self) -> str:
        """Returns the first tests as a drawing, and the diagram of scikit-learn before fit."""
        if not hasattr(self, "tree_"):
            return str(estimator_html_repr(self))
        return self.plot(depth=_DRAWN)._repr_html_()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    @property
    def _tree(self) -> Tree:
        check_is_fitted(self)
        tree: Tree = self.tree_
        return tree

    @property
    def _cuts_labels(self) -> bool:
        """Whether the classes are ranges of numbers."""
        return (self.settings or {}).get("label_cuts") is not None

    def _fitted_run(self) -> AbstractContextManager[Run]:
        check_is_fitted(self)
        return self._archive.run()

    def _take(self, run: Run) -> None:
        """Takes the tree of a run."""
        self._archive = Archive(run)
        self.tree_ = run.tree
        self.summary_ = run.summary
        self.metrics_ = run.metrics
        self.cost_ = float(self.metrics_["train"]["expected_cost"])
        self.frontier_ = [
            FrontierTree(n, p["expected_cost"], p["max_cost"], p["expected_tests"], p["leaves"], p["merit"])
            for n, p in enumerate(run.frontier)
        ]
        if self._cuts_labels:
            self.classes_ = np.unique(run.tree.classes_)  # sorted, as the metrics of scikit-learn expect
        positions = {text(name): at for at, name in enumerate(_labels(self.classes_))}
        self._positions = np.array([positions[name] for name in run.tree.classes_], dtype=np.int64)

    def _columns(self, X: Any, reset: bool = False) -> dict[str, Any]:
        """Returns the columns of X by name: x0, x1 and so on where X has no names."""
        if not reset:
            check_is_fitted(self)
        if issparse(X) or not frames.Columns.has(X):
            X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
            return dict(zip(self._names(X.shape[1], reset), X.T))
        if isinstance(X, Mapping):
            raise ValueError("X is a mapping: want an array or a frame")
        table = frames.Columns(X)
        if not table.names or not len(table):
            raise ValueError(f"Found a frame of shape ({len(table)}, {len(table.names)}): want rows and columns")
        validate_data(self, X, reset=reset, skip_check_array=True)
        by_position = not all(isinstance(name, str) for name in table.names)
        columns = [X.iloc[:, at] for at in range(len(table.names))] if by_position else [table[n] for n in table.names]
        return dict(zip(self._names(len(columns), reset), columns))

    def _names(self, columns: int, reset: bool) -> list[str]:
        """Returns the names of the columns of fit, in their order; reset takes those that scikit-learn has noted."""
        if reset:
            given = getattr(self, "feature_names_in_", None)
            self._column_names = [f"x{at}" for at in range(columns)] if given is None else [str(name) for name in given]
        names: list[str] = self._column_names
        return names

    def _settings(self, columns: Mapping[str, Any], rows: int) -> dict[str, Any]:
        """Returns the settings of the program."""
        given = self._program_settings(self.get_params(deep=False))
        _check_budgets(given)
        further = given.pop("settings") or {}
        if own := _OWN & further.keys():
            raise ValueError(f"settings has {min(own)!r}, which is not for an estimator")
        if twice := [name for name in further if given.get(name) is not None]:
            raise ValueError(f"settings has {twice[0]!r}, which is also a parameter: want one of them")
        seed, _ = given.pop("random_state"), given.pop("n_jobs")
        if seed is not None and "seed" in further:
            raise ValueError("settings has 'seed' beside random_state: want one of them")
        if seed is not None:
            given["seed"] = seed if isinstance(seed, numbers.Integral) else check_random_state(seed).randint(_SEEDS)
        if isinstance(given["costs"], (Sequence, np.ndarray)) and not isinstance(given["costs"], str):
            if len(given["costs"]) != len(columns):
                raise ValueError(f"costs has {len(given['costs'])} prices: want one for each of {len(columns)} columns")
            given["costs"] = dict(zip(columns, np.asarray(given["costs"]).tolist()))
        if given["split"] is None and not {"split", "split_column", "split_time"} & further.keys():
            demands = any(given[name] is not None for name in ("min_sensitivity", "min_specificity", "min_precision"))
            given["split"] = "80/20/0" if demands else "100/0/0" if rows <= _FOLDED else "90/10/0"
        return {"report": "none", "certificate": "none", **given, **further}

    def _program_settings(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Returns parameters by the names of settings, with the classes as the program spells them."""
        names = {"selection": "select", "class_weight": "class_weights"}
        classes = {label: text(label) for label in self.classes_.tolist()}  # True is 1, as in Python

        def spelled(key: Any) -> Any:
            return tuple(map(spelled, key)) if isinstance(key, tuple) else classes.get(key, key)

        settings = {names.get(name, name): value for name, value in parameters.items()}
        for name in _BY_CLASS:
            value = settings.get(name)
            if isinstance(value, Mapping):
                settings[name] = {spelled(key): item for key, item in value.items()}
            elif name == "positive" and value is not None:
                settings[name] = spelled(value)
        return settings

    def _processors(self) -> int | None:
        """Returns the number of processors for the program; None is all."""
        if self.n_jobs is None:
            threads = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
            return int(threads) if threads.isdigit() else None
        return int(effective_n_jobs(self.n_jobs))


def _check_budgets(parameters: Mapping[str, Any]) -> None:
    """Refuses budgets of 0, which the program reads as no budget."""
    for name in _BUDGETS:
        if parameters.get(name) == 0:
            raise ValueError(f"{name}=0: want a number above 0, or None for any")


def _targets(y: Any, cut: bool) -> npt.NDArray[Any]:
    """Returns the targets as an array of one type; those that are cut into ranges may be any numbers.

    Raises ValueError if some are missing, or of several types.
    """
    if hasattr(y, "isna") and np.any(y.isna()):
        raise ValueError("Input y contains NaN: each row needs a label.")
    kind = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if kind is not None and kind != object:  # whole numbers and booleans of pandas stay such
        y = y.to_numpy(dtype=kind)
    try:
        y = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)
        if not cut:
            check_classification_targets(y)
        np.unique(y)
        if not cut and y.dtype.kind == "f" and np.abs(y).max(initial=0) >= 2**53:
            raise ValueError("y has labels that are numbers of 2^53 and more, and floats: make them whole numbers or texts")
    except TypeError as error:
        raise ValueError(f"y has missing labels, or labels of several types: {error}") from error
    targets: npt.NDArray[Any] = y
    return targets


def _labels(y: npt.NDArray[Any]) -> Any:
    """Returns labels as the program reads them: whole numbers, booleans or texts."""
    if y.dtype.kind == "f":
        return y.astype(np.int64)  # the targets have been checked
    if y.dtype.kind in "mM":
        return [text(label) for label in y]
    return y.tolist() if y.dtype.kind == "O" else y


def _in_ranges(y: Any, names: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns the names of the ranges that numbers are in, empty where no name is of their range; other texts as they are."""
    given: npt.NDArray[Any] = np.asarray(y)
    try:
        numbers = given.astype(float)  # from texts as well
    except ValueError:
        return given
    ranges: npt.NDArray[Any] = np.full(given.shape, "", dtype=names.dtype)
    for name in names:
        low, _, high = name.removeprefix(">= ").partition("< ")
        ranges[(numbers >= float(low.removesuffix(" to ") or "-inf")) & (numbers < float(high or "inf"))] = name
    return ranges


def _add(columns: dict[str, Any], name: str, values: Any) -> str:
    """Adds a column and returns its name, which is no other column's."""
    while name in columns:
        name += "_"
    columns[name] = values
    return name
