"""Prints what the interpreter predicts for the rows of files, by the trees beside them: a line each."""
import json
import os
import sys
from urllib.parse import quote, unquote

from plain_tree import predict


def run(path):
    with open(os.path.join(os.path.dirname(path), "model.json"), encoding="utf-8") as f:
        tree = json.load(f)
    with open(path, encoding="ascii") as f:
        for line in f:
            row = {}
            for feature, cell in zip(tree["features"], line.rstrip("\n").split("\t")):
                if cell != "?":
                    row[feature["name"]] = unquote(cell[1:]) if feature["type"] == "text" else float(cell)
            name, probabilities, leaf, tests, cost = predict(tree, row)
            path = ["=" + quote(p, safe="") for p in [tree["nodes"][leaf].get("path")] if p is not None]
            print(leaf, tests, repr(cost), "=" + quote(name, safe=""), *map(repr, probabilities), *path)


for path in sys.argv[1:]:
    run(path)
