"""Models of leaves: probabilities from the values that the path has asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .predictions import Floats, Integers
from .splits import Split, Splits

_CHUNK = 1 << 13  # rows that are scored at once, so that what their trees need stays in the cache
_TIE = 1e-12  # expected costs that differ by less than this share of the greatest are equal


@dataclass(frozen=True)
class Term:
    """What a numeric feature adds to the s scores: linear between knots, constant outside."""

    feature: int
    at: Floats
    """Knots, ascending, shape (knots,)."""
    values: Floats
    """What is added at each knot, shape (knots, s)."""
    missing: Floats
    """What is added for a missing value, shape (s,)."""


@dataclass(frozen=True)
class LeafModel:
    """The model of a leaf. The scores are the intercept, plus the terms, plus the trees of a booster."""

    intercept: Floats
    terms: Sequence[Term]
    booster: int | None
    """The number of the booster."""


@dataclass(frozen=True)
class Boosters:
    """Small trees that add to the scores."""

    nodes: Sequence[Split | Floats]
    """The nodes of all trees; a leaf is what it adds to the scores."""
    roots: Sequence[int]
    """The node at which each tree begins."""
    sizes: Sequence[int]
    """The number of trees of each booster; the trees of a booster follow each other."""


class LeafModels:
    """The models of the leaves of a tree as arrays, for many rows at once."""

    def __init__(self, models: Mapping[int, LeafModel], boosters: Boosters, nodes: int) -> None:
        """Takes the models by node; nodes is the number of nodes of the tree."""
        listed = list(models.values())
        terms = [term for model in listed for term in model.terms]
        scores = len(listed[0].intercept)
        self._model = np.full(nodes, -1)
        self._model[list(models)] = np.arange(len(models))
        self._intercepts = np.array([model.intercept for model in listed])
        self._terms = _ends([len(model.terms) for model in listed])
        self._feature = np.array([term.feature for term in terms], dtype=np.int64)
        self._knots = _ends([len(term.at) for term in terms])
        self._at = np.concatenate([np.zeros(0), *(term.at for term in terms)])
        self._values = np.concatenate([np.zeros((0, scores)), *(term.values for term in terms)])
        self._missing = np.concatenate([np.zeros((0, scores)), *(term.missing[None] for term in terms)])
        self._booster = np.array([-1 if model.booster is None else model.booster for model in listed])
        self._splits = Splits([node if isinstance(node, Split) else None for node in boosters.nodes])
        self._leaves = np.array([np.zeros(scores) if isinstance(n, Split) else n for n in boosters.nodes])
        self._roots = np.array(boosters.roots, dtype=np.int64)
        self._trees = _ends(boosters.sizes)

    def modelled(self, leaves: Integers) -> Integers:
        """Returns the positions of the leaves that have a model."""
        return np.flatnonzero(self._model[leaves] >= 0)

    def scores(self, values: Floats, leaves: Integers) -> Floats:
        """Returns the scores of rows at leaves with models, shape (n, s).

        values has shape (features, n).
        """
        chunks = [slice(at, at + _CHUNK) for at in range(0, len(leaves), _CHUNK)]
        return np.concatenate([self._scores(values[:, c], self._model[leaves[c]]) for c in chunks])

    def _scores(self, values: Floats, model: Integers) -> Floats:
        scores: Floats = self._intercepts[model]
        term, end = self._terms[model], self._terms[model + 1]
        while (rows := np.flatnonzero(term < end)).size:
            now = term[rows]
            scores[rows] += self._added(now, values[self._feature[now], rows])
            term = term + 1
        self._boost(scores, values, self._booster[model])
        return scores

    def _added(self, term: Integers, x: Floats) -> Floats:
        """Returns what terms add to the scores for values, shape (n, s)."""
        first, end = self._knots[term], self._knots[term + 1]
        passed, above = first, end  # the first knot above x is in [passed, above]
        while (open_ := passed < above).any():
            middle = (passed + above) // 2
            up = open_ & (self._at[np.minimum(middle, len(self._at) - 1)] <= x)
            passed, above = np.where(up, middle + 1, passed), np.where(up, above, middle)
        low, high = np.maximum(passed - 1, first), np.minimum(passed, end - 1)
        gap = self._at[high] - self._at[low]
        share = np.zeros(len(x))
        np.divide(x - self._at[low], gap, out=share, where=gap > 0)
        added: Floats = self._values[low] + (self._values[high] - self._values[low]) * share[:, None]
        absent = np.isnan(x)
        added[absent] = self._missing[term[absent]]
        return added

    def _boost(self, scores: Floats, values: Floats, booster: Integers) -> None:
        """Adds the trees of the boosters of rows to their scores; -1 is no booster."""
        boosted = np.flatnonzero(booster >= 0)
        if not boosted.size:
            return
        first = self._trees[booster[boosted]]
        sizes = self._trees[booster[boosted] + 1] - first
        rows = np.repeat(boosted, sizes)  # a path for each row and tree
        begin = np.cumsum(sizes) - sizes
        trees = np.arange(len(rows)) + np.repeat(first - begin, sizes)
        ends = self._splits.leaves(values, self._roots[trees], rows)
        np.add.at(scores, rows, self._leaves[ends])  # in the order of the trees, as sums round


def _ends(sizes: Sequence[int]) -> Integers:
    """Returns where parts of given sizes begin and, in the last place, where the last part ends."""
    return np.cumsum([0, *sizes])


def probabilities(scores: Floats, classes: int) -> Floats:
    """Returns the probabilities of scores, shape (n, classes).

    With two classes the only score is the logit of the second class; otherwise there is a score for
    each class.
    """
    if classes == 2:
        z = scores[:, 0]
        e = np.exp(-np.abs(z))
        rare, frequent = e / (1 + e), 1 / (1 + e)
        return np.where(
            np.signbit(z)[:, None], np.column_stack((frequent, rare)), np.column_stack((rare, frequent))
        )
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def rescale(p: Floats, factors: Floats) -> Floats:
    """Returns probabilities times a factor for each class, normalised, shape (n, classes)."""
    p = p * factors
    total = p.sum(axis=1, keepdims=True)
    np.divide(p, total, out=p, where=total > 0)
    return p


def decide(p: Floats, error_costs: Floats | None, threshold: tuple[int, float] | None) -> Integers:
    """Returns the predicted class of each row by its number, given probabilities (n, classes).

    With a threshold, it is the class of the threshold if its probability is at least the threshold,
    otherwise the most probable other class. Without one, it is the most probable class or, with costs
    of errors by actual and predicted class, the class of the least expected cost. The first class
    wins a tie.
    """
    if threshold is not None:
        positive, least = threshold
        rank = p.copy()
        rank[:, positive] = np.where(p[:, positive] >= least, 2, -1)
        return np.asarray(rank.argmax(axis=1))
    if error_costs is None:
        return np.asarray(p.argmax(axis=1))
    expected = p @ error_costs
    limit = expected.min(axis=1) + _TIE * expected.max(axis=1)
    return np.asarray((expected <= limit[:, None]).argmax(axis=1))
