"""Tests of trees as arrays, and the paths of many rows through them at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .predictions import Floats, Integers

_CODES = 2**16 + 2  # more than the codes of a feature


@dataclass(frozen=True)
class Split:
    """A test of a node. Children are positions of nodes.

    A value x takes the child yes if low <= x < high, otherwise no. A bound of NaN is absent in high,
    and never met in low. A missing value takes missing. Multiway tests and tests for sets have a child
    for each of some codes in cases; other codes take no.
    """

    feature: int
    missing: int
    yes: int = 0
    no: int = 0
    low: float = math.nan
    high: float = math.nan
    cases: dict[int, int] = field(default_factory=dict)


class Splits:
    """The nodes of one or several trees; None is a leaf."""

    def __init__(self, nodes: Sequence[Split | None]) -> None:
        splits = [node or Split(feature=0, missing=0) for node in nodes]
        self.inner = np.array([node is not None for node in nodes], dtype=bool)
        self._feature = np.array([s.feature for s in splits], dtype=np.int64)
        self._children = np.array([(s.no, s.yes, s.missing) for s in splits], dtype=np.int64).reshape(-1)
        self._low = np.array([s.low for s in splits], dtype=float)
        self._high = np.array([s.high for s in splits], dtype=float)
        self._multiway = np.array([bool(s.cases) for s in splits], dtype=bool)
        cases = sorted(
            (at * _CODES + code, child) for at, s in enumerate(splits) for code, child in s.cases.items()
        )
        self._keys = np.array([key for key, _ in cases], dtype=np.int64)
        self._branches = np.array([child for _, child in cases], dtype=np.int64)

    def child(self, at: Integers, x: Floats) -> Integers:
        """Returns the children of inner nodes for values of the tested features, shape (n,)."""
        taken = ((x >= self._low[at]) & ~(x >= self._high[at])).astype(np.int64)
        taken[np.isnan(x)] = 2
        children: Integers = self._children[3 * at + taken]
        many = np.flatnonzero(self._multiway[at] & (taken < 2))
        if many.size:
            keys = at[many] * _CODES + x[many].astype(np.int64)
            place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            listed = self._keys[place] == keys
            children[many[listed]] = self._branches[place[listed]]
        return children

    def parents(self) -> Integers:
        """Returns the parent of each node; -1 for roots."""
        parents = np.full(len(self.inner), -1, dtype=np.int64)
        inner = np.flatnonzero(self.inner)
        for children in self._children.reshape(-1, 3)[inner].T:
            parents[children] = inner
        parents[self._branches] = self._keys // _CODES
        return parents

    def leaves(self, values: Floats, at: Integers, rows: Integers) -> Integers:
        """Returns the leaves that rows reach from nodes.

        values has shape (features, rows); at and rows are the node and the row of each path. at is
        overwritten.
        """
        paths = np.flatnonzero(self.inner[at])
        while paths.size:
            here = at[paths]
            at[paths] = here = self.child(here, values[self._feature[here], rows[paths]])
            paths = paths[self.inner[here]]
        return at
