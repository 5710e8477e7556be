"""The content of tree.json: versions 1 (plain leaves), 2 (leaf models), 3 (boosters), 4 (a threshold)."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

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
    presence: Booleans
    """Whether each node only asks if there is a value that somebody may not have ordered: it is no test, shape (m,)."""
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
    """Reads a tree.json. Raises ValueError if it is not one, or damaged."""
    try:
        return _document(json.loads(encoded))
    except (AttributeError, IndexError, KeyError, StopIteration, TypeError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _document(document: dict[str, Any]) -> Document:
    name, version = document.get("format"), document.get("version")
    if name != "espalier/tree" or version not in (1, 2, 3, 4):
        raise ValueError(f'format {name!r} version {version}: want "espalier/tree" version 1 to 4')
    label, nodes = document["label"], document["nodes"]
    decoder = _Decoder(document)
    tests = [decoder.test(number, node, len(nodes)) for number, node in enumerate(nodes)]
    prices = np.array([_billed(node["test"]) if "test" in node else 0 for node in nodes], dtype=float)
    depths, costs = np.zeros(len(nodes), dtype=np.int64), np.zeros(len(nodes))
    presence = np.array([decoder.presence(node) for node in nodes])
    _check_presence(document, tests, presence, prices)
    for at, node in enumerate(nodes):
        for branch in node.get("branches", ()):
            depths[branch["child"]] = depths[at] + (not presence[at])
            costs[branch["child"]] = costs[at] + prices[at]
    numbers = {name: k for k, name in enumerate(label["classes"])}
    factors = _factors(document) if "priors" in label else None
    models = {at: decoder.model(node["model"]) for at, node in enumerate(nodes) if "model" in node}
    boosters = decoder.boosters(document.get("boosters", ()))
    return Document(
        label=label["column"],
        classes=np.array(label["classes"]),
        cost_unit=document["algorithm"].get("cost_unit", ""),
        features=decoder.features,
        tests=tests,
        splits=Splits(tests),
        presence=presence,
        prices=prices,
        depths=depths,
        costs=costs,
        predicted=np.array([numbers[node["class"]] for node in nodes], dtype=np.int64),
        probabilities=np.array([node["probabilities"] for node in nodes], dtype=float),
        at_least=lower_bounds(nodes, depths, presence, len(decoder.features), factors),
        models=LeafModels(models, boosters, len(nodes)) if models else None,
        factors=factors,
        error_costs=np.array(label["error_costs"], dtype=float) if "error_costs" in label else None,
        threshold=_threshold(label, numbers),
    )


def _threshold(label: dict[str, Any], numbers: dict[str, int]) -> tuple[int, float] | None:
    decision = label.get("decision", {})
    if "threshold" not in decision:
        return None
    return numbers[decision["positive"]], float(decision["threshold"])


def _check_presence(document: dict[str, Any], tests: list[Split | None], presence: Booleans, prices: Floats) -> None:
    """Checks absent, and that presence tests are free and lead to a leaf, and to another test of their feature."""
    for feature in document["features"]:
        absent = feature.get("absent")
        if absent not in (None, "", "unordered"):
            raise ValueError(f'feature {feature["name"]!r}: absent {absent!r}: want "unordered" or none')
    for at, (node, test) in enumerate(zip(document["nodes"], tests)):
        if test is None or not presence[at]:
            continue
        what = f"node {at}: the test for missing values of {node['test']['feature']!r}, which is unordered,"
        if prices[at] != 0:
            raise ValueError(f"{what} is billed at {prices[at]}: want 0")
        keys = "missing", "not_missing", "another branch"
        branches = [(bool(b["when"].get(key)), bool(b.get("missing"))) for key, b in zip(keys, node["branches"])]
        if branches != [(True, True), (True, False)]:
            raise ValueError(f"{what} has other branches than one of missing values, then one of other values")
        below = tests[test.no]
        if tests[test.missing] or not below or below.feature != test.feature or presence[test.no]:
            raise ValueError(f"{what} leads to other nodes than a leaf and another test of the feature")


def _billed(test: dict[str, Any]) -> float:
    return float(test.get("billed", test["cost"]))


def _factors(document: dict[str, Any]) -> Floats:
    """Returns each class's prior over its share of the training weight; 0 without training rows."""
    root = document["nodes"][0]
    counts = root["raw_class_weights"]
    if document["algorithm"]["leaf_estimate"] == "majority":
        counts = root.get("majority_class_weights", root["class_weights"])
    weights = np.array(counts, dtype=float)
    priors = np.array(document["label"]["priors"], dtype=float)
    factors = np.zeros(len(priors))
    np.divide(priors, weights / weights.sum(), out=factors, where=weights > 0)
    return factors


class _Decoder:
    """Decodes the parts of a document that name features."""

    def __init__(self, document: dict[str, Any]) -> None:
        tested = {node["test"]["feature"] for node in document["nodes"] if "test" in node}
        self.features = tuple(Feature(f) for f in document["features"] if f["name"] in tested)
        self.positions = {feature.name: i for i, feature in enumerate(self.features)}

    def test(self, number: int, node: dict[str, Any], nodes: int) -> Split | None:
        """Returns the test of a node; None if it is a leaf."""
        if node["id"] != number:
            raise ValueError(f"node {number} has the id {node['id']}")
        if "test" not in node:
            return None
        branches = node["branches"]
        children = [branch["child"] for branch in branches]
        if not all(number < child < nodes for child in children):
            raise ValueError(f"node {number}: the children {children}: want later nodes")
        feature = self.positions[node["test"]["feature"]]
        missing = next(branch["child"] for branch in branches if branch.get("missing"))
        if node["test"]["kind"] != "multiway":
            if node["test"]["kind"] == "in":
                return self.members(feature, missing, branches)
            low, high = self.bounds(feature, branches[0]["when"])
            return Split(feature, missing, yes=children[0], no=children[1], low=low, high=high)
        cases = {
            int(self.bounds(feature, branch["when"])[0]): branch["child"]
            for branch in branches
            if "missing" not in branch["when"]
        }
        other = next(branch["child"] for branch in branches if branch.get("other"))
        return Split(feature, missing, no=other, cases=cases)

    def presence(self, node: dict[str, Any]) -> bool:
        """Reports whether a node is the test for missing values of a feature whose absent values nobody ordered."""
        test = node.get("test")
        return (
            test is not None and test["kind"] == "missing" and self.features[self.positions[test["feature"]]].unordered
        )

    def members(self, feature: int, missing: int, branches: list[dict[str, Any]]) -> Split:
        """Returns a test for a set of values: its cases are the values that take another branch than unlisted ones."""
        yes, no = (branch["child"] for branch in branches)
        codes = {value: code for code, value in enumerate(self.features[feature].values)}
        members = {codes[value] for value in branches[0]["when"]["in"]}
        if branches[0].get("other"):
            return Split(feature, missing, no=yes, cases=dict.fromkeys(set(codes.values()) - members, no))
        return Split(feature, missing, no=no, cases=dict.fromkeys(members, yes))

    def bounds(self, feature: int, when: dict[str, Any]) -> tuple[float, float]:
        """Returns the bounds of a branch's condition, as Split has them."""
        if "in" in when:
            code = float(self.features[feature].values.index(when["in"][0]))
            return code, code + 1
        if "other" in when:
            return self.features[feature].unlisted, math.nan
        if "missing" in when:
            return math.nan, math.nan
        if "ge" in when or "lt" in when or "not_missing" in when:
            return float(when.get("ge", -math.inf)), float(when.get("lt", math.nan))
        raise ValueError(f"feature {self.features[feature].name!r}: the condition {when} is not known")

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
        for number, split in enumerate(splits):
            sides = {}
            for side in ("yes", "no"):
                to = split[side]
                if isinstance(to, list):
                    leaves.append(np.array(to, dtype=float))
                    to = len(splits) + len(leaves) - 1
                elif not number < to < len(splits):
                    raise ValueError(f"split {number} of a booster leads to {to}: want a later split")
                sides[side] = root + to
            feature = self.positions[split["feature"]]
            low, high = self.bounds(feature, {"in": [split["is"]]} if "is" in split else {"ge": split["ge"]})
            missing = sides["yes" if split.get("missing") else "no"]
            nodes.append(Split(feature, missing, sides["yes"], sides["no"], low, high))
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
