"""The content of tree.json: versions 1 (plain leaves), 2 (leaf models), 3 (boosters), 4 (a threshold)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import checks
from .features import Feature
from .leafmodel import Boosters, LeafModel, LeafModels, Term
from .predictions import Booleans, Floats, Integers
from .splits import Split, Splits
from .sure import lower_bounds


@dataclass(frozen=True)
class Document:
    """A decoded tree.json with m nodes and k classes. Nodes are counted as in tree.json."""

    label: str
    """The column of the classes."""
    classes: npt.NDArray[Any]
    """The names of the classes, shape (k,)."""
    cost_unit: str
    features: tuple[Feature, ...]
    """The features that some node tests."""
    tests: list[Split | None]
    """The test of each node; None for a leaf."""
    splits: Splits
    """The tests as arrays."""
    prices: Floats
    """What is billed for the test of each node, shape (m,); 0 for leaves."""
    further: dict[str, Floats]
    """What is billed for the test of each node in further currencies, by currency, shape (m,)."""
    further_costs: dict[str, Floats]
    """The same for the tests above each node."""
    presence: Booleans
    """Whether each node only asks if there is a value that somebody may not have ordered: it is no test, shape (m,)."""
    lost: Booleans
    """Whether the tree has not learned where a row without the value of a node's test belongs, shape (m,)."""
    depths: Integers
    """The number of tests above each node, shape (m,)."""
    costs: Floats
    """What is billed for the tests above each node, shape (m,)."""
    predicted: Integers
    """The predicted class of each node by its number, without models, shape (m,)."""
    probabilities: Floats
    """The probabilities of each node without models, shape (m, k)."""
    at_least: Floats
    """Lower bounds on the probability of each node's most probable class on new rows, shape (m,)."""
    models: LeafModels | None
    """The models of leaves; None if no leaf has one."""
    factors: Floats | None
    """The factors by which priors scale the probabilities of models, shape (k,)."""
    error_costs: Floats | None
    """The costs of errors by actual and predicted class, shape (k, k)."""
    threshold: tuple[int, float] | None
    """The class of interest by its number, and the least probability at which it is predicted."""


def decode(encoded: bytes) -> Document:
    """Reads a tree.json. Raises ValueError if it is not one, or damaged: see checks.read."""
    content = checks.read(encoded)
    document = content.document
    label, nodes = document["label"], document["nodes"]
    decoder = _Decoder(document)
    tests = [decoder.test(node) for node in nodes]
    costs = _above(content.prices, content.parents)
    numbers = {name: k for k, name in enumerate(label["classes"])}
    factors = _factors(document) if "priors" in label else None
    models = {at: decoder.model(node["model"]) for at, node in enumerate(nodes) if "model" in node}
    boosters = decoder.boosters(document.get("boosters", ()))
    presence = np.array(content.presence, dtype=bool)
    depths = np.array(content.depths, dtype=np.int64)
    return Document(
        label=label["column"],
        classes=np.array(label["classes"]),
        cost_unit=document["algorithm"].get("cost_unit", ""),
        features=decoder.features,
        tests=tests,
        splits=Splits(tests),
        presence=presence,
        lost=np.array([decoder.loses(node) for node in nodes], dtype=bool),
        prices=np.array(content.prices),
        depths=depths,
        costs=costs,
        further={unit: np.array(amounts) for unit, amounts in sorted(content.further.items())},
        further_costs={unit: _above(amounts, content.parents) for unit, amounts in sorted(content.further.items())},
        predicted=np.array([numbers[node["class"]] for node in nodes], dtype=np.int64),
        probabilities=content.probabilities,
        at_least=lower_bounds(content, depths, presence, len(decoder.features), factors),
        models=LeafModels(models, boosters, len(nodes)) if models else None,
        factors=factors,
        error_costs=np.array(label["error_costs"], dtype=float) if "error_costs" in label else None,
        threshold=_threshold(label, numbers),
    )


def _above(prices: list[float], parents: list[int]) -> Floats:
    """Returns what the tests above each node cost, shape (m,)."""
    costs = [0.0] * len(parents)
    for at, parent in enumerate(parents[1:], 1):
        costs[at] = costs[parent] + prices[parent]
    return np.array(costs)


def _threshold(label: dict[str, Any], numbers: dict[str, int]) -> tuple[int, float] | None:
    decision = label.get("decision", {})
    if not decision.get("threshold"):
        return None
    return numbers[decision["positive"]], float(decision["threshold"])


def _factors(document: dict[str, Any]) -> Floats:
    """Returns each class's prior over its share of the training weight; 0 without training rows."""
    root = document["nodes"][0]
    counts = root["raw_class_weights"]
    if document["algorithm"].get("leaf_estimate") == "majority":
        counts = root.get("majority_class_weights", root["class_weights"])
    weights = np.array(counts, dtype=float)
    priors = np.array(document["label"]["priors"], dtype=float)
    factors = np.zeros(len(priors))
    np.divide(priors, weights / max(1, weights.sum()), out=factors, where=weights > 0)
    return factors


class _Decoder:
    """Decodes the parts of a document that name features."""

    def __init__(self, document: dict[str, Any]) -> None:
        tested = {node["test"]["feature"] for node in document["nodes"] if "test" in node}
        self.features = tuple(Feature(f) for f in document["features"] if f["name"] in tested)
        self.positions = {feature.name: i for i, feature in enumerate(self.features)}
        rows = document.get("training", {}).get("rows", 0)
        self._placed = {  # at least 5 % of the training rows lack the value
            f["name"] for f in document["features"] if f.get("missing", 0) > 0 and f["missing"] >= 0.05 * rows
        }

    def loses(self, node: dict[str, Any]) -> bool:
        """Tells whether the tree has not learned where a row without the value of a node's test belongs.

        A branch for missing values alone takes such a row, and so does the leaf of an unordered feature.
        """
        if "test" not in node or node["test"]["feature"] in self._placed:
            return False
        feature = self.features[self.positions[node["test"]["feature"]]]
        return not (feature.unordered or any(branch["when"].get("missing") for branch in node["branches"]))

    def test(self, node: dict[str, Any]) -> Split | None:
        """Returns the test of a node; None if it is a leaf."""
        if "test" not in node:
            return None
        kind, branches = node["test"]["kind"], node["branches"]
        feature = self.positions[node["test"]["feature"]]
        codes = self.features[feature].codes
        if kind == "multiway":
            missing = next(branch["child"] for branch in branches if branch.get("missing"))
            other = next(branch["child"] for branch in branches if branch.get("other"))
            cases = {}
            for branch in branches:
                if branch["when"].get("other") and not branch["when"].get("missing"):
                    cases[len(codes)] = branch["child"]
                elif not branch["when"].get("missing"):
                    cases[int(codes[branch["when"]["in"][0]])] = branch["child"]
            return Split(feature, missing, no=other, cases=cases)
        yes, no = branches[0]["child"], branches[1]["child"]
        when = branches[0]["when"]
        if kind == "in":  # the cases are the values that take another branch than unlisted ones
            members = {int(codes[value]) for value in when["in"]}
            if branches[0].get("other"):
                return Split(feature, no, no=yes, cases=dict.fromkeys(set(range(len(codes))) - members, no))
            return Split(feature, no, no=no, cases=dict.fromkeys(members, yes))
        if kind == "missing":
            return Split(feature, yes, yes, no)
        if kind == "other":
            return Split(feature, no, yes, no, low=self.features[feature].unlisted)
        if kind == "equals":
            code = self.features[feature].codes[when["in"][0]]
            return Split(feature, no, yes, no, code, code + 1)
        high = when.get("lt", math.nan) if kind == "bin" else math.nan
        return Split(feature, no, yes, no, low=float(when.get("ge", -math.inf)), high=float(high))

    def boosters(self, boosters: Sequence[list[list[dict[str, Any]]]]) -> Boosters:
        """Returns all boosters."""
        nodes: list[Split | Floats] = []
        roots = []
        for splits in (tree for trees in boosters for tree in trees):
            roots.append(len(nodes))
            nodes += self.booster_tree(splits, len(nodes))
        return Boosters(nodes, roots, [len(trees) for trees in boosters])

    def booster_tree(self, splits: list[dict[str, Any]], root: int) -> list[Split | Floats]:
        """Returns the nodes of a tree of a booster: its splits, then its leaves. root is its first position."""
        nodes: list[Split | Floats] = []
        leaves: list[Split | Floats] = []
        for split in splits:
            sides = {}
            for side in ("yes", "no"):
                to = split[side]
                if isinstance(to, list):
                    leaves.append(np.array(to, dtype=float))
                    to = len(splits) + len(leaves) - 1
                sides[side] = root + to
            feature = self.positions[split["feature"]]
            missing = sides["yes" if split.get("missing") else "no"]
            if "ge" in split:
                nodes.append(Split(feature, missing, sides["yes"], sides["no"], low=float(split["ge"])))
            else:
                codes = self.features[feature].codes
                values = split["in"] if "in" in split else [split["is"]]
                cases = {int(codes[value]): sides["yes"] for value in values}
                nodes.append(Split(feature, missing, no=sides["no"], cases=cases))
        return nodes + leaves

    def model(self, model: dict[str, Any]) -> LeafModel:
        """Returns the model of a leaf."""
        terms = [
            Term(
                feature=self.positions[term["feature"]],
                at=np.array(term["at"], dtype=float),
                values=np.array(term["values"], dtype=float),
                missing=np.array(term["missing"], dtype=float),
            )
            for term in model["terms"]
        ]
        return LeafModel(np.array(model["intercept"], dtype=float), terms, model.get("booster"))
