"""Prints what models predict for the rows of files, by the models beside them: a line each."""
import json
import os
import sys
from urllib.parse import quote, unquote

import numpy as np
import onnxruntime

NAMES = ["leaf", "tests", "cost", "label", "probabilities"]


def text(cell, missing):
    """Returns a text, missing or not; an unlisted text that would say missing is another one."""
    if cell == "?":
        return missing
    value = unquote(cell[1:])
    return value if value != missing else value + "??"


def inputs(features, rows):
    """Returns the columns of rows by the names of the inputs."""
    feed = {}
    for i, feature in enumerate(features or []):
        cells = [row[i] for row in rows]
        column = np.empty(len(rows), dtype=object if feature["type"] == "text" else np.float64)
        for k, c in enumerate(cells):
            column[k] = text(c, feature["missing"]) if feature["type"] == "text" else np.nan if c == "?" else float(c)
        feed[feature["input"]] = column.reshape(-1, 1)
    return feed


def alone(session, feed, outputs, rows):
    """Ends the program if some rows alone, which the runtime handles in another way, differ."""
    for i in range(0, rows, 1 + rows // 50):
        one = session.run(NAMES, {name: column[i : i + 1] for name, column in feed.items()})
        for name, a, b in zip(NAMES, one, outputs):
            same = np.allclose(a[0], b[i], rtol=0, atol=1e-15) if name == "probabilities" else a[0] == b[i]
            if not same:
                sys.exit(f"row {i}: {name}: {a[0]} alone, {b[i]} among others")


def run(path):
    model = os.path.join(os.path.dirname(path), "model.onnx")
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    about = session.get_modelmeta().custom_metadata_map
    features = json.loads(about["features"])
    with open(path, encoding="ascii") as f:
        rows = [line.rstrip("\n").split("\t") for line in f]
    feed = inputs(features, rows)
    outputs = session.run(NAMES, feed)
    if not feed:  # a tree without tests
        outputs = [np.repeat(o, len(rows), axis=0) for o in outputs]
    alone(session, feed, outputs, len(rows))
    paths = [""] * len(rows)
    if "path" in (o.name for o in session.get_outputs()):
        paths = ["=" + quote(p, safe="") for p in session.run(["path"], feed)[0]]
    for leaf, tests, cost, label, probabilities, path in zip(*outputs, paths):
        print(leaf, tests, repr(float(cost)), "=" + quote(label, safe=""), *(repr(float(p)) for p in probabilities), path)


for path in sys.argv[1:]:
    run(path)
