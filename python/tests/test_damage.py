"""Damaged documents: Python refuses a tree.json exactly if the program does, and predicts the same otherwise.

ESPALIER_DAMAGED is the number of documents, ESPALIER_SEED chooses other ones.
"""

from __future__ import annotations

import collections
import concurrent.futures
import copy
import faulthandler
import json
import os
import pathlib
import random
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from espalier import Prediction, Tree
from test_golden import GOLDEN, NAMES, golden
from test_tree import document, feature, node, unordered

DAMAGED = int(os.environ.get("ESPALIER_DAMAGED", "300"))
SEED = int(os.environ.get("ESPALIER_SEED", "1"))
EACH = 8  # of so many documents that are read, the predictions of one are compared
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 4, 0.5, 1.0, -0.5, 1e39, 1e308, 2**53 + 1, 10**19),
    *("", "x", "missing", "numeric", "unordered", "free", "rows", "majority"),
    *([], {}, [1], [None], [0.5, 0.5], [1, 0], ["a"], {"ge": 1}, {"missing": True}),
)
NEW = (
    "in lt ge not_lt missing other model test branches billed trust is booster threshold priors absent group "
    "group_cost further_costs group_further_costs minutes max_cost zone unit ordered range majority_class_weights forbid monotone repeat_cost error_costs decision new"
).split()
NUMBERS = "NaN Infinity -Infinity 1e999 01 1. .5 +1 - 1e5 -0 0x1 1E+2 9999999999999999999999999".split()
TEXTS = (b'"\xff"', b'"\xe2\x82"', b'"\\ud800"', b'"\\ud83d\\ude00"', b'"\\u0041"', b'"\t"', b'"\\x"')
Path = tuple[Any, ...]

pytestmark = pytest.mark.filterwarnings("ignore:feature")  # rows without values, or with new ones


def grouped() -> dict[str, Any]:
    """Returns a tree of features of a group, in which a second test of a feature is free."""
    features = [feature(name, group="lab", group_cost=5) for name in "ab"]
    nodes = [node(at) for at in range(7)]
    for at, (name, cut, bill) in {0: ("a", 0, {"billed": 6}), 1: ("b", 0, {}), 3: ("a", 2, {"billed": 0})}.items():
        yes, no = (child for child in ((1, 2), (3, 4), (5, 6))[at - (at == 3)])
        branches = {"when": {"ge": cut}, "child": yes}, {"when": {"lt": cut}, "child": no, "missing": True}
        nodes[at] = node(at, {"feature": name, "kind": "threshold", **bill}, *branches)
    made = document(features, nodes)
    made["algorithm"] |= {"repeat_cost": "free", "forbid": ["c"], "monotone": {"a": 1}}
    return made


def further() -> dict[str, Any]:
    """Returns grouped with minutes beside its prices."""
    made = grouped()
    for one, minutes in zip(made["features"], (2, 3)):
        one |= {"further_costs": {"minutes": minutes}, "group_further_costs": {"minutes": 10}}
    made["complexity"] = {"further_costs": [{"unit": "minutes", "max_cost": 15}]}
    return made


def with_priors(made: dict[str, Any]) -> dict[str, Any]:
    """Returns a tree whose probabilities are scaled to the priors 1/k, 2/k, .. of its classes."""
    classes = made["label"]["classes"]
    priors = np.arange(1, len(classes) + 1) / sum(range(len(classes) + 1))
    made["label"]["priors"] = priors.tolist()
    root = np.array(made["nodes"][0]["probabilities"])
    for one in made["nodes"]:
        p = np.array(one["probabilities"]) * priors / root
        one |= {"probabilities": (p / p.sum()).tolist(), "class": classes[p.argmax()]}
    return made


def with_error_costs(made: dict[str, Any]) -> dict[str, Any]:
    """Returns a tree with costs of errors that decide as the most probable class does."""
    classes = len(made["label"]["classes"])
    made["label"]["error_costs"] = [[2 * (k != j) for j in range(classes)] for k in range(classes)]
    return made


def sound() -> dict[str, dict[str, Any]]:
    """Returns trees of all kinds."""
    trees = {name: json.loads((GOLDEN / f"{name}.tree.json").read_text()) for name in NAMES}
    for name in ("iris", "boosted"):
        trees[f"{name} with priors"] = with_priors(copy.deepcopy(trees[name]))
    for name in ("iris_small", "sets"):
        trees[f"{name} with costs"] = with_error_costs(copy.deepcopy(trees[name]))
    return trees | {"grouped": grouped(), "further": further(), "unordered": unordered()}


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yields the paths to all values below a value."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(value[key], (*path, key))


def at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def damage(choose: random.Random, made: dict[str, Any]) -> bytes:
    """Returns the text of a document with a change or two. Places of one shape are as likely as one of another."""
    made = copy.deepcopy(made)
    for _ in range(choose.choice((1, 1, 1, 1, 2))):
        shapes = collections.defaultdict(list)
        for path in places(made):
            shapes[tuple(key if isinstance(key, str) else 0 for key in path)].append(path)
        alike = shapes[choose.choice(list(shapes))]
        change(choose, made, choose.choice(alike), at(made, choose.choice(alike)))
    text = json.dumps(made, indent=choose.choice((None, 1))).replace("\\u0000", "")  # a name with it is there twice
    return text.encode() if choose.random() < 0.8 else damage_text(choose, text.encode())


def change(choose: random.Random, made: dict[str, Any], path: Path, other: Any) -> None:
    """Changes the value at a path, or what is beside it. other is a value of a like place."""
    parent, key = at(made, path[:-1]), path[-1]
    old = parent[key]
    value = copy.deepcopy(choose.choice((other, None, near(choose, old), near(choose, old), choose.choice(VALUES))))
    kind = choose.choice(("value", "value", "value", "value", "delete", "add", "twice", "spell"))
    if kind == "delete":
        del parent[key]
    elif isinstance(parent, list) and kind != "value":
        parent.insert(choose.randrange(len(parent) + 1), value)
    elif kind == "add":
        parent[choose.choice(NEW)] = copy.deepcopy(choose.choice(VALUES))
    elif kind == "twice":
        parent[choose.choice((key, key.upper())) + "\0"] = value
    elif kind == "spell":
        parent[choose.choice((key.title(), key.replace("s", "\u017f"), key.replace("k", "\u212a")))] = parent.pop(key)
    else:
        parent[key] = value


def near(choose: random.Random, old: Any) -> Any:
    """Returns a value that is almost the old one."""
    if isinstance(old, bool):
        return not old
    if isinstance(old, (int, float)):
        return choose.choice((old + 1, old - 1, -old, float(old), old / 2, old * (1 + 1e-12)))
    if isinstance(old, str):
        return choose.choice((old + "x", old.upper(), old[:-1]))
    if isinstance(old, list) and old:
        return choose.choice((old[:-1], old[1:], old + old[:1], old[::-1]))
    return {key: old[other] for key, other in zip(old, list(old)[::-1])} if isinstance(old, dict) else old


def damage_text(choose: random.Random, text: bytes) -> bytes:
    """Damages bytes, numbers, texts, the begin or the end."""
    place = choose.randrange(len(text))
    numbers = list(re.finditer(rb"(?<=[ \[])-?[0-9][-+0-9.eE]*", text))
    texts = list(re.finditer(rb'"[^"\\]*"', text))
    number, spelled = choose.choice(numbers), choose.choice(texts)
    return choose.choice(
        (
            text[:place] + bytes([choose.randrange(256)]) + text[place + 1 :],
            text[:place] + text[place + choose.randrange(1, 4) :],
            text[:place],
            text + choose.choice((b" ", b"\n", b"{}", b"x", b"\0", b"\xff")),
            choose.choice((b"\xef\xbb\xbf", b" ", b"\xff\xfe")) + text,
            text[: number.start()] + choose.choice(NUMBERS).encode() + text[number.end() :],
            text[: spelled.start()] + choose.choice(TEXTS) + text[spelled.end() :],
        )
    )


def refusal(encoded: bytes) -> str:
    """Returns the sentence by which Python refuses a document; empty if Python reads it."""
    try:
        Tree(encoded).predict([{}, {}])
    except ValueError as error:
        return str(error)
    return ""


def test_damage(espalier: str, tmp_path: pathlib.Path) -> None:
    choose = random.Random(SEED)
    trees = sound()
    names = [choose.choice(list(trees)) for _ in range(DAMAGED)]
    refusals = []
    for number, name in enumerate(names):
        encoded = damage(choose, trees[name])
        (tmp_path / f"{number}.tree.json").write_bytes(encoded)
        faulthandler.dump_traceback_later(60, exit=True)  # a walk that never ends
        refusals.append(refusal(encoded))
    faulthandler.cancel_dump_traceback_later()

    def run(number: int, *verb: str) -> str:
        """Returns the error of the program for a document."""
        done = subprocess.run([espalier, *verb, f"{number}.tree.json"], cwd=tmp_path, capture_output=True)
        return done.stderr.decode(errors="replace") if done.returncode else ""

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        errors = list(pool.map(lambda number: run(number, "show", "--depth", "0"), range(DAMAGED)))
    wrong = [
        f"{number}, of {names[number]}: the program says {error!r}, Python {refused!r}"
        for number, (error, refused) in enumerate(zip(errors, refusals))
        if bool(error) != bool(refused)
    ]
    assert not wrong, "\n".join([f"{len(wrong)} of {DAMAGED} documents in {tmp_path}:", *wrong[:20]])
    read = [number for number, error in enumerate(errors) if not error]
    assert DAMAGED / 5 < len(read) < DAMAGED * 4 / 5
    for number in read[::EACH]:
        rows = f"{number}.rows.json"
        assert run(number, "export", "--format", "json", "--golden", rows, "--output", f"{number}.json") == ""
        same_predictions(str(number), tmp_path)


def same_predictions(name: str, folder: pathlib.Path) -> None:
    """Compares Python with golden rows of the program."""
    tree, rows, want = golden(name, folder)

    def table(list_of: list[Prediction]) -> list[Any]:
        return [one._replace(probabilities={}) for one in list_of]

    got = tree.predictions(rows).rows()
    assert table(got) == table(want), name
    for one, expected in zip(got, want):
        assert one.probabilities == pytest.approx(expected.probabilities, rel=0, abs=1e-12), name


@pytest.mark.parametrize(
    ("name", "path", "value", "message"),
    [
        ("iris", ("nodes", 1, "probabilities", 0), -7, "node 1: probabilities: -7: want a number from 0 to 1"),
        ("iris", ("nodes", 1, "probabilities", 0), 1, r"node 1: probabilities add up to [\d.]+: want 1"),
        ("iris", ("nodes", 0, "test", "cost"), True, "node 0: test: cost: true: want a number from 0"),
        ("iris", ("nodes", 0, "rows"), 90.0, r"node 0: rows: 90.0: want a whole number from 0"),
        ("iris", ("nodes", 0, "branches", 0, "when", "ge"), 0.123, "node 0: the condition .* does not fit"),
        ("iris", ("features", 0, "type"), "text", "feature '.*': type: \"text\": want \"numeric\" or \"categorical\""),
        ("iris", ("nodes", 2, "class"), "rose", 'node 2: class "rose": want one of the classes'),
        ("boosted", ("boosters", 0, 0, 0, "yes"), 0.5, "booster 0: tree 0: split 0: yes: 0.5: want a later split"),
        ("boosted", ("boosters", 0, 0, 0, "yes"), 0, "booster 0: tree 0: split 0: yes: 0: want a later split"),
        ("boosted", ("version",), 2, "boosters in a file of version 2: want version 3"),
        ("iris", ("certificate",), {"assumptions": [{}] * 101}, "certificate.assumptions: want at most 100"),
        ("decided", ("label", "decision", "positive"), "x", 'label: decision: positive "x": want one of the classes'),
        ("grouped", ("features", 0, "group_cost"), 6, "feature 'b': group_cost 5.0: want 6.0"),
        ("grouped", ("nodes", 3, "test", "billed"), 1.5, "node 3: the test of 'a' is billed at 1.5: want 1.0"),
        ("grouped", ("nodes",), None, "nodes: null: want a list"),
        ("further", ("features", 0, "further_costs"), {}, "feature 'a': group_further_costs|further_costs in"),
        ("further", ("features", 1, "further_costs", "hours"), 1, "feature 'b': further_costs in .*'hours', 'minutes'"),
        ("further", ("features", 1, "group_further_costs", "minutes"), 9, "feature 'b': group_further_costs .*: want one price"),
        ("further", ("features", 0, "further_costs", "minutes"), -1, "feature 'a': further_costs: minutes: -1: want a number"),
        ("further", ("complexity", "further_costs", 0, "unit"), "<b>", "complexity: the currency '<b>': want 1 to 40 letters"),
        ("further", ("complexity", "further_costs", 0, "unit"), "hours", "complexity: further costs in .*: want currencies of the features"),
        ("further", ("complexity", "further_costs", 0, "max_cost"), -1, "complexity: further_costs: max_cost: -1: want a number from 0"),
        ("further", ("complexity", "further_costs"), [{"unit": "minutes"}] * 2, "complexity: further costs .*: want each currency once"),
    ],
)
def test_sentences(name: str, path: Path, value: Any, message: str) -> None:
    made = sound()[name]
    at(made, path[:-1])[path[-1]] = value
    assert re.search(message, refusal(json.dumps(made).encode()))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'"rows": 10', b'"rows": NaN', "NaN: want a number of JSON"),
        (b'"version": 1', b'"version": 1, "version": 1', '"version" is there twice'),
        (b'"label":', b'"further": [], "nodes": [], "label":', "nodes"),
        (b"{", b"\xef\xbb\xbf{", "Unexpected UTF-8 BOM|Expecting value"),
    ],
)
def test_texts(old: bytes, new: bytes, message: str) -> None:
    encoded = json.dumps(grouped()).encode()
    assert old in encoded
    assert re.search(message, refusal(encoded.replace(old, new, 1)))


def test_further() -> None:
    """Minutes by hand: a group of 10 is paid once, a of 2 and b of 3, further tests of a are free."""
    tree = Tree(json.dumps(further()).encode())
    rows = [{"a": 1, "b": 1}, {"a": 3, "b": -1}, {"a": -1, "b": 1}]
    assert tree.further_costs(rows)["minutes"].tolist() == [15, 15, 12]
    inquiry = tree.ask()
    assert inquiry.next().further == {"minutes": 12}  # type: ignore[union-attr]
    inquiry.answer(1)
    assert inquiry.next().further == {"minutes": 3}  # type: ignore[union-attr]
    inquiry.answer(1)
    assert inquiry.next() is None and inquiry.further_paid == {"minutes": 15}
    inquiry = tree.ask()
    inquiry.give("a", 1)
    assert inquiry.next().further == {"minutes": 13}  # type: ignore[union-attr]


def test_sound() -> None:
    for name, made in sound().items():
        assert refusal(json.dumps(made).encode()) == "", name
