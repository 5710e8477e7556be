"""Settings with Python values, as flags of the program."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .program import text

_PAIRS = {"class_weights": ("class", "weight"), "priors": ("class", "prior")}
_ONE_BY_ONE = ("ordered", "cuts")  # a flag for each column


def flags(settings: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """Returns settings as flags that espalier.command takes. Lists of prices become files of the folder.

    The settings have the names of flags. Mappings are

        costs={"age": 0, "ct": 120}, or for each value {"doctor": {"yes": 3, "no": 1}}
        groups={"blood": (4, ["crp", "hb"])}: the price of a group, paid once, and its features
        error_costs={("ill", "healthy"): 100}: by actual and predicted class
        class_weights={"ill": 10}, priors={"ill": 0.01, "healthy": 0.99}
        monotone={"age": 1, "distance": -1}, ordered={"size": ["low", "high"]}, cuts={"age": [18, 65]}
        absent={"ct": "unordered"}, min_sensitivity={"ill": 0.95}
        max_cost={"": 20, "minutes": 30}: limits of the costs, and in further currencies of a CSV of costs

    and other values are as the program takes them, such as the path of a CSV of costs.
    """
    taken = {name: value for name, value in settings.items() if value is not None}
    for name in ("costs", "groups", "error_costs", *_PAIRS):
        if hasattr(taken.get(name), "to_dict"):  # a Series
            taken[name] = taken[name].to_dict()
        if not isinstance(taken.get(name, ""), (str, os.PathLike, Mapping)):
            raise ValueError(f"{name}={taken[name]!r}: want a mapping, or the path of a CSV file")
    groups = taken.pop("groups", {})
    if groups or isinstance(taken.get("costs"), Mapping):
        lines = _prices(taken.get("costs", {}), groups)
        taken["costs"] = _written(os.path.join(folder, "costs.csv"), lines)
    for name, value in taken.items():
        if not isinstance(value, Mapping) or name in _ONE_BY_ONE:
            continue
        path = os.path.join(folder, name + ".csv")
        if name in _PAIRS:
            taken[name] = _written(path, [_PAIRS[name], *value.items()])
        elif name == "error_costs":
            if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
                raise ValueError(f"error_costs={value!r}: want costs by pairs (actual, predicted)")
            lines = [(actual, predicted, cost) for (actual, predicted), cost in value.items()]
            taken[name] = _written(path, [("actual", "predicted", "cost"), *lines])
        elif name == "monotone":
            taken[name] = [f"{text(key)}={int(sign):+d}" for key, sign in value.items() if sign]
        else:
            pairs = [f"{text(key)}={text(item)}" if key else text(item) for key, item in value.items()]
            if name.startswith("min_") and len(pairs) != 1:
                raise ValueError(f"{name}={value!r}: want the share of one class")
            taken[name] = pairs[0] if name.startswith("min_") else pairs
    return taken


def _prices(costs: Any, groups: Mapping[str, tuple[float, Iterable[str]]]) -> list[tuple[Any, ...]]:
    """Returns the lines of a list of prices."""
    if not isinstance(costs, Mapping) or not isinstance(groups, Mapping):
        raise ValueError("costs and groups: want a mapping from features to prices, and one from groups to prices and features")
    if any(isinstance(price, Mapping) for price in costs.values()):
        if groups or not all(isinstance(price, Mapping) for price in costs.values()):
            raise ValueError("costs has prices of values: want one for each value of each feature, and no groups")
        values = [(feature, value, cost) for feature, prices in costs.items() for value, cost in prices.items()]
        return [("feature", "value", "cost"), *values]
    group: dict[str, tuple[str, float]] = {}
    for name, priced in groups.items():
        if not isinstance(priced, Sequence) or len(priced) != 2 or isinstance(priced[1], str):
            raise ValueError(f"groups: {name!r} is {priced!r}: want a price and a list of features")
        price, features = priced
        for feature in features:
            if feature in group:
                raise ValueError(f"groups: the feature {feature!r} is in {group[feature][0]!r} and {name!r}: want one")
            group[feature] = name, price
    named = dict.fromkeys([*costs, *group])
    return [("feature", "cost", "group", "group_cost")] + [
        (feature, costs.get(feature, 1), *group.get(feature, ("", ""))) for feature in named
    ]


def _written(path: str, lines: Iterable[Iterable[Any]]) -> str:
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([text(cell) for cell in line] for line in lines)
    return path
