"""Lower bounds on the probabilities of nodes, as in the Go package induce/tree, file sure.go."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .checks import Content
from .predictions import Booleans, Floats, Integers

_SURPLUS = 0.05
_BRANCHES = 2
_STEPS, _UNITS = 50, 1e6


def lower_bounds(
    content: Content, depths: Integers, presence: Booleans, features: int, factors: Floats | None
) -> Floats:
    """Returns for each node a lower bound on the probability of its most probable class on new rows.

    The shares of training rows are too high for this, because the tests were chosen among many by the
    same rows. The bound is Chernoff's, for all nodes that branches on the features lead to.
    """
    nodes: list[dict[str, Any]] = content.document["nodes"]
    rows = np.array([node["rows"] for node in nodes], dtype=float)
    weights, probabilities = content.weights, content.probabilities
    leading = probabilities.argmax(axis=1)
    each = np.arange(len(nodes))
    total = weights.sum(axis=1)
    counted = (rows > 0) & (total > 0)
    shares = np.divide(weights[each, leading], total, out=np.zeros(len(nodes)), where=counted)
    evidence = -math.log(_SURPLUS) + depths * math.log(max(1, _BRANCHES * features))
    bounds = _bounds(shares, np.divide(evidence, rows, out=np.full(len(nodes), math.inf), where=counted))
    if factors is not None:
        bounds = _adapted(bounds, probabilities, leading, factors)
    rounded: Floats = np.floor(np.minimum(bounds, probabilities[each, leading]) * _UNITS + 0.5) / _UNITS
    for at in np.flatnonzero(presence).tolist():  # a row without the value is where it was
        for branch in nodes[at]["branches"]:
            if branch.get("missing"):
                rounded[branch["child"]] = rounded[at]
    return rounded


def _bounds(shares: Floats, divergences: Floats) -> Floats:
    """Returns the q in [0, share] whose Kullback-Leibler divergences from the shares are the given ones."""
    low, high = np.zeros(len(shares)), shares.copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(_STEPS):
            q = (low + high) / 2
            divergence = shares * np.log(shares / q)
            divergence += np.where(shares < 1, (1 - shares) * np.log((1 - shares) / (1 - q)), 0)
            further = divergence >= divergences
            low, high = np.where(further, q, low), np.where(further, high, q)
    return low


def _adapted(bounds: Floats, probabilities: Floats, leading: Integers, factors: Floats) -> Floats:
    """Adapts bounds on shares to the priors. The other classes keep their proportions."""
    other = (np.arange(len(factors)) != leading[:, None]) & (factors > 0)
    frequencies = np.divide(probabilities, factors, out=np.zeros_like(probabilities), where=other).sum(axis=1)
    others = np.where(other, probabilities, 0).sum(axis=1)
    factor = np.divide(others, frequencies, out=np.full(len(bounds), factors.max()), where=frequencies > 0)
    mine = bounds * factors[leading]
    rest = (1 - bounds) * factor
    adapted: Floats = np.divide(mine, mine + rest, out=np.zeros(len(bounds)), where=mine > 0)
    return adapted
