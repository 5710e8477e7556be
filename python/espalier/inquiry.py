"""Inquiries: one row on its way through a tree, which asks for a value when a test needs it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .features import Feature
from .predictions import Prediction

if TYPE_CHECKING:
    from .tree import Tree


@dataclass(frozen=True)
class Question:
    """The next value to obtain."""

    feature: str
    numeric: bool
    unit: str
    """"date", "time" or "timestamp" for points in time, otherwise empty."""
    values: tuple[str, ...]
    """The values of a categorical feature in the training rows."""
    cost: float
    """The price due now, in the cost_unit of the tree; it includes the price of a group that is due."""
    node: int
    """The id of the node that asks."""
    further: dict[str, float] = field(default_factory=dict)
    """The price due now in further currencies, by currency."""


class Inquiry:
    """A row whose values become known one by one. Tree.ask begins it."""

    def __init__(self, tree: Tree, confidence: float = 0.0) -> None:
        if not 0 <= confidence <= 1:
            raise ValueError(f"a confidence of {confidence}: want a probability from 0 to 1")
        self._tree = tree
        self._confidence = confidence
        self._values = np.full((tree.n_features_in_, 1), math.nan)
        self._known: set[int] = set()
        self._given: set[int] = set()
        self._lacking: set[int] = set()
        self._path: list[int] = []
        self._node = 0
        self._paid = 0.0
        self._further = dict.fromkeys(tree.document.further, 0.0)

    def next(self) -> Question | None:
        """Returns the open question; None if the inquiry has ended."""
        document = self._tree.document
        test = document.tests[self._node]
        if test is None or self._lacks() or self._confident():
            return None
        feature = document.features[test.feature]
        priced = test.no if document.presence[self._node] else self._node  # who has the value pays for the test below
        price, further = self._price(priced), self._further_price(priced)
        return Question(feature.name, feature.numeric, feature.unit, feature.values, price, self._node, further)

    def answer(self, value: Any) -> None:
        """Answers the open question and pays for it; None says that there is no value.

        Raises TypeError for a value of the wrong type, and ValueError if nothing is asked. The
        question then stays open.
        """
        test = self._tree.document.tests[self._node]
        if test is None or self._lacks() or self._confident():
            raise ValueError(f"the value {value!r}: the inquiry has ended")
        self._know(test.feature, value)
        self._advance()

    def cannot(self, feature: str) -> None:
        """Says that the value of a feature cannot be had: nobody is asked, and nothing is paid for it.

        If at least 5 % of the training rows lack the value, the row goes where they go. Otherwise the
        inquiry ends at the first test of the feature, with the probabilities of that node. A feature
        that the tree does not test is ignored. Raises ValueError if the value is known.
        """
        names = [f.name for f in self._tree.document.features]
        if feature in names and names.index(feature) not in self._known:
            self._lacking.add(names.index(feature))
        self.give(feature, None)

    def give(self, feature: str, value: Any) -> None:
        """Adds a value that is known already: the tests on its feature cost nothing.

        A feature that the tree does not test is ignored. Raises TypeError for a value of the wrong
        type, and ValueError for a second value of a feature.
        """
        names = [f.name for f in self._tree.document.features]
        if feature not in names:
            return
        at = names.index(feature)
        if at in self._known:
            raise ValueError(f"feature {feature!r}: its value is known already")
        self._know(at, value)
        self._given.add(at)
        self._advance()

    @property
    def path(self) -> tuple[int, ...]:
        """The ids of the nodes passed, from the root; the last one is the node reached."""
        return (*self._path, self._node)

    @property
    def paid(self) -> float:
        """What the tests have cost so far. Given values are free."""
        return self._paid

    @property
    def further_paid(self) -> dict[str, float]:
        """What the tests have cost so far in further currencies, by currency."""
        return dict(self._further)

    def result(self) -> Prediction:
        """Returns the prediction at the node reached, with its id as leaf and what was paid as cost.

        At a leaf it is what predict returns. Before, it is the prediction so far.
        """
        leaf = self._tree.predict_encoded(self._values, np.array([self._node])).rows()[0]
        return leaf._replace(cost=self._paid)

    def _know(self, feature: int, value: Any) -> None:
        self._values[feature, 0] = self._tree.document.features[feature].encode_one(value)
        self._known.add(feature)

    def _advance(self) -> None:
        """Passes tests whose values are known. Where the inquiry may end, it passes free ones only."""
        document = self._tree.document
        while (test := document.tests[self._node]) is not None and test.feature in self._known and not self._lacks():
            price = self._price(self._node)
            if price > 0 and self._confident():
                return
            child = int(document.splits.child(np.array([self._node]), self._values[test.feature])[0])
            self._paid += price
            for unit, amount in self._further_price(self._node).items():
                self._further[unit] += amount
            if not document.presence[self._node] or child != test.no:
                self._path.append(self._node)
            self._node = child

    def _lacks(self) -> bool:
        """Tells whether the inquiry ends at an inner node, as the value that its test needs cannot be had."""
        test = self._tree.document.tests[self._node]
        return test is not None and test.feature in self._lacking and bool(self._tree.document.lost[self._node])

    def _confident(self) -> bool:
        return self._confidence > 0 and self._tree.document.at_least[self._node] >= self._confidence

    def _price(self, node: int) -> float:
        """Returns what the test of a node costs now.

        It includes the price of the group if the tree bills the group at an earlier test whose value
        was given.
        """
        document = self._tree.document
        feature = self._billed(node)
        if feature is None:
            return 0.0
        return float(document.prices[node]) + (feature.group_cost if self._owes_group(feature) else 0.0)

    def _further_price(self, node: int) -> dict[str, float]:
        """Returns what the test of a node costs now in further currencies."""
        document = self._tree.document
        feature = self._billed(node)
        if feature is None:
            return dict.fromkeys(document.further, 0.0)
        group = feature.group_further_costs if self._owes_group(feature) else {}
        return {unit: float(prices[node]) + group.get(unit, 0.0) for unit, prices in document.further.items()}

    def _billed(self, node: int) -> Feature | None:
        """Returns the feature that the test of a node is billed for; None if nothing is paid."""
        document = self._tree.document
        test = document.tests[node]
        if test is None or test.feature in self._given or document.presence[node]:
            return None
        return document.features[test.feature]

    def _owes_group(self, feature: Feature) -> bool:
        """Tells whether the tree bills the group of a feature at earlier tests, all of whose values were given."""
        document = self._tree.document
        earlier = [split.feature for at in self._path if (split := document.tests[at]) is not None]
        same = [at for at in earlier if feature.group and document.features[at].group == feature.group]
        return bool(same) and all(at in self._given for at in same)
