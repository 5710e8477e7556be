"""Models of leaves: probabilities from the values that the path has asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .predictions import Floats, Integers
from .splits import Split, Splits

_CHUNK = 1 << 16  # rows that a booster scores at once: a path per row and tree takes memory
_TIE = 1e-12  # expected costs that differ by less than this share of the greatest are equal


@dataclass(frozen=True)
class Term:
    """What a numeric feature adds to the scores: linear between knots, constant outside."""

    feature: int
    at: Floats
    """Knots, ascending, shape (knots,)."""
    values: Floats
    """What is added at each knot, shape (knots, scores)."""
    missing: Floats
    """What is added for a missing value, shape (scores,)."""

    def add(self, x: Floats) -> Floats:
        """Returns what values add to the scores, shape (n, scores)."""
        last = len(self.at) - 1
        passed = np.searchsorted(self.at, x, side="right")
        low, high = np.clip(passed - 1, 0, last), np.minimum(passed, last)
        gap = self.at[high] - self.at[low]
        share = np.zeros(len(x))
        np.divide(x - self.at[low], gap, out=share, where=gap > 0)
        added = self.values[low] + (self.values[high] - self.values[low]) * share[:, None]
        added[np.isnan(x)] = self.missing
        return added


class Booster:
    """Small trees that add to the scores."""

    def __init__(self, nodes: Sequence[Split | Floats], roots: Sequence[int]) -> None:
        """Takes the nodes of all trees (a leaf is what it adds to the scores), and the root of each tree."""
        self._splits = Splits([node if isinstance(node, Split) else None for node in nodes])
        self._roots = np.array(roots, dtype=np.int64)
        scores = next(len(node) for node in nodes if not isinstance(node, Split))
        self._values = np.array([np.zeros(scores) if isinstance(node, Split) else node for node in nodes])

    def add_to(self, scores: Floats, values: Floats) -> None:
        """Adds to the scores of rows, shape (n, scores), given their values, shape (features, n)."""
        for first in range(0, len(scores), _CHUNK):
            part = scores[first : first + _CHUNK]
            at = np.tile(self._roots, len(part))
            rows = np.repeat(np.arange(first, first + len(part)), len(self._roots))
            ends = self._splits.leaves(values, at, rows).reshape(len(part), -1)
            for tree in range(len(self._roots)):  # in this order, as sums round
                part += self._values[ends[:, tree]]


@dataclass(frozen=True)
class LeafModel:
    """The model of a leaf: the scores are an intercept, terms and a booster's trees."""

    intercept: Floats
    terms: Sequence[Term]
    booster: Booster | None

    def scores(self, values: Floats) -> Floats:
        """Returns the scores of rows, shape (n, scores), given their values, shape (features, n)."""
        scores = np.tile(self.intercept, (values.shape[1], 1))
        for term in self.terms:
            scores += term.add(values[term.feature])
        if self.booster is not None:
            self.booster.add_to(scores, values)
        return scores


def probabilities(scores: Floats, classes: int) -> Floats:
    """Returns the probabilities of scores, shape (n, classes).

    With two classes the only score is the logit of the second class; otherwise there is a score for
    each class.
    """
    if classes == 2:
        z = scores[:, 0]
        e = np.exp(-np.abs(z))
        rare, frequent = e / (1 + e), 1 / (1 + e)
        return np.where(np.signbit(z)[:, None], np.column_stack((frequent, rare)), np.column_stack((rare, frequent)))
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def rescale(p: Floats, factors: Floats) -> Floats:
    """Returns probabilities times a factor for each class, normalised, shape (n, classes)."""
    p = p * factors
    total = p.sum(axis=1, keepdims=True)
    np.divide(p, total, out=p, where=total > 0)
    return p


def decide(p: Floats, error_costs: Floats | None) -> Integers:
    """Returns the predicted class of each row by its number, given probabilities (n, classes).

    It is the most probable class or, with costs of errors by actual and predicted class, the class
    of the least expected cost. The first class wins a tie.
    """
    if error_costs is None:
        return np.asarray(p.argmax(axis=1))
    expected = p @ error_costs
    limit = expected.min(axis=1) + _TIE * expected.max(axis=1)
    return np.asarray((expected <= limit[:, None]).argmax(axis=1))
