"""Forms of rows, errors, confidence and prices of groups."""

from __future__ import annotations

import copy
import datetime
import decimal
import hashlib
import json
import math
import pathlib
import shutil
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from espalier import Tree
from espalier.program import without_dashes

GOLDEN = pathlib.Path(__file__).parent / "golden"


def feature(name: str, **keys: Any) -> dict[str, Any]:
    return {"name": name, "type": "numeric", "cuts": [], "missing": 0, "cost": 1} | keys


def node(number: int, test: dict[str, Any] | None = None, *branches: dict[str, Any]) -> dict[str, Any]:
    """Returns a node whose probabilities and class follow from its number."""
    p = number / 10
    inner = {"test": {"cost": 1} | test, "branches": list(branches)} if test else {}
    weights = [number, 10 - number]
    counts = {"rows": 10, "class_weights": weights, "raw_class_weights": weights}
    return {"id": number, "class": "b" if p < 0.5 else "a", "probabilities": [p, 1 - p]} | counts | inner


def document(features: list[dict[str, Any]], nodes: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns a tree.json; the numbers that tests compare with are the cuts of their features."""
    label = {"column": "y", "classes": ["a", "b"]}
    for one in features:
        branches = [b for n in nodes if n.get("test", {}).get("feature") == one["name"] for b in n["branches"]]
        one["cuts"] = sorted({b["when"]["ge"] for b in branches if "ge" in b["when"]})
    return {
        "format": "espalier/tree",
        "version": 1,
        "label": label,
        "algorithm": {"cost_unit": "euros"},
        "features": features,
        "nodes": nodes,
    }


def tree_of(features: list[dict[str, Any]], nodes: list[dict[str, Any]]) -> Tree:
    return Tree(json.dumps(document(features, nodes)).encode())


def stump(of: dict[str, Any], when: dict[str, Any]) -> Tree:
    """Returns a tree of one test: node 1 if the condition holds, node 2 otherwise or without a value."""
    ((name, value),) = when.items()
    kind, negated = {"ge": ("threshold", "lt"), "in": ("equals", "not_in"), "other": ("other", "not_other")}[name]
    yes: dict[str, Any] = {"when": when, "child": 1, "other": name == "other"}
    no: dict[str, Any] = {"when": {negated: value}, "child": 2, "missing": True, "other": name == "in"}
    return tree_of([of], [node(0, {"feature": of["name"], "kind": kind}, yes, no), node(1), node(2)])


@pytest.mark.parametrize(
    ("values", "want"),
    [
        ([1, 30.5, None, math.nan, math.inf, -math.inf], [2, 1, 2, 2, 1, 2]),  # by hand, at least 30
        (np.array([1, 30], dtype=np.int8), [2, 1]),
        (np.array([29.9, 30, np.nan], dtype=np.float32), [2, 1, 2]),
        (pd.array([30, None], dtype="Int64"), [1, 2]),
        (pd.Series([30, 2], dtype="category"), [1, 2]),
        ([True, np.float64(31), np.int64(30)], [2, 1, 1]),
        ([pd.NA, pd.NaT, 2**53], [2, 2, 1]),
        (["30", "", "true", "NaN", "inf"], [1, 2, 2, 2, 1]),
        (np.array(["30", "29.5"]), [1, 2]),
    ],
)
def test_numbers(values: Any, want: list[int]) -> None:
    tree = stump(feature("x"), {"ge": 30})
    assert tree.apply({"x": values}).tolist() == want


def test_number_errors() -> None:
    tree = stump(feature("x"), {"ge": 30})
    for wrong in (
        ["x12"],
        np.array(["12 "]),
        ["1e999"],
        [[12]],
        [b"12"],
        [datetime.date(2026, 1, 1)],
        np.array(["2026-01-01"], "M8[D]"),
    ):
        with pytest.raises(TypeError, match="feature 'x'"):
            tree.predict({"x": wrong})
    with pytest.raises(TypeError, match="timedelta"):
        tree.predict({"x": np.array([1], "m8[s]")})
    for big in ([2**53 + 1], [str(2**53 + 1)], np.array([2**53 + 1])):
        with pytest.raises(ValueError, match="beyond 2\\^53"):
            tree.predict({"x": big})


@pytest.mark.parametrize(
    ("listed", "is_", "values", "want"),
    [  # by hand: the node of the branch for the value is 1
        (["a", "b"], "a", ["a", "b", "A", "", None], [1, 2, 2, 2, 2]),
        (["a", "b"], "a", np.array(["a", "b"]), [1, 2]),
        (["a", "b"], "a", pd.Series(["a", None], dtype="string"), [1, 2]),
        (["a", "b"], "a", pd.Series(["a", "b"], dtype="category"), [1, 2]),
        (["1", "01", "x"], "1", [1, 1.0, "1", "01", True, np.int8(1)], [1, 1, 1, 2, 2, 1]),
        (["1", "2"], "1", np.array([1.0, 2, np.nan, 3]), [1, 2, 2, 2]),
        (["1e3", "-0"], "1e3", [1000, 0.0, 1000.5], [1, 2, 2]),
        (["1e3", "-0"], "-0", [1000, 0.0, -0.0], [2, 1, 1]),
        (["false", "true"], "true", [True, 1, "true", False, np.bool_(True)], [1, 1, 1, 2, 1]),
        (["false", "true"], "true", np.array([True, False]), [1, 2]),
        (
            ["9007199254740993", "9007199254740992"],
            "9007199254740993",
            [2**53 + 1, 2**53, float(2**53)],
            [1, 2, 2],
        ),
        (["9007199254740993", "7"], "9007199254740993", np.array([2**53 + 1, 7]), [1, 2]),
        *[
            (["9007199254740993", "9007199254740992"], "9007199254740993", column, [1, 2, 2])
            for column in (
                pd.Series([2**53 + 1, 2**53, None], dtype="Int64"),
                pd.Series([2**53 + 1, 2**53, None], dtype="UInt64"),
                pd.Series([2**53 + 1, 2**53, None], dtype="int64[pyarrow]"),
                pd.array([2**53 + 1, 2**53, None], dtype="Int64"),
                pd.Series(pd.Categorical.from_codes([0, 1, -1], categories=[2**53 + 1, 2**53])),
                pa.array([2**53 + 1, 2**53, None]),
                pa.chunked_array([[2**53 + 1, 2**53], [None]], pa.uint64()),
                polars.Series([2**53 + 1, 2**53, None]),
                [decimal.Decimal(2**53 + 1), decimal.Decimal(2**53), decimal.Decimal("NaN")],
            )
        ],
    ],
)
def test_categories(listed: list[str], is_: str, values: Any, want: list[int]) -> None:
    of = feature("x", type="categorical", values=listed)
    assert stump(of, {"in": [is_]}).apply({"x": values}).tolist() == want


def test_lengths() -> None:
    tree = stump(feature("x"), {"ge": 0})
    for columns in ({"x": [1.0, 2.0], "y": ["u"]}, {"x": [], "y": ["u"]}):
        with pytest.raises(ValueError, match="the column 'y' has 1 values, and 'x' has"):
            tree.predict(columns)
    for one in (1.0, "1", np.array(1.0), {1.0}):
        with pytest.raises(TypeError, match="the column 'x' is .*: want a list of values"):
            tree.predict({"x": one})
    with pytest.raises(ValueError, match=r"feature 'x': a column of shape \(2, 2\): want one value for each row"):
        tree.predict({"x": np.zeros((2, 2))})


@pytest.mark.parametrize("kind", ["numeric", "categorical"])
@pytest.mark.parametrize(
    "value",
    [10**5000, decimal.Decimal("1e5000"), decimal.Decimal("sNaN"), [1.0], np.array([1, 2]), np.timedelta64(1, "D"), 1j],
    ids=lambda value: type(value).__name__,
)
def test_unusable_values(kind: str, value: Any) -> None:
    """Predictions and inquiries refuse a value with the name of the feature, also where Python names none."""
    tree = stump(feature("list", type=kind, values=["a"]), {"ge": 0} if kind == "numeric" else {"in": ["a"]})
    for refused in (lambda: tree.predict([{"list": value}]), lambda: tree.ask().give("list", value)):
        with pytest.raises(TypeError, match="^feature 'list': .*: want (numbers|texts), or no value$"):
            refused()


def test_huge_numbers() -> None:
    """A whole number beyond float64 is refused as a number, and another value as a category, as JSON rows in Go."""
    with pytest.raises(TypeError, match=r"^feature 'x': 10+\.\.\. \(401 characters\): want numbers, or no value$"):
        stump(feature("x"), {"ge": 0}).predict([{"x": 10**400}])
    tree = stump(feature("x", type="categorical", values=["a"]), {"in": ["a"]})
    assert tree.apply({"x": ["a", 10**400]}).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("text", "want"),  # by strconv.ParseFloat of Go
    [
        ("0x1p-2", 0.25),
        ("-0X_1.8_0P+1", -3),
        ("0x.8p1", 1),
        ("0x1p-2000", 0),
        ("1_000", 1000),
        ("Infinity", math.inf),
        ("NaN", math.nan),
        *[(text, None) for text in ("0x10", "0x1p2000", "0x1_p1", "0xp1", "-nan", "+NaN", "1e400", "1_.5", " 1", "１")],
    ],
)
def test_number_texts(text: str, want: float | None) -> None:
    numbers = stump(feature("x"), {"ge": 0}).document.features[0]
    if want is None:
        with pytest.raises(TypeError, match="feature 'x': the text .*: want numbers"):
            numbers.encode_one(text)
        return
    assert np.array_equal(numbers.encode_one(text), want, equal_nan=True)
    categories = stump(feature("x", type="categorical", values=[text]), {"in": [text]}).document.features[0]
    assert categories.encode([want]).tolist() == [0] or math.isnan(want)


def test_decimals() -> None:
    """As the program reads DECIMAL: without a scale each digit counts, with one the nearest float64."""
    tree = stump(feature("x"), {"ge": 0})
    assert tree.apply([{"x": decimal.Decimal("9007199254740993.00")}]).tolist() == [1]
    with pytest.raises(ValueError, match="feature 'x': 9007199254740993: a whole number beyond 2\\^53"):
        tree.apply([{"x": decimal.Decimal(2**53 + 1)}])


@pytest.mark.parametrize(
    "command",
    [
        "espalier show runs/a --figures",
        "espalier show /tmp/a,b(1)/run --figures",
        "espalier train --input 'a b, (c)/*.parquet' --label y --output NEW",
        "espalier show . --figures",
        "espalier VERB --help",
    ],
)
def test_commands(command: str) -> None:
    """A command stays as it is typed, and the flags around it become settings."""
    for text in ("{}: look by {}, or give {}", "{}: by `{}` or {}", "{}: look ({}), or {}", "{}; {}. Then {}", "{}\n{}\n{}"):
        said = without_dashes(text.format("--select best", command, "--alpha"))
        assert said == text.format("select best", command, "alpha")


def test_unlisted() -> None:
    tree = stump(feature("x", type="categorical", values=["a"]), {"other": True})
    assert tree.apply({"x": ["a", "b", "", None, 3]}).tolist() == [2, 1, 1, 2, 1]


@pytest.mark.parametrize(
    ("unit", "zone", "at", "yes", "no"),
    [  # counts by hand: 1 day, 1 minute, 1 day of microseconds
        ("date", "", 1, datetime.date(1970, 1, 2), datetime.date(1970, 1, 1)),
        ("date", "", 1, "1970-01-02", "1969-12-31"),
        ("date", "", 1, np.datetime64("1970-01-02T00:00:01"), np.datetime64("1970-01-01T23:59:59")),
        ("time", "", 60_000_000, datetime.time(0, 1), datetime.time(0, 0, 59, 999999)),
        ("time", "", 60_000_000, "00:01:00", "00:00:59"),
        ("timestamp", "utc", 86_400_000_000, datetime.datetime(1970, 1, 2), datetime.datetime(1970, 1, 1, 23)),
        ("timestamp", "utc", 86_400_000_000, "1970-01-02T01:00:00+01:00", "1970-01-01T23:59:59Z"),
        ("timestamp", "utc", 86_400_000_000, pd.Timestamp("1970-01-02 01:00", tz="Europe/Paris"), pd.NaT),
        ("timestamp", "local", 86_400_000_000, pd.Timestamp("1970-01-02"), np.datetime64("NaT")),
        ("timestamp", "", -1, datetime.datetime(1969, 12, 31, 23, 59, 59, 999999), pd.Timestamp("1969-12-31")),
    ],
)
def test_moments(unit: str, zone: str, at: int, yes: Any, no: Any) -> None:
    keys = {"unit": unit, "zone": zone} if zone else {"unit": unit}
    tree = stump(feature("x", **keys), {"ge": at})
    assert tree.apply({"x": [yes, no]}).tolist() == [1, 2]
    if not isinstance(yes, (str, datetime.time)):
        assert tree.apply(pd.DataFrame({"x": [yes, no]})).tolist() == [1, 2]


def test_moment_errors() -> None:
    zoned = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    tree = stump(feature("x", unit="timestamp", zone="local"), {"ge": 0})
    for wrong in ([zoned], pd.Series([zoned])):
        with pytest.raises(TypeError, match="want them without one"):
            tree.predict({"x": wrong})
    with pytest.raises(ValueError, match="want timestamps in ISO 8601"):
        tree.predict({"x": ["noon"]})
    with pytest.raises(TypeError, match="want timestamps"):
        tree.predict({"x": [datetime.time(1)]})
    for wrong in (20778, 20778.0, True, np.bool_(True), b"2026-11-21"):
        with pytest.raises(TypeError, match="want timestamps"):
            tree.predict({"x": [wrong]})
    for counts in ([np.int64(5), np.float64(-5)], np.array([5, -5])):
        assert tree.apply({"x": counts}).tolist() == [1, 2]


def test_forms() -> None:
    tree = Tree.load(str(GOLDEN / "boosted.tree.json"))
    names = list(tree.feature_names_in_)
    with pytest.raises(ValueError, match=f"absent columns: {names[0]}, {names[2]}"):
        tree.predict(pd.DataFrame({name: [None] for name in names if name not in (names[0], names[2])}))
    with pytest.raises(ValueError, match="rows of shape"):
        tree.predict(np.zeros((2, 1)))
    with pytest.raises(ValueError, match="rows of shape"):
        tree.predict([1.0, 2.0])
    missing = tree.predictions([{}]).rows()
    assert tree.predictions({name: [None] for name in names}).rows() == missing
    assert tree.predictions([[None] * len(names)]).rows() == missing


def test_leaf_alone() -> None:
    tree = tree_of([], [node(3) | {"id": 0}])
    assert tree.n_features_in_ == 0 and tree.cost_unit == "euros"
    assert tree.predict(pd.DataFrame({"x": [1, 2]})).tolist() == ["b", "b"]
    assert tree.predict({"x": [1, 2, 3]}).tolist() == ["b"] * 3
    assert tree.ask().next() is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 5}, "version 5"),
        ({"format": "other"}, "format: \"other\""),
        ({"nodes": [{"id": 0}]}, "node 0: class_weights of 0 classes: want 2"),
        ({"features": []}, "node 0: feature 'x': want one of the features"),
        ({"label": {"column": "y", "classes": ["a"]}}, "node 0: class_weights of 2 classes: want 1"),
    ],
)
def test_damaged(change: dict[str, Any], message: str) -> None:
    sound = copy.deepcopy(
        document(
            [feature("x")],
            [
                node(
                    0,
                    {"feature": "x", "kind": "threshold"},
                    {"when": {"ge": 1}, "child": 1},
                    {"when": {"lt": 1}, "child": 2, "missing": True},
                ),
                node(1),
                node(2),
            ],
        )
    )
    assert Tree(json.dumps(sound).encode()).n_features_in_ == 1
    with pytest.raises(ValueError, match=f"x.json: not a tree that can be used: .*{message}"):
        Tree(json.dumps(sound | change).encode(), "x.json")
    sound["nodes"][0]["branches"][0]["child"] = 0
    with pytest.raises(ValueError, match="want later nodes"):
        Tree(json.dumps(sound).encode())


def test_not_json() -> None:
    for wrong in (b"", b"{", b"[]", b"\xff"):
        with pytest.raises(ValueError, match="not a tree that can be used"):
            Tree(wrong)


def run_folder(path: pathlib.Path, name: str = "iris") -> str:
    """Writes what from_run reads of a run folder, and returns the digest of the tree."""
    path.mkdir()
    shutil.copy(GOLDEN / f"{name}.tree.json", path / "tree.json")
    digest = hashlib.sha256((path / "tree.json").read_bytes()).hexdigest()
    (path / "distribution.json").write_text(json.dumps({"leaves": {"tree_sha256": digest}}))
    (path / "_SUCCESS").touch()
    return digest


def test_from_run(tmp_path: pathlib.Path) -> None:
    digest = run_folder(tmp_path / "monday")
    assert Tree.from_run(str(tmp_path / "monday")).digest == digest
    latest = tmp_path / "LATEST.json"
    pointer = {"format": "espalier/latest", "version": 1, "run": "monday", "tree_sha256": digest}
    latest.write_text(json.dumps(pointer))
    assert Tree.from_run(str(latest)).digest == digest
    assert Tree.from_run(latest.as_uri()).digest == digest
    latest.write_text(json.dumps(pointer | {"tree_sha256": "0" * 64}))
    with pytest.raises(ValueError, match=f"the digest is {digest}: want 000"):
        Tree.from_run(str(latest))
    shutil.copy(GOLDEN / "boosted.tree.json", tmp_path / "monday" / "tree.json")
    with pytest.raises(ValueError, match="the digest is"):
        Tree.from_run(str(tmp_path / "monday"))
    (tmp_path / "monday" / "_SUCCESS").unlink()
    with pytest.raises(FileNotFoundError):
        Tree.from_run(str(tmp_path / "monday"))
    for damaged, message in (
        *((text, "espalier/latest") for text in ("{}", "[]", json.dumps(pointer | {"version": 2}))),
        (json.dumps(pointer | {"version": True}), "version"),
        *((json.dumps(pointer | {"tree_sha256": digest}), "64 hex") for digest in ("", None, "0" * 63, "A" * 64)),
        *((json.dumps(pointer | {"promoted": text}), "promoted") for text in ("today", "2026-02-30T00:00:00Z", 3)),
        *((json.dumps(pointer | {"reason": "x" * 65536}), "at most"), ('{"run":' + "[" * 60000, "nested")),
    ):
        latest.write_text(damaged)
        with pytest.raises(ValueError, match=message):
            Tree.from_run(str(latest))


def test_confidence() -> None:
    tree = Tree.load(str(GOLDEN / "iris.tree.json"))
    inquiry = tree.ask(0.25)  # the root is as confident
    assert inquiry.next() is None
    assert inquiry.result().cost == 0 and inquiry.path == (0,)
    with pytest.raises(ValueError, match="has ended"):
        inquiry.answer(1)
    for wrong in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="want a probability"):
            tree.ask(wrong)


def test_lower_bounds() -> None:
    """The bounds are those of the file, which Go tests too: SciPy has solved for them."""
    for name, bounds in json.loads((GOLDEN / "at_least.json").read_text()).items():
        content = json.loads((GOLDEN / name.removesuffix(" with priors")).read_text())
        if name.endswith(" with priors"):
            priors = np.array([0.9, 0.1])
            content["label"]["priors"] = priors.tolist()
            root = np.array(content["nodes"][0]["raw_class_weights"])
            for one in content["nodes"]:
                p = np.array(one["probabilities"]) * priors * root.sum() / root
                one["probabilities"] = (p / p.sum()).tolist()
                one["class"] = content["label"]["classes"][p.argmax()]
        assert Tree(json.dumps(content).encode()).document.at_least.tolist() == bounds, name


def unordered() -> dict[str, Any]:
    """Returns a tree with the presence test of a lab, and below the lab with that of a scan."""
    nodes = []
    for at, (name, price) in enumerate((("lab", 30), ("scan", 120))):
        top = 4 * at
        absent = (
            {"when": {"missing": True}, "child": top + 1, "missing": True},
            {"when": {"not_missing": True}, "child": top + 2},
        )
        branches = (
            {"when": {"ge": 0}, "child": top + 3},
            {"when": {"lt": 0}, "child": top + 4, "missing": True},
        )
        nodes += [
            node(top, {"feature": name, "kind": "missing", "cost": 0}, *absent),
            node(top + 1),
            node(top + 2, {"feature": name, "kind": "threshold", "cost": price}, *branches),
            node(top + 3),
        ]
    features = [feature(name, absent="unordered") for name in ("lab", "scan")]
    return document([*features, feature("age")], [*nodes, node(8)])


def test_unordered() -> None:
    """A row without a value that nobody ordered ends at the presence test, for nothing; a question names the price below."""
    tree = Tree(json.dumps(unordered()).encode())
    predictions = tree.predictions({"lab": [None, 1.0, -1.0, -1.0, -1.0], "scan": [1.0, None, None, 1.0, -1.0]})
    assert predictions.leaf.tolist() == [1, 3, 5, 7, 8]
    assert predictions.tests.tolist() == [0, 1, 1, 2, 2] and predictions.cost.tolist() == [0, 30, 30, 150, 150]
    for value, path, paid in ((None, (0, 1), 0), (1.0, (2, 3), 30)):
        inquiry = tree.ask()
        assert inquiry.next().cost == 30  # type: ignore[union-attr]
        inquiry.answer(value)
        assert inquiry.next() is None and inquiry.path == path and inquiry.paid == paid


_LEADS = "node 0: .*'(lab|scan)', which is unordered, leads to other nodes than a leaf and another test of the feature"
_BRANCH = "node 0: missing or unlisted values of 'lab' take no branch, several or the wrong one"
_CONDITION = "node 0: the condition .* does not fit a test of kind missing on 'lab'"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("nodes 0 test cost", 60, "node 0: .* of 'lab', which is unordered, is billed at 60.0: want 0"),
        ("nodes 4 test billed", 60, "node 4: .* of 'scan', which is unordered, is billed at 60.0: want 0"),
        ("features 0 absent", "value", "feature 'lab': absent: \"value\": want \"unordered\" or none"),
        ("features 1 absent", "Unordered", "feature 'scan': absent: \"Unordered\": want"),
        ("features 2 absent", "value", "feature 'age': absent: \"value\": want"),  # no node tests it
        ("nodes 0 branches * child", (2, 1), _LEADS),
        ("nodes 0 branches 0 child", 4, "node 4 has 2 parents: want 1"),
        ("nodes 0 branches 1 child", 3, "node 3 has 2 parents: want 1"),
        ("nodes 0 test feature", "scan", _LEADS),
        ("nodes 4 test feature", "lab", _LEADS.replace("node 0", "node 4")),
        ("nodes 0 branches * missing", (False, True), _BRANCH),
        ("nodes 0 branches", unordered()["nodes"][0]["branches"] * 2, "node 0: 4 branches: want 2"),
        ("nodes 0 branches * missing", (True, True), _BRANCH),
        ("nodes 0 branches * when", ({"not_missing": True}, {"missing": True}), _CONDITION),
        ("nodes 0 branches", unordered()["nodes"][0]["branches"][::-1], _CONDITION),
    ],
)
def test_unordered_damaged(path: str, value: Any, message: str) -> None:
    """Go refuses these trees too: see checkPresence, checkBilled and the decoder in induce/tree."""
    damaged = unordered()
    *keys, last = path.split()
    at: Any = damaged
    for key in keys:
        if key == "*":
            break
        at = at[int(key) if isinstance(at, list) else key]
    if "*" in keys:
        for one, new in zip(at, value):
            one[last] = new
    else:
        at[int(last) if isinstance(at, list) else last] = value
    with pytest.raises(ValueError, match=message):
        Tree(json.dumps(damaged).encode())


def test_unordered_twice() -> None:
    """A presence test does not lead to another one of its feature."""
    damaged = unordered()
    top, below = damaged["nodes"][0], damaged["nodes"][2]
    below["test"] = top["test"]
    below["branches"] = [old | {"child": new["child"]} for old, new in zip(top["branches"], below["branches"])]
    with pytest.raises(ValueError, match=_LEADS):
        Tree(json.dumps(damaged).encode())


def test_unordered_sound() -> None:
    """Go reads these trees too: only what is billed counts, and an empty absent is none."""
    sound = unordered()
    sound["nodes"][0]["test"] |= {"cost": 60, "billed": 0}
    for absent in ("", None, "unordered"):
        sound["features"][2]["absent"] = absent
        assert Tree(json.dumps(sound).encode()).cost([{"lab": 1}])[0] == 30
    sound["nodes"][0]["test"] |= {"cost": 0}
    for one in sound["features"]:
        del one["absent"]
    assert not Tree(json.dumps(sound).encode()).document.presence.any()


def test_group_prices() -> None:
    """The group's price is due at the first test whose value is not given."""
    a, b = feature("a", group="lab", group_cost=5), feature("b", group="lab", group_cost=5)
    branches = {"when": {"ge": 0}, "child": 1}, {"when": {"lt": 0}, "child": 2, "missing": True}
    later = {"when": {"ge": 0}, "child": 3}, {"when": {"lt": 0}, "child": 4, "missing": True}
    nodes = [
        node(0, {"feature": "a", "kind": "threshold", "billed": 6}, *branches),
        node(1, {"feature": "b", "kind": "threshold", "cost": 2}, *later),
        *map(node, range(2, 5)),
    ]
    tree = tree_of([a, b], nodes)
    inquiry = tree.ask()
    assert inquiry.next().cost == 6  # type: ignore[union-attr] # 1 and the group
    inquiry.answer(1)
    assert inquiry.next().cost == 2  # type: ignore[union-attr] # the group is paid
    inquiry.answer(1)
    assert inquiry.paid == 8 == tree.cost([{"a": 1, "b": 1}])[0]
    inquiry = tree.ask()
    inquiry.give("a", 1)
    inquiry.give("unknown", 1)
    assert inquiry.next().cost == 7  # type: ignore[union-attr] # 2 and the group
    with pytest.raises(ValueError, match="is known already"):
        inquiry.give("a", 2)
    with pytest.raises(TypeError, match="the text 'x'"):
        inquiry.answer("x")
    assert inquiry.next().feature == "b"  # type: ignore[union-attr] # still open
    inquiry.answer(None)
    assert inquiry.result().leaf == 4 and inquiry.paid == 7


@pytest.mark.parametrize(("missing", "path", "paid"), [(0, (0, 1), 1), (4, (0, 1), 1), (5, (0, 1, 4), 1)])
def test_cannot(missing: int, path: tuple[int, ...], paid: float) -> None:
    """A value that cannot be had costs nothing; if few training rows lacked it, the inquiry ends at its first test."""
    branches = {"when": {"ge": 0}, "child": 1}, {"when": {"lt": 0}, "child": 2, "missing": True}
    later = {"when": {"ge": 0}, "child": 3}, {"when": {"lt": 0}, "child": 4, "missing": True}
    nodes = [
        node(0, {"feature": "a", "kind": "threshold"}, *branches),
        node(1, {"feature": "b", "kind": "threshold", "cost": 2}, *later),
        *map(node, range(2, 5)),
    ]
    whole = document([feature("a"), feature("b", missing=missing)], nodes)
    whole["training"] = {"rows": 100, "objects": 1, "weight": 1, "relabelled_rows": 0}
    tree = Tree(json.dumps(whole).encode())
    inquiry = tree.ask()
    inquiry.answer(1)
    inquiry.cannot("b")
    assert inquiry.next() is None and inquiry.path == path and inquiry.paid == paid
    assert inquiry.result().leaf == path[-1] and inquiry.result().probabilities["a"] == path[-1] / 10
    with pytest.raises(ValueError, match="is known already"):
        inquiry.cannot("a")
    inquiry = tree.ask()
    inquiry.cannot("c")
    assert inquiry.next().feature == "a"  # type: ignore[union-attr] # c is in no test


def test_unseen() -> None:
    """Values that training did not have are counted, and warned of if more than a tenth of the rows have them."""
    s = feature("s", type="categorical", values=["false", "true"])
    tree = stump(s, {"in": ["true"]})
    with pytest.warns(UserWarning, match="'s': more than a tenth .* such as 'True'"):
        found = tree.predictions({"s": ["true", "True", "false", "True", None]})
    assert found.unseen == {"s": 2}
    for score in (tree.predictions, tree.predict, tree.predict_proba):
        with pytest.warns(UserWarning) as told:
            score({"s": ["True"]})
        assert told[0].filename == __file__  # the line that calls, not one of the package
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tree.predictions({"s": [True, "false", None]}).unseen == {}
        assert tree.predictions({"s": ["true"] * 10 + ["True"]}).unseen == {"s": 1}
