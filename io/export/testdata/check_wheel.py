"""Checks the classifier of the installed package churn against golden rows and scikit-learn."""

import json, pickle, sys, tempfile

import churn

assert "sklearn" not in sys.modules and "numpy" not in sys.modules, "importing churn imports more than it needs"

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

with open(sys.argv[1]) as f:
    doc = json.load(f)


def value(v):
    return float(v["number"]) if isinstance(v, dict) else v


rows = [[value(v) for v in row["values"]] for row in doc["rows"]]
classes = np.array([row["class"] for row in doc["rows"]])
probabilities = np.array([row["probabilities"] for row in doc["rows"]])
assert doc["features"] == churn.FEATURES and doc["classes"] == churn.CLASSES


def same(model, X, what):
    assert (model.predict(X) == classes).all(), what
    assert np.abs(model.predict_proba(X) - probabilities).max() <= 1e-12, what


model = churn.Classifier()
array = np.array(rows, dtype=object)
frame = pd.DataFrame(rows, columns=churn.FEATURES)
same(model, array, "array")
same(model, rows, "list of lists")
same(model, frame, "frame")
same(model, frame[frame.columns[::-1]].assign(other="x"), "columns in another order, and one more")
same(model, frame.convert_dtypes(), "frame with NA")
same(model, [dict(zip(churn.FEATURES, row)) for row in rows], "mappings")
same(model, np.asfortranarray(array), "by columns")
assert (model.apply(array) == [row["leaf"] for row in doc["rows"]]).all()
assert (model.cost(array) == [row["cost"] for row in doc["rows"]]).all()

# NumPy's scalars mean what those of Python mean.
from churn import _tree

assert [_tree._text(v) for v in [np.bool_(True), np.bool_(False), True]] == ["true", "false", "true"]
assert [_tree._text(v) for v in [np.float32("nan"), np.float64("nan"), pd.NA, pd.NaT, None]] == [None] * 5
assert [_tree._text(v) for v in [np.float32(7), np.int8(7), 7, "7"]] == ["7"] * 4

# What scikit-learn's checks say of any classifier, on rows that this one takes.
order = np.random.default_rng(1).permutation(len(rows))
assert (model.predict(array[order]) == classes[order]).all(), "the order of rows matters"
one = np.concatenate([model.predict_proba(array[i : i + 1]) for i in range(len(rows))])
assert (one == model.predict_proba(array)).all(), "rows depend on each other"
before = dict(vars(model))
again = pickle.loads(pickle.dumps(model))
same(again, array, "pickle")
same(clone(model), array, "clone")
assert vars(model) == before
assert model.fit(array, classes) is model and model.score(array, classes) == 1
frozen = array.copy()
frozen.flags.writeable = False
same(model, frozen, "read only")
same(make_pipeline(FunctionTransformer(), churn.Classifier()).fit(frame, classes), frame, "pipeline")
assert is_classifier(model) and list(model.classes_) == churn.CLASSES
assert model.n_features_in_ == len(churn.FEATURES) and list(model.feature_names_in_) == churn.FEATURES
numbered = churn.Classifier(classes=range(len(churn.CLASSES)))
assert [churn.CLASSES[i] for i in numbered.predict(array)] == list(classes)
assert numbered.get_params() == {"classes": range(len(churn.CLASSES))}
assert list(model.set_params(classes=None).classes_) == churn.CLASSES
for wrong, kind in [(array[:, :-1], ValueError), (array[0], ValueError), (frame[frame.columns[:-1]], ValueError)]:
    try:
        model.predict(wrong)
    except kind:
        continue
    raise AssertionError("a wrong number of columns is taken")

# The checks of scikit-learn train on made-up data with columns of their own, which a trained tree
# cannot take. It must say so, and it says nothing else but in the checks below.
other = "features, but Classifier is expecting"
expected = {
    "check_n_features_in": "n_features_in_ is known before fit",
    "check_classifiers_one_label": "wants an error about y, which fit ignores, and a matching X",
    "check_classifiers_regression_target": "wants an error about y, which fit ignores",
    "check_supervised_y_2d": "wants a warning about y, which fit ignores",
    "check_requires_y_none": "wants an error about y, which fit ignores",
    "check_positive_only_tag_during_fit": "its X has other columns",
    "check_fit2d_1sample": "its X has other columns",
    "check_fit2d_1feature": "its X has other columns",
    "check_estimators_nan_inf": "its X has other columns",
}
passed = 0
if sys.argv[2:] != ["both", "checks"]:
    sys.exit()
for result in check_estimator(churn.Classifier(), on_fail=None):
    passed += result["status"] == "passed"
    if result["status"] == "failed":
        name, text = result["check_name"], str(result["exception"])
        assert other in text or name in expected, (name, text)
assert passed >= 20, passed
print("ok", passed)
