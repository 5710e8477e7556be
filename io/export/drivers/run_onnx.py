"""Prints what model.onnx predicts for the rows of a file: a line each."""
import json
import sys
from urllib.parse import unquote

import numpy as np
import onnxruntime

options = onnxruntime.SessionOptions()
options.log_severity_level = 3
session = onnxruntime.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
about = session.get_modelmeta().custom_metadata_map
features, classes = json.loads(about["features"]), json.loads(about["classes"])
with open(sys.argv[1], encoding="ascii") as f:
    rows = [line.rstrip("\n").split("\t") for line in f]


def text(cell, missing):
    """Returns a text, missing or not; an unlisted text that would say missing is another one."""
    if cell == "?":
        return missing
    value = unquote(cell[1:])
    return value if value != missing else value + "??"


feed = {}
for i, feature in enumerate(features):
    cells = [row[i] for row in rows]
    if feature["type"] == "text":
        column = np.array([text(c, feature["missing"]) for c in cells] + [None], dtype=object)[:-1]
    else:
        column = np.array([np.nan if c == "?" else float(c) for c in cells], dtype=np.float64)
    feed[feature["input"]] = column.reshape(-1, 1)
names = ["leaf", "tests", "cost", "label", "probabilities"]
outputs = session.run(names, feed)
if not feed:  # a tree without tests
    outputs = [np.repeat(o, len(rows), axis=0) for o in outputs]
for i in range(0, len(rows), 1 + len(rows) // 50):  # row by row the runtime takes another way
    alone = session.run(names, {name: column[i : i + 1] for name, column in feed.items()})
    for name, one, all_ in zip(names, alone, outputs):
        if name == "probabilities" and not np.allclose(one[0], all_[i], rtol=0, atol=1e-15):
            sys.exit(f"row {i}: probabilities: {one[0]} alone, {all_[i]} among others")
        if name != "probabilities" and one[0] != all_[i]:
            sys.exit(f"row {i}: {name}: {one[0]} alone, {all_[i]} among others")
number = {name: i for i, name in enumerate(classes)}
for leaf, tests, cost, label, probabilities in zip(*outputs):
    print(leaf, tests, repr(float(cost)), number[label], *(repr(float(p)) for p in probabilities))
