"""What a tree.json may be: the forms of its members, and the rules that hold among them.

They are those of the Go package induce/tree: what its Decode refuses, read refuses, and the other way round. JSON is
read as Go reads it: null is an absent member, or an element of 0, an empty text or an empty list; the case of the
letters of a name does not count, except at the top; of a repeated name the last value counts; unknown names do not.
"""

from __future__ import annotations

import codecs
import collections
import itertools
import json
import operator
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .leafmodel import decide
from .predictions import Floats

_Node = dict[str, Any]


class _Repeated(dict[str, Any]):
    """An object in which a name is there twice."""

    pairs: list[tuple[str, Any]]


@dataclass(frozen=True, kw_only=True)
class _Form:
    """What a value may be."""

    optional: bool = False
    """A pointer in Go: null takes away the value that a repeated name had before."""
    raw: bool = False
    """Kept as bytes in Go: of a repeated name only the last value needs this form."""

    def zero(self) -> Any:
        """Returns the value of null and, where the decoder needs one, of an absent member."""
        raise NotImplementedError

    def check(self, values: Sequence[Any], types: set[type], what: str, bounded: bool = True) -> bool:
        """Refuses values, none of which is null, and whose types are given, by what they are.

        Values that are not bounded only need the type. Returns whether some whole number has to become a float.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class _Any(_Form):
    """Any value."""

    def zero(self) -> Any:
        return None

    def check(self, values: Sequence[Any], types: set[type], what: str, bounded: bool = True) -> bool:
        return False


@dataclass(frozen=True)
class _Text(_Form):
    """A text or, with names, one of them."""

    names: tuple[str, ...] = ()

    def zero(self) -> str:
        return ""

    def check(self, values: Sequence[Any], types: set[type], what: str, bounded: bool = True) -> bool:
        if types != {str} or bounded and self.names and not set(values) <= set(self.names):
            wrong = next(v for v in values if type(v) is not str or self.names and v not in self.names)
            raise ValueError(f"{what}: {_spelled(wrong)}: want {self.wanted()}")
        return False

    def wanted(self) -> str:
        named = " or ".join([f'"{name}"' for name in self.names if name] + ["none"] * ("" in self.names))
        return named or "a text"


@dataclass(frozen=True)
class _Bool(_Form):
    """true or false."""

    def zero(self) -> bool:
        return False

    def check(self, values: Sequence[Any], types: set[type], what: str, bounded: bool = True) -> bool:
        if types != {bool}:
            wrong = next(v for v in values if type(v) is not bool)
            raise ValueError(f"{what}: {_spelled(wrong)}: want true or false")
        return False


@dataclass(frozen=True)
class _Whole(_Form):
    """A whole number of so many bits, spelled without a point, from least on."""

    least: int | None = None
    bits: int = 63

    def zero(self) -> int:
        return 0

    def check(self, values: Sequence[Any], types: set[type], what: str, bounded: bool = True) -> bool:
        low = -(1 << self.bits) if self.least is None or not bounded else self.least
        high = (1 << self.bits) - 1
        if types != {int} or min(values) < low or max(values) > high:
            wrong = next(v for v in values if type(v) is not int or not low <= v <= high)
            raise ValueError(f"{what}: {_spelled(wrong)}: want a whole number" + f" from {low}" * (low > -(1 << 63)))
        return False


@dataclass(frozen=True)
class _Number(_Form):
    """A finite number, from least to most."""

    least: float = -sys.float_info.max
    most: float = sys.float_info.max

    def zero(self) -> float:
        return 0.0

    def check(self, values: Sequence[Any], types: set[type], what: str, bounded: bool = True) -> bool:
        of = self if bounded else _Number()
        if not types <= {int, float} or not (of.has(min(values)) and of.has(max(values))):
            wrong = next(v for v in values if type(v) not in (int, float) or not of.has(v))
            raise ValueError(f"{what}: {_spelled(wrong)}: want {of.wanted()}")
        return int in types and (max(values) > _EXACT or min(values) < -_EXACT)

    def has(self, x: float) -> bool:
        try:
            return self.least <= float(x) <= self.most
        except OverflowError:
            return False

    def wanted(self) -> str:
        return "a finite number" if self == _Number() else f"a number from {self.least:g} to {self.most:.9g}"


@dataclass(frozen=True)
class _List(_Form):
    """A list of elements; thing is what an element is called in messages."""

    element: _Form
    thing: str = ""
    nulls: bool = True
    """null may be an element."""

    def zero(self) -> list[Any]:
        return []

    def check(self, values: Sequence[Any], types: set[type], what: str, bounded: bool = True) -> bool:
        if types != {list}:
            raise ValueError(f"{what}: {_spelled(next(v for v in values if type(v) is not list))}: want a list")
        flat = list(itertools.chain.from_iterable(values))
        found = set(map(type, flat))
        if _NONE in found and self.nulls:
            for value in values:
                value[:] = [self.element.zero() if one is None else one for one in value]
            return self.check(values, types, what, bounded)
        if not flat:
            return False
        try:
            if isinstance(self.element, _Object):
                for at in range(0, len(flat), _CHUNK):
                    chunk = flat[at : at + _CHUNK]
                    self.element.check(chunk, set(map(type, chunk)), what, bounded)
            elif self.element.check(flat, found, what, bounded):
                for value in values:
                    value[:] = map(float, value)
        except ValueError:
            if self.thing:  # say which one
                for value in values:
                    for at, one in enumerate(value):
                        name = one.get("name", at) if isinstance(one, dict) else at
                        self.element.check([one], {type(one)}, f"{what}{self.thing} {name!r}", bounded)
            raise
        return False


@dataclass(frozen=True)
class _Object(_Form):
    """An object with members, of which those to fill in get the value of null if they are absent."""

    members: Mapping[str, _Form]
    fill: tuple[str, ...] = ()
    names: dict[str, str] = field(default_factory=dict, compare=False)
    """The names of the members by their spelling in small letters."""

    def __post_init__(self) -> None:
        self.names.update((name.lower(), name) for name in self.members)

    def zero(self) -> dict[str, Any]:
        return {name: self.members[name].zero() for name in self.fill}

    def check(self, values: Sequence[Any], types: set[type], what: str, bounded: bool = True) -> bool:
        if not all(issubclass(one, dict) for one in types):
            wrong = next(v for v in values if not isinstance(v, dict))
            raise ValueError(f"{what}: {_spelled(wrong)}: want an object")
        there: set[str] = set().union(*values)
        if _Repeated in types or any(self.names.get(_small(name), name) != name for name in there):
            for value in values:
                self.settle(value, what)
            there = set().union(*values)
        for name, form in self.members.items():
            if name not in there and name not in self.fill:
                continue
            try:
                column = list(map(operator.itemgetter(name), values))
            except KeyError:
                column = [value[name] for value in values if name in value]
            found = set(map(type, column))
            if _NONE in found:
                for value in values:
                    if name in value and value[name] is None:
                        del value[name]
                column = [one for one in column if one is not None]
                found.remove(_NONE)
            if name in self.fill and len(column) < len(values):
                for value in values:
                    if name not in value:
                        value[name] = form.zero()
                        column.append(value[name])
                found = set(map(type, column))
            if column and form.check(column, found, f"{what}: {name}", bounded):
                for value in values:
                    if name in value:
                        value[name] = float(value[name])
        return False

    def settle(self, value: dict[str, Any], what: str) -> None:
        """Leaves an object the members that Go reads from names in any case, and from repeated ones."""
        pairs = value.pairs if isinstance(value, _Repeated) else list(value.items())
        value.clear()
        for spelled, member in pairs:
            name = self.names.get(_small(spelled), "")
            if (form := self.members.get(name)) is None:
                continue
            old = value.get(name)
            if member is None:
                if form.optional or isinstance(form, (_List, _Any)):
                    value.pop(name, None)
                continue
            if isinstance(form, _Object) and type(member) in (dict, _Repeated) and old is not None:
                merged = _Repeated()
                merged.pairs = [*old.items(), *getattr(member, "pairs", member.items())]
                member = merged
            if isinstance(form, _List) and isinstance(member, list) and old and not form.raw:
                both = itertools.zip_longest(member, old[: len(member)])
                member = [before if one is None else one for one, before in both]
            if not form.raw:
                form.check([member], {type(member)}, f"{what}: {name}", bounded=False)
            value[name] = member


@dataclass(frozen=True)
class _Map(_Form):
    """An object with values under any names."""

    element: _Form

    def zero(self) -> dict[str, Any]:
        return {}

    def check(self, values: Sequence[Any], types: set[type], what: str, bounded: bool = True) -> bool:
        for value in values:
            if not isinstance(value, dict):
                raise ValueError(f"{what}: {_spelled(value)}: want an object")
            for name, one in getattr(value, "pairs", list(value.items())):
                if one is not None:
                    self.element.check([one], {type(one)}, f"{what}: {name}", bounded)
                elif value[name] is None:
                    value[name] = self.element.zero()
        return False


_NONE = type(None)
_CHUNK = 256  # objects that are checked at once, so that they stay in the cache
_EXACT = 1 << 53  # float64 holds each whole number up to it
_MAX_COST = float(np.finfo(np.float32).max)  # no sum of prices is infinite
_MAX_KNOT = sys.float_info.max / 2
_MAX_CODES = 1 << 16  # codes of a feature, and classes
_MAX_SPLITS = 31  # of a tree of a booster
_MAX_MEAN_DEPTH = 2000
_MOST_FURTHER = 3  # currencies beside the first one
_MOST_ASSUMPTIONS = 100  # of a certificate
_SUM_TOLERANCE = 1e-6  # of the probabilities of a node
_PRIOR_TOLERANCE = 1e-9

# The table of forms: the members of a tree.json, as file.go, modelfile.go and tree.go have them.

_TEXT, _BOOL, _WHOLE, _NUMBER = _Text(), _Bool(), _Whole(), _Number()
_COUNT, _PRICE, _SHARE = _Whole(0), _Number(0, _MAX_COST), _Number(0, 1)
_BOUND, _SCORE = _Number(optional=True), _Number(-_MAX_COST, _MAX_COST)
_TEXTS, _WHOLES, _NUMBERS, _SCORES = _List(_TEXT), _List(_WHOLE), _List(_NUMBER), _List(_SCORE)
_KIND = _Text(("threshold", "bin", "equals", "multiway", "other", "missing", "in"))

_LABEL = _Object(
    {
        "column": _TEXT,
        "classes": _TEXTS,
        "priors": _NUMBERS,
        "error_costs": _List(_List(_PRICE)),
        "decision": _Object({"positive": _TEXT, "threshold": _SHARE}, fill=("positive",), optional=True),
    },
    fill=("column", "classes"),
)
_FEATURE = _Object(
    {
        "name": _TEXT,
        "type": _Text(("numeric", "categorical")),
        "unit": _Text(("", "date", "time", "timestamp")),
        "zone": _Text(("", "utc", "local")),
        "cuts": _NUMBERS,
        "range": _NUMBERS,
        "values": _TEXTS,
        "ordered": _BOOL,
        "other": _COUNT,
        "missing": _COUNT,
        "absent": _Text(("", "unordered")),
        "cost": _PRICE,
        "group": _TEXT,
        "group_cost": _Number(0, _MAX_COST, optional=True),
        "further_costs": _Map(_PRICE),
        "group_further_costs": _Map(_PRICE),
    },
    fill=("name", "type", "cost"),
)
_ALGORITHM = _Object(
    dict.fromkeys("name tests binning leaf_estimate prune set_ups prices cost_unit objective teacher".split(), _TEXT)
    | dict.fromkeys("lambda theta smoothing alpha max_cost ridge".split(), _NUMBER)
    | dict.fromkeys("bins max_depth min_rows max_leaves path_features max_tests booster_trees".split(), _WHOLE)
    | dict.fromkeys("selected first forbid".split(), _TEXTS)
    | {
        "root_by_codes": _BOOL,
        "once": _BOOL,
        "seed": _Whole(0, bits=64),
        "repeat_cost": _Text(("", "free")),
        "classes": _Text(("", "rows")),
        "smoothing_by": _Text(("", "classes")),
        "monotone": _Map(_Whole(bits=7)),
        "max_further_costs": _Map(_NUMBER),
    }
)
_TRAINING = _Object(
    dict.fromkeys("rows objects weight relabelled_rows dropped_null_labels cut_leaves left_out_rows".split(), _WHOLE)
    | dict.fromkeys("weight_scale mean_weight".split(), _NUMBER)
    | {"weights": _TEXT, "class_weights": _NUMBERS}
)
_COMPLEXITY = _Object(
    dict.fromkeys("expected_cost expected_tests max_cost".split(), _NUMBER)
    | dict.fromkeys("nodes leaves depth".split(), _WHOLE)
    | {"further_costs": _List(_Object({"unit": _TEXT, "expected_cost": _Number(0), "max_cost": _Number(0)}, fill=("unit",)))}
)
_CERTIFICATE = _Object(
    dict.fromkeys("theta expected_cost lower_bound ratio confidence log_factor guarantee".split(), _NUMBER)
    | dict.fromkeys("sample cut_short steps budget".split(), _WHOLE)
    | {
        "pruned": _BOOL,
        "method": _TEXT,
        "sampled": _BOOL,
        "assumptions": _List(_Object({"name": _TEXT, "holds": _BOOL, "detail": _TEXT, "needed": _BOOL}), raw=True),
    },
    optional=True,
)
_SPLIT = _Object(
    {
        "feature": _TEXT,
        "ge": _BOUND,
        "is": _Text(optional=True),
        "in": _TEXTS,
        "missing": _BOOL,
        "yes": _Any(raw=True),
        "no": _Any(raw=True),
    },
    fill=("feature",),
)
_WHEN = _Object(
    dict.fromkeys("in not_in".split(), _TEXTS)
    | dict.fromkeys("ge lt not_ge not_lt".split(), _BOUND)
    | dict.fromkeys("other not_other missing not_missing".split(), _BOOL)
)
_RUNNER_UP = _Object(
    {"feature": _TEXT, "kind": _KIND, "when": _WHEN, "cost": _PRICE, "total": _NUMBER},
    fill=("kind", "when"),
    optional=True,
)
_TEST = _Object(
    {
        "feature": _TEXT,
        "kind": _KIND,
        "cost": _PRICE,
        "billed": _BOUND,
        "score": _Object(dict.fromkeys("balance efficiency discrimination total".split(), _NUMBER)),
        "trust": _SHARE,
        "runner_up": _RUNNER_UP,
    },
    fill=("feature", "kind", "cost"),
    optional=True,
)
_BRANCH = _Object(
    {"when": _WHEN, "child": _WHOLE, "missing": _BOOL, "other": _BOOL},
    fill=("when", "child"),
)
_TERM = _Object(
    {"feature": _TEXT, "at": _List(_Number(-_MAX_KNOT, _MAX_KNOT)), "values": _List(_SCORES), "missing": _SCORES},
    fill=("feature", "at", "values", "missing"),
)
_MODEL = _Object(
    {"intercept": _SCORES, "terms": _List(_TERM, ": term", raw=True), "booster": _Whole(optional=True)},
    fill=("intercept",),
    optional=True,
)
_NODE = _Object(
    {
        "id": _WHOLE,
        "rows": _COUNT,
        "objects": _COUNT,
        "weight": _COUNT,
        "class_weights": _WHOLES,
        "majority_class_weights": _WHOLES,
        "raw_class_weights": _WHOLES,
        "class": _TEXT,
        "probabilities": _List(_SHARE),
        "model": _MODEL,
        "test": _TEST,
        "branches": _List(_BRANCH, ": branch", raw=True),
    },
    fill=("id", "rows", "class_weights", "raw_class_weights", "class", "probabilities"),
)
_DOCUMENT: dict[str, _Form] = {
    "format": _Text(("espalier/tree",)),
    "version": _Whole(),
    "label": _LABEL,
    "features": _List(_FEATURE, "feature"),
    "algorithm": _ALGORITHM,
    "training": _TRAINING,
    "complexity": _COMPLEXITY,
    "certificate": _CERTIFICATE,
    "boosters": _List(_List(_List(_SPLIT, ": split"), ": tree", nulls=False), "booster", nulls=False),
    "nodes": _List(_NODE, "node"),
}


@dataclass(frozen=True)
class Content:
    """What a sound tree.json contains, with m nodes and k classes."""

    document: dict[str, Any]
    """Null is an absent member."""
    presence: list[bool]
    """Whether each node only asks if there is a value of a feature whose absent values nobody ordered, shape (m,)."""
    parents: list[int]
    """The parent of each node, which comes before it, shape (m,); -1 for the root."""
    depths: list[int]
    """The number of tests above each node, without those of presence, shape (m,)."""
    prices: list[float]
    """What is billed for the test of each node, shape (m,); 0 for leaves."""
    further: dict[str, list[float]]
    """The same in each further currency; empty if there are none."""
    weights: Floats
    """The weight of the training rows of each class at each node, shape (m, k)."""
    probabilities: Floats
    """The probabilities of each node, shape (m, k)."""


def read(encoded: bytes) -> Content:
    """Reads a tree.json. Raises ValueError if Go refuses it."""
    try:
        return _checked(_parsed(encoded))
    except RecursionError as error:
        raise ValueError("not a tree.json: lists or objects are nested too deeply") from error


def _checked(document: dict[str, Any]) -> Content:
    for name, form in _DOCUMENT.items():
        value = document.get(name)
        if value is None and not isinstance(form, _List):
            value = document[name] = form.zero()
        elif name not in document:
            if name == "boosters":
                continue
            raise ValueError(f"{name} are absent: want a list")
        if name == "complexity":
            _rename(value)
        place = "" if isinstance(form, _List) and isinstance(value, list) else name
        form.check([value], {type(value)}, place)
    units = [cost["unit"] for cost in document["complexity"].get("further_costs") or ()]
    _check_units(units, "complexity")
    if any(a >= b for a, b in zip(units, units[1:])):
        raise ValueError(f"complexity: further costs in {units}: want each currency once, in the order of their names")
    if len((document["certificate"] or {}).get("assumptions") or ()) > _MOST_ASSUMPTIONS:
        raise ValueError(f"certificate.assumptions: want at most {_MOST_ASSUMPTIONS}")
    _check_version(document)
    _check_label(document["label"])
    features = _check_features(document["features"], document["algorithm"])
    known = {unit for feature in features.values() for unit in feature.further}
    if features and not known.issuperset(units):
        raise ValueError(f"complexity: further costs in {units}: want currencies of the features, which have {sorted(known)}")
    weights, probabilities = _check_nodes(document, features)
    presence, parents, depths = _check_depths(document["nodes"], features)
    prices, further = _check_paths(document, features, presence, _check_boosters(document, features))
    return Content(document, presence, parents, depths, prices, further, weights, probabilities)


# JSON as Go reads it.


def value(encoded: bytes) -> Any:
    """Returns the value of a document. Texts have U+FFFD for bytes that are no UTF-8, and for half a surrogate."""
    text = encoded.decode(errors=_UTF8)
    if "\\u" in text:
        text = _ESCAPE.sub(lambda match: "\\ufffd" if match["half"] else match[0], text)
    return _DECODER.decode(text)


def members(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Returns the members of an object, with names as Go compares them. Of a repeated name the last value counts."""
    for name, member in document.pairs if isinstance(document, _Repeated) else document.items():
        yield _small(name), member


def _parsed(encoded: bytes) -> dict[str, Any]:
    """Returns the object of a tree.json."""
    document = value(encoded)
    if not isinstance(document, dict):
        raise ValueError(f'not a tree.json: {_spelled(document)}: want an object of format "espalier/tree"')
    if isinstance(document, _Repeated):
        name, _ = collections.Counter(name for name, _ in document.pairs).most_common(1)[0]
        raise ValueError(f"{_spelled(name)} is there twice")
    order = list(document)
    for later, earlier in (("boosters", "label features"), ("nodes", "label features boosters")):
        for name in earlier.split():
            if later in order and name in order and order.index(later) < order.index(name):
                raise ValueError(f"{later} come before {name}: want them after")
    return document


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        value = _Repeated(value)
        value.pairs = pairs
    return value


def _constant(spelled: str) -> Any:
    raise ValueError(f"not a tree.json: {spelled}: want a number of JSON")


def _replaced(error: UnicodeError) -> tuple[str, int]:
    """Replaces each byte that is no UTF-8, as Go does; Python replaces several at once."""
    assert isinstance(error, UnicodeDecodeError)
    return "\ufffd" * (error.end - error.start), error.end


def _rename(complexity: Any) -> None:
    """Gives the complexity of version 0.3 the names of this version, see Renamed in tree.go."""
    for earlier, name in (("expected_billed_cost", "expected_cost"), ("max_billed_cost", "max_cost")):
        if isinstance(complexity, dict) and complexity.keys() >= {earlier, name}:
            complexity[name] = complexity.pop(earlier)


def _small(name: str) -> str:
    """Returns a name as Go compares it."""
    return name.replace("\u017f", "s").lower()


def _spelled(value: Any) -> str:
    """Returns a value for messages."""
    spelled = json.dumps(value, ensure_ascii=False)
    return spelled if len(spelled) < 80 else spelled[:80] + "..."


_UTF8 = "espalier_utf8"
codecs.register_error(_UTF8, _replaced)
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)


# The rules among members.

_NUMERIC, _CATEGORICAL = ("numeric",), ("categorical",)
_KINDS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "threshold": (_NUMERIC, {"ge": "lt"}),
    "bin": (_NUMERIC, {"ge": "not_ge", "lt": "not_lt"}),
    "equals": (_CATEGORICAL, {"in": "not_in"}),
    "in": (_CATEGORICAL, {"in": "not_in"}),
    "other": (_CATEGORICAL, {"other": "not_other"}),
    "missing": (_NUMERIC + _CATEGORICAL, {"missing": "not_missing"}),
    "multiway": (_CATEGORICAL, {}),
}
"""By kind of test: the types of its features, and by condition of the yes branch that of the no branch."""


class _Feature:
    """What the rules need to know of a feature."""

    def __init__(self, feature: dict[str, Any]) -> None:
        self.name: str = feature["name"]
        self.type: str = feature["type"]
        self.cuts = set(map(float, feature.get("cuts", ())))
        self.values = set(feature.get("values", ()))
        self.unordered = feature.get("absent") == "unordered"
        self.group: str = feature.get("group", "")
        self.group_cost = float(feature.get("group_cost", 0))
        self.further = {unit: float(cost) for unit, cost in (feature.get("further_costs") or {}).items()}
        self.group_further = {unit: float(cost) for unit, cost in (feature.get("group_further_costs") or {}).items()}

    def has(self, kind: str, condition: list[Any]) -> bool:
        """Reports whether the condition of a yes branch names cuts, ascending, or listed values, each once."""
        if self.type == "numeric":
            if len(condition) == 1:
                return condition[0] in self.cuts
            bounds = [bound for bound in condition if bound is not None]
            return len(bounds) > 0 and self.cuts.issuperset(bounds) and bounds == sorted(set(bounds))
        listed = condition[0] or ()
        if not listed or kind == "equals" and len(listed) > 1:
            return False
        return len(set(listed)) == len(listed) and self.values.issuperset(listed)


def _check_version(document: dict[str, Any]) -> None:
    version = document["version"]
    if not 1 <= version <= 4:
        raise ValueError(f"version {version}: want 1 to 4")
    if "boosters" in document and version < 3:
        raise ValueError(f"boosters in a file of version {version}: want version 3")
    least = 4 if document["label"].get("decision", {}).get("threshold", 0) > 0 else 2
    for at, node in enumerate(document["nodes"] if version < least else ()):
        if "model" in node:
            raise ValueError(f"node {at}: a model in a file of version {version}: want version {least}")


def _check_label(label: dict[str, Any]) -> None:
    classes = label["classes"]
    if not 1 <= len(set(classes)) == len(classes) <= _MAX_CODES:
        raise ValueError(f"label: {len(classes)} classes: want 1 to {_MAX_CODES}, each once")
    if "priors" in label:
        priors = label["priors"]
        if len(priors) != len(classes) or not min(priors) > 0 or not abs(sum(priors) - 1) <= _PRIOR_TOLERANCE:
            raise ValueError(f"label: priors: want {len(classes)} numbers above 0 that add up to 1")
    if "decision" in label and label["decision"]["positive"] not in classes:
        positive = _spelled(label["decision"]["positive"])
        raise ValueError(f"label: decision: positive {positive}: want one of the classes")
    costs = label.get("error_costs")
    if costs is not None and {len(costs), *map(len, costs)} != {len(classes)}:
        raise ValueError(f"label: error_costs: want {len(classes)} rows of {len(classes)} costs")


def _check_units(units: Iterable[str], what: str) -> None:
    """Checks names of further currencies."""
    names = list(units)
    if len(names) > _MOST_FURTHER:
        raise ValueError(f"{what}: further costs in {len(names)} currencies: want at most {_MOST_FURTHER}")
    for name in names:
        if not 0 < len(name) <= 40 or name.strip(" ") != name or not all(c.isalnum() or c in " -_" for c in name):
            raise ValueError(f"{what}: the currency {name!r}: want 1 to 40 letters, digits, blanks, - or _")


def _check_further(feature: _Feature, units: set[str], of_group: dict[str, float]) -> None:
    """Checks prices in further currencies: all features have the same currencies, and a group has one price."""
    what = f"feature {feature.name!r}"
    _check_units(feature.further, what)
    if set(feature.further) != units or not units.issuperset(feature.group_further):
        raise ValueError(f"{what}: further_costs in {sorted(feature.further)}: want the currencies of all features")
    if not feature.group and feature.group_further or of_group != feature.group_further:
        raise ValueError(f"{what}: group_further_costs {feature.group_further}: want one price for all of a group")


def _check_features(features: list[dict[str, Any]], algorithm: dict[str, Any]) -> dict[str, _Feature]:
    """Returns the features by name."""
    known: dict[str, _Feature] = {}
    prices = {"": 0.0}
    further: dict[str, dict[str, float]] = {}
    forbidden = set(algorithm.get("forbid", ()))
    for document in features:
        feature = _Feature(document)
        what = f"feature {feature.name!r}"
        numeric = feature.type == "numeric"
        cuts, values = [float(x) for x in document.get("cuts", ())], document.get("values", ())
        if feature.name in known or (len(cuts) if numeric else len(values)) + 2 > _MAX_CODES:
            raise ValueError(f"{what}: listed twice, or with more than {_MAX_CODES} codes")
        known[feature.name] = feature
        if document.get("zone") and document.get("unit") != "timestamp":
            raise ValueError(f"{what}: zone {document['zone']!r}: want one of timestamps only")
        if document.get("ordered") and numeric:
            raise ValueError(f"{what}: ordered and numeric: want a categorical feature")
        if (ends := document.get("range")) and (len(ends) != 2 or ends[0] > ends[1] or not numeric):
            raise ValueError(f"{what}: range {ends}: want the least and the greatest number of a numeric feature")
        if any(low >= high for low, high in zip(cuts, cuts[1:])):
            raise ValueError(f"{what}: cuts must increase")
        if len(feature.values) < len(values):
            raise ValueError(f"{what}: a value is listed twice")
        if prices.setdefault(feature.group, feature.group_cost) != feature.group_cost:
            raise ValueError(
                f"{what}: group_cost {feature.group_cost}: want {prices[feature.group]}, "
                + ("as for other features of its group" if feature.group else "as it has no group")
            )
        first = next(iter(known.values()))
        _check_further(feature, set(first.further), further.setdefault(feature.group, feature.group_further))
        if feature.name in forbidden:
            raise ValueError(f"algorithm: the feature {feature.name!r} is forbidden")
    return known


def _check_nodes(document: dict[str, Any], features: dict[str, _Feature]) -> tuple[Floats, Floats]:
    """Checks each node by itself. Returns the weights and the probabilities of the nodes, see Content."""
    label, nodes = document["label"], document["nodes"]
    if not nodes:
        raise ValueError("nodes: none: want at least one")
    monotone = document["algorithm"].get("monotone", {})
    if monotone and (len(label["classes"]) > 2 or not {1, -1}.issuperset(monotone.values())):
        raise ValueError(f"algorithm: monotone {monotone}: want 1 or -1 by feature, of two classes")
    counted = _check_counts(label, nodes)
    for at, node in enumerate(nodes):
        try:
            if node["id"] != at:
                raise ValueError(f"the id {node['id']}: want {at}")
            branches = node.get("branches", ())
            if "test" not in node:
                if branches:
                    raise ValueError("branches without a test")
                continue
            if "model" in node:
                raise ValueError("a model and a test: want models of leaves only")
            test = node["test"]
            if test.get("trust") and test["kind"] != "in":
                raise ValueError(f"trust {test['trust']}: want it only of a test of kind in")
            if "runner_up" in test:
                _check_runner_up(test["runner_up"])
            if test["feature"] not in features:
                raise ValueError(f"feature {test['feature']!r}: want one of the features")
            _check_test(features[test["feature"]], test["kind"], branches)
        except ValueError as error:
            raise ValueError(f"node {at}: {error}") from None
    return counted


def _check_counts(label: dict[str, Any], nodes: list[_Node]) -> tuple[Floats, Floats]:
    """Checks weights, probabilities and classes. Returns the weights and the probabilities, see Content."""
    classes = label["classes"]
    predicted = []
    lists: dict[str, list[list[float]]] = {"class_weights": [], "raw_class_weights": [], "probabilities": []}
    counts, raw, probabilities = lists.values()
    for node in nodes:
        predicted.append(node["class"])
        counts.append(node["majority_class_weights"] if "majority_class_weights" in node else node["class_weights"])
        raw.append(node["raw_class_weights"])
        probabilities.append(node["probabilities"])
    for name, of in lists.items():
        if set(map(len, of)) != {len(classes)}:
            at = next(at for at, one in enumerate(of) if len(one) != len(classes))
            raise ValueError(f"node {at}: {name} of {len(of[at])} classes: want {len(classes)}")
    weights, p = np.array(raw, dtype=float), np.array(probabilities, dtype=float)
    for name, least in (("class_weights", min(map(min, counts))), ("raw_class_weights", weights.min())):
        if least < 0:
            at = next(at for at, one in enumerate(lists[name]) if min(one) < 0)
            raise ValueError(f"node {at}: {name} {lists[name][at]}: want numbers from 0")
    sums = p.sum(axis=1)
    for at in np.flatnonzero((sums != 0) & ~(abs(sums - 1) <= _SUM_TOLERANCE)).tolist():
        raise ValueError(f"node {at}: probabilities add up to {sums[at]}: want 1")
    for name in set(predicted) - set(classes):
        raise ValueError(f"node {predicted.index(name)}: class {_spelled(name)}: want one of the classes")
    _check_decisions(label, predicted, p)
    return weights, p


def _check_decisions(label: dict[str, Any], predicted: list[str], p: Floats) -> None:
    """Checks that classes follow from priors, costs of errors and the threshold, and the root from the priors."""
    decision = label.get("decision", {})
    threshold = decision.get("threshold", 0)
    if "priors" in label or "error_costs" in label or threshold > 0:
        costs = np.array(label["error_costs"], dtype=float) if "error_costs" in label else None
        rule = (label["classes"].index(decision["positive"]), threshold) if threshold > 0 else None
        for at, number in enumerate(decide(p, costs, rule).tolist()):
            if predicted[at] != label["classes"][number]:
                what = f"node {at}: class {_spelled(predicted[at])}"
                raise ValueError(f"{what} does not follow from its probabilities and the decision rule in label")
    if "priors" in label:
        priors = np.array(label["priors"], dtype=float)
        seen = p[0] > 0
        if not (abs(p[0] * priors[seen].sum() - priors)[seen] <= _PRIOR_TOLERANCE).all():
            raise ValueError("node 0: its probabilities are not label.priors")


def _check_runner_up(other: dict[str, Any]) -> None:
    kind, when = other["kind"], other["when"]
    if (
        kind == "threshold" and "ge" not in when
        or kind == "bin" and ("ge" not in when and "lt" not in when) != when.get("not_missing", False)
        or kind == "equals" and len(when.get("in", ())) != 1
        or kind == "in" and not when.get("in")
    ):
        raise ValueError(f"runner_up: the condition {_spelled(when)} does not fit a test of kind {kind}")


def _check_test(feature: _Feature, kind: str, branches: Sequence[dict[str, Any]]) -> None:
    """Checks that the branches of a node are the outcomes of its test, and that each value takes its own."""
    types, negated = _KINDS[kind]
    if feature.type not in types:
        raise ValueError(f"a test of kind {kind} on {feature.name!r}, which is {feature.type}")
    missing = [branch.get("missing", False) for branch in branches]
    other = [branch.get("other", False) for branch in branches] if feature.type == "categorical" else []
    if kind == "multiway":
        wrong = _wrong_case(feature, branches)
        right = sum(missing) == 1 == sum(other)
    elif len(branches) != 2:
        raise ValueError(f"{len(branches)} branches: want 2")
    else:
        yes, no = branches[0]["when"], branches[1]["when"]
        wrong = None if _fits(feature, kind, negated, yes, no) else yes
        right = missing == [kind == "missing", kind != "missing"]
        if kind == "in":
            right = right and sum(other) == 1
        elif feature.type == "categorical":
            right = right and other == [kind == "other", kind != "other"]
    if wrong is not None:
        raise ValueError(f"the condition {_spelled(wrong)} does not fit a test of kind {kind} on {feature.name!r}")
    if not right:
        raise ValueError(f"missing or unlisted values of {feature.name!r} take no branch, several or the wrong one")


def _fits(feature: _Feature, kind: str, negated: dict[str, str], yes: dict[str, Any], no: dict[str, Any]) -> bool:
    """Reports whether conditions of the yes and the no branch fit a test with two outcomes."""
    condition: list[Any] = [yes.get(name) for name in negated]
    opposite: list[Any] = [no.get(name) for name in negated.values()]
    if kind in ("other", "missing"):
        return condition == [True] == opposite
    if condition == [None, None]:  # a bin of all numbers
        return condition == opposite and yes.get("not_missing", False) and no.get("missing", False)
    if kind == "in":  # in any order
        return feature.has(kind, condition) and sorted(condition[0]) == sorted(opposite[0] or ())
    return condition == opposite and feature.has(kind, condition)


def _wrong_case(feature: _Feature, branches: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Returns a condition that is no case of a multiway test, or that another branch has; None if there is none."""
    seen = set()
    for branch in branches:
        when: dict[str, Any] = branch["when"]
        listed = when.get("in", ())
        if when.get("missing"):
            case, fits = ("missing", ""), branch.get("missing", False)
        elif when.get("other"):
            case, fits = ("other", ""), branch.get("other", False)
        else:
            case, fits = ("in", "".join(listed)), len(listed) == 1 and listed[0] in feature.values
        if not fits or case in seen:
            return when
        seen.add(case)
    return None


def _check_depths(nodes: list[_Node], features: dict[str, _Feature]) -> tuple[list[bool], list[int], list[int]]:
    """Checks that the nodes are a single tree, and its depth. Returns presence, parents and depths, see Content."""
    unordered = {feature.name for feature in features.values() if feature.unordered}
    presence = []
    parents, depths = [-1] * len(nodes), [0] * len(nodes)
    for at, node in enumerate(nodes):
        test = node.get("test")
        presence.append(test is not None and test["kind"] == "missing" and test["feature"] in unordered)
        below = depths[at] + (not presence[at])
        for branch in node.get("branches", ()):
            child = branch["child"]
            if not at < child < len(nodes):
                raise ValueError(f"node {at}: the child {child}: want later nodes, of the {len(nodes)} there are")
            if parents[child] >= 0:
                raise ValueError(f"node {child} has 2 parents: want 1")
            parents[child] = at
            depths[child] = below
    if -1 in parents[1:]:
        raise ValueError(f"node {parents.index(-1, 1)} has 0 parents: want 1")
    if (mean := sum(depths) // len(nodes)) > _MAX_MEAN_DEPTH:
        raise ValueError(f"nodes are {mean} tests deep on average: want at most {_MAX_MEAN_DEPTH}")
    return presence, parents, depths


def _check_boosters(document: dict[str, Any], features: dict[str, _Feature]) -> list[set[str]]:
    """Checks the boosters by themselves. Returns the features of each."""
    width = _scores(document)
    boosters = document.get("boosters", ())
    used = {node["model"].get("booster") for node in document["nodes"] if "model" in node}
    for number, trees in enumerate(boosters):
        what = f"booster {number}"
        if not trees:
            raise ValueError(f"{what}: no trees: want at least one")
        for at, splits in enumerate(trees):
            try:
                _check_booster_tree(splits, features, width)
            except ValueError as error:
                raise ValueError(f"{what}: tree {at}: {error}") from None
        if number not in used:
            raise ValueError(f"{what}: no leaf uses it: want boosters of leaves only")
    return [{split["feature"] for splits in trees for split in splits} for trees in boosters]


def _check_booster_tree(splits: list[dict[str, Any]], features: dict[str, _Feature], width: int) -> None:
    if not 1 <= len(splits) <= _MAX_SPLITS:
        raise ValueError(f"{len(splits)} splits: want 1 to {_MAX_SPLITS}")
    parents = [0] * len(splits)
    for at, split in enumerate(splits):
        what = f"split {at}: "
        if (feature := features.get(split["feature"])) is None:
            raise ValueError(f"{what}feature {split['feature']!r}: want one of the features")
        listed = [split["is"]] if "is" in split else split.get("in", [])
        if feature.type == "numeric" and ("is" in split or "in" in split or split.get("ge") not in feature.cuts):
            raise ValueError(f"{what}feature {feature.name!r}: want ge, one of the feature's cuts")
        if feature.type != "numeric" and ("ge" in split or not listed or "is" in split and "in" in split):
            raise ValueError(f"{what}feature {feature.name!r}: want is or in: one of the feature's values, or a list of some")
        if len(set(listed)) < len(listed) or not feature.values.issuperset(listed):
            raise ValueError(f"{what}feature {feature.name!r}: want values of the feature, each once")
        for side in "yes", "no":
            to = split.get(side)
            if isinstance(to, list):
                _SCORES.check([to], {list}, what + side)
                _check_width(what + side, to, width)
            elif type(to) is not int or not at < to < len(splits):
                raise ValueError(f"{what}{side}: {_spelled(to)}: want a later split, or a list of numbers")
            else:
                parents[to] += 1
    for at, count in enumerate(parents):
        if at > 0 and count != 1:
            raise ValueError(f"split {at} has {count} parents: want 1")


def _check_model(
    model: dict[str, Any], features: dict[str, _Feature], width: int, boosters: list[set[str]]
) -> set[str]:
    """Checks the model of a leaf by itself. Returns its features."""
    _check_width("intercept", model["intercept"], width)
    if "terms" not in model:
        raise ValueError("no terms: want a list")
    used: set[str] = set()
    for term in model["terms"]:
        what = f"term of {term['feature']!r}: "
        if term["feature"] in used or term["feature"] not in features or features[term["feature"]].type != "numeric":
            raise ValueError(f"{what}want one term for a numeric feature")
        used.add(term["feature"])
        at, values = [float(x) for x in term["at"]], term["values"]
        if not at or len(at) != len(values):
            raise ValueError(f"{what}{len(at)} knots in at, {len(values)} entries in values: want as many, and some")
        if any(low >= high for low, high in zip(at, at[1:])):
            raise ValueError(f"{what}at: {at}: want each knot above the one before")
        for scores in (*values, term["missing"]):
            _check_width(f"{what}values and missing", scores, width)
    booster = model.get("booster")
    if booster is not None and not 0 <= booster < len(boosters):
        raise ValueError(f"booster {booster}: want one of the {len(boosters)} of the file, counted from 0")
    return used if booster is None else used | boosters[booster]


def _scores(document: dict[str, Any]) -> int:
    """Returns how many scores models have."""
    classes = len(document["label"]["classes"])
    return 1 if classes == 2 else classes


def _check_width(what: str, scores: list[float], width: int) -> None:
    if len(scores) != width:
        raise ValueError(f"{what}: {len(scores)} numbers: want {width} (one for two classes, else one per class)")


def _check_paths(
    document: dict[str, Any], features: dict[str, _Feature], asks: list[bool], boosters: list[set[str]]
) -> tuple[list[float], dict[str, list[float]]]:
    """Checks what depends on the tests above a node or below it: presence tests (asks), bills and models.

    Returns the prices and those in further currencies, see Content.
    """
    nodes: list[_Node] = document["nodes"]
    for at in itertools.compress(range(len(nodes)), asks):
        name = nodes[at]["test"]["feature"]
        absent, below = (branch["child"] for branch in nodes[at]["branches"])
        if "test" in nodes[absent] or nodes[below].get("test", {}).get("feature") != name or asks[below]:
            raise ValueError(
                f"node {at}: the test for missing values of {name!r}, which is unordered, leads to other nodes than a "
                "leaf and another test of the feature"
            )
    prices = [0.0] * len(nodes)
    further = {unit: [0.0] * len(nodes) for feature in features.values() for unit in feature.further}
    free = document["algorithm"].get("repeat_cost") == "free"
    width = _scores(document)
    tested = dict.fromkeys(features, 0)  # the number of tests on the path
    paid = dict.fromkeys(features, 0)  # without presence tests
    set_up = dict.fromkeys((feature.group for feature in features.values()), 0)
    walked = free or bool(further) or any(set_up) or any("model" in node for node in nodes)  # else no test depends on others
    for at, change in _walk(nodes) if walked else zip(range(len(nodes)), itertools.repeat(1)):
        node = nodes[at]
        if "model" in node and change > 0:
            try:
                for name in _check_model(node["model"], features, width, boosters):
                    if not tested[name]:
                        raise ValueError(f"feature {name!r} is not tested on the leaf's path: want one that is")
            except ValueError as error:
                raise ValueError(f"node {at}: model: {error}") from None
        if "test" not in node:
            continue
        feature = features[node["test"]["feature"]]
        if change > 0:
            due = 0.0 if asks[at] else float(node["test"]["cost"])
            if feature.group and not asks[at] and not set_up[feature.group]:
                due += feature.group_cost
            billed = prices[at] = float(node["test"].get("billed", node["test"]["cost"]))
            if billed != due and not (free and billed == 0 and paid[feature.name]):
                what = "the test" if not asks[at] else "the test for missing values"
                of = f"{feature.name!r}, which is unordered," if asks[at] else repr(feature.name)
                raise ValueError(f"node {at}: {what} of {of} is billed at {billed}: want {due}")
            for unit, amounts in further.items():
                if not asks[at] and not (free and paid[feature.name]):
                    amounts[at] = feature.further[unit]
                    if feature.group and not set_up[feature.group]:
                        amounts[at] += feature.group_further.get(unit, 0.0)
        tested[feature.name] += change
        if not asks[at]:
            paid[feature.name] += change
            set_up[feature.group] += change
    return prices, further


def _walk(nodes: list[_Node]) -> Iterator[tuple[int, int]]:
    """Yields each node twice, depth first: with 1 before the nodes below it, and with -1 after them."""
    stack = [0]
    while stack:
        at = stack.pop()
        if at < 0:
            yield ~at, -1
            continue
        yield at, 1
        stack.append(~at)
        stack.extend([branch["child"] for branch in nodes[at].get("branches", ())])
