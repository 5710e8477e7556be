"""EspalierClassifier by the rules of scikit-learn, with the program."""

from __future__ import annotations

import pickle
import subprocess
import unittest
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from espalier import EspalierClassifier, EspalierError, EspalierWarning, command, train
from espalier.program import find
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator


@pytest.fixture(autouse=True)
def program(espalier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESPALIER", espalier)


@pytest.fixture(scope="module")
def credit(data: Callable[[str], Any]) -> tuple[pd.DataFrame, pd.Series]:
    frame = data("credit-g").to_pandas().dropna(subset="class")
    return frame.drop(columns="class"), frame["class"]


@pytest.mark.filterwarnings("ignore")
def test_contract() -> None:
    """All checks of scikit-learn pass."""
    checked = 0
    for estimator, check in estimator_checks_generator(EspalierClassifier()):
        try:
            check(estimator)
        except unittest.SkipTest:
            continue
        checked += 1
    assert checked > 55


@pytest.mark.parametrize(
    "labels",
    [[0, 1, 0, 1], [-3, 10, 9, 10], [True, False, True, True], [1.0, 2.0, 2.0, 1.0], ["b", "a", "B", "a"], ["1", "02", "1", "true"]],
    ids=str,
)
def test_labels_keep_their_type(labels: list[Any]) -> None:
    y = np.array(labels * 30)
    x = np.array([[labels.index(label)] for label in y.tolist()])
    model = EspalierClassifier().fit(x, y)
    predicted = model.predict(x)
    assert predicted.dtype == y.dtype and accuracy_score(y, predicted) == 1
    assert model.classes_.tolist() == sorted(set(labels))
    assert (model.classes_[model.predict_proba(x).argmax(axis=1)] == y).all()
    assert model.score(x, y) == 1


@pytest.mark.filterwarnings("ignore::espalier.EspalierWarning")
@pytest.mark.parametrize("cuts", [[22, 41.5], "22,41.5", np.array([-3, 22, 41.5])], ids=str)
@pytest.mark.parametrize("whole", [True, False])
def test_label_cuts(cuts: Any, whole: bool) -> None:
    """Numbers become classes of ranges; a range without rows, as below -3, is no class."""
    x = np.repeat(np.arange(120), 5).reshape(-1, 1)
    y = x[:, 0] // 2 if whole else x[:, 0] / 2
    model = EspalierClassifier(settings={"label_cuts": cuts}).fit(x, y)
    first = "-3 to < 22" if len(cuts) == 3 else "< 22"
    assert model.classes_.tolist() == sorted([first, "22 to < 41.5", ">= 41.5"])
    want = np.where(y < 22, first, np.where(y < 41.5, "22 to < 41.5", ">= 41.5"))
    assert (model.predict(x) == want).all()
    assert (model.classes_[model.predict_proba(x).argmax(axis=1)] == want).all()
    assert model.score(x, y) == model.score(x, want) == model.select(len(model.frontier_) - 1).score(x, pd.Series(y)) == 1
    assert model.score(x, y.astype(str)) == model.score(x, y.astype(object)) == 1
    assert cross_val_score(model, x[::-1], y, cv=3).shape == (3,)


def test_same_tree_as_the_program(credit: tuple[pd.DataFrame, pd.Series], tmp_path: Any) -> None:
    """Settings with Python values give the bytes that flags and files give."""
    x, y = credit
    (tmp_path / "costs.csv").write_text("feature,cost,group,group_cost\nage,0,,\nduration,2.5,bank,4\ncredit_amount,1,bank,4\n")
    (tmp_path / "errors.csv").write_text("actual,predicted,cost\nbad,good,50\n")
    x.assign(**{"class": y}).to_parquet(tmp_path / "rows.parquet", index=False)
    command(
        "train", input=tmp_path / "rows.parquet", label="class", output=tmp_path / "run", costs=tmp_path / "costs.csv",
        error_costs=tmp_path / "errors.csv", max_cost=9, monotone=["age=+1"], folds=3, split="100/0/0", seed=4,
        certificate="none", report="none", progress="none",
    )  # fmt: skip
    model = EspalierClassifier(
        costs={"age": 0, "duration": 2.5},
        groups={"bank": (4, ["duration", "credit_amount"])},
        error_costs={("bad", "good"): 50},
        max_cost=9,
        monotone={"age": 1},
        folds=3,
        random_state=4,
    )
    with pytest.warns(EspalierWarning, match="has no price for 17 of 20 features"):
        model.fit(x, y)
    again = model.save(str(tmp_path / "saved"))
    for name in ("tree.json", "metrics.json", "frontier.json", "importance.json"):
        assert (tmp_path / "saved" / name).read_bytes() == (tmp_path / "run" / name).read_bytes(), name
    assert again.tree.digest == model.tree_.digest
    assert model.cost(x).mean() == pytest.approx(model.cost_)


@pytest.mark.filterwarnings("ignore::espalier.EspalierWarning")
def test_select(credit: tuple[pd.DataFrame, pd.Series]) -> None:
    x, y = credit
    model = EspalierClassifier(split="60/40/0").fit(x, y)
    assert [tree.cost for tree in model.frontier_] == sorted(tree.cost for tree in model.frontier_)
    for tree in model.frontier_:
        chosen = model.select(tree.number)
        assert chosen.cost_ == pytest.approx(tree.cost) and chosen.cost(x).max() <= tree.max_cost
    cheap = model.select(max_cost=1)
    assert cheap.get_params()["max_cost"] == 1 and cheap.cost(x).max() <= 1 < model.cost(x).max()
    wary = model.select(min_sensitivity={"bad": 0.75})
    assert (wary.predict(x) == "bad").sum() > (model.predict(x) == "bad").sum()
    assert model.get_params() == EspalierClassifier(split="60/40/0").get_params()
    assert pickle.loads(pickle.dumps(cheap)).select(0).cost_ == 0
    with pytest.raises(ValueError, match="select by 'costs'"):
        model.select(1, costs={"age": 3})
    with pytest.raises(ValueError, match="want the number of a tree, or a demand"):
        model.select()
    with pytest.raises(IndexError, match="tree 99: want a number from 0 to"):
        model.select(99)
    with pytest.raises(EspalierError, match="max_leavs"):
        model.select(max_leaves=3).select(0).set_params(settings={"max_leavs": 3}).fit(x, y)


def test_questions(credit: tuple[pd.DataFrame, pd.Series]) -> None:
    x, y = credit
    model = EspalierClassifier(max_leaves=12).fit(x, y)
    path = model.decision_path(x)
    leaves = model.apply(x)
    tests = model.tree_.tests(x)
    assert path.shape[0] == len(x) and (path[:, [0]].toarray() == 1).all()
    assert (path[np.arange(len(x)), leaves] == 1).all()
    assert (np.asarray(path.sum(axis=1)).ravel() == tests + 1).all()
    told = model.explain(x.iloc[[3]])
    assert told.startswith(f"the row: class = {model.predict(x)[3]}") and "/" not in told.splitlines()[0]
    assert model.explain(x.iloc[3].to_dict()) == told
    inquiry = model.ask()
    while (question := inquiry.next()) is not None:
        inquiry.answer(x[question.feature].iloc[3])
    assert inquiry.result().prediction == model.predict(x)[3]
    assert model.plot().svg.startswith("<svg") and model.plot("frontier").svg.startswith("<svg")
    assert "<svg" in model._repr_mimebundle_()["text/html"]
    assert "<svg" not in EspalierClassifier()._repr_html_()
    assert isinstance(model.export("onnx"), bytes)
    assert "def " in model.export("python") and "checking_status" in model.show()
    assert "show(figures=True)" in model.summary_ and "espalier" not in model.summary_


def test_not_fitted() -> None:
    model = EspalierClassifier()
    for call in (model.predict, model.predict_proba, model.apply, model.cost, model.decision_path, model.explain):
        with pytest.raises(NotFittedError):
            call([[1.0]])
    for act in (model.ask, model.select, model.plot, model.show):
        with pytest.raises(NotFittedError):
            act()


def test_errors(credit: tuple[pd.DataFrame, pd.Series]) -> None:
    x, y = credit
    with pytest.raises(ValueError, match='no feature "agee"; did you mean "age"'):
        EspalierClassifier(costs={"agee": 1}).fit(x, y)
    with pytest.raises(ValueError, match="want one for each of 20 columns"):
        EspalierClassifier(costs=[1, 2]).fit(x, y)
    with pytest.raises(ValueError, match="the feature 'age' is in 'a' and 'b'"):
        EspalierClassifier(groups={"a": (1, ["age"]), "b": (1, ["age"])}).fit(x, y)
    with pytest.raises(ValueError, match="settings has 'max_cost', which is also a parameter"):
        EspalierClassifier(max_cost=3, settings={"max_cost": 4}).fit(x, y)
    with pytest.raises(ValueError, match="the column 'age'"):
        EspalierClassifier().fit(x.assign(age=[1, "a"] * 500), y)
    with pytest.raises(ValueError, match="same order"):
        EspalierClassifier().fit(x, y).predict(x[x.columns[::-1]])
    with pytest.raises(ValueError, match="unseen at fit time"):
        EspalierClassifier().fit(x, y).predict(x.rename(columns={"age": "ages"}))


def test_frames(credit: tuple[pd.DataFrame, pd.Series]) -> None:
    """Frames of all kinds give one tree, and any of them is scored by it."""
    x, y = credit
    arrow = pa.Table.from_pandas(x, preserve_index=False)
    kinds = {"pandas": x, "categories": x.astype({"purpose": "category"}), "polars": pl.from_arrow(arrow), "arrow": arrow}
    kinds["index"] = x.set_index(np.arange(len(x))[::-1])
    kinds["codes of Arrow"] = pa.Table.from_pandas(kinds["categories"], preserve_index=False)
    models = {name: EspalierClassifier(max_leaves=20).fit(rows, y.to_numpy()) for name, rows in kinds.items()}
    assert len({model.tree_.digest for model in models.values()}) == 1
    want = models["pandas"].predict_proba(x)
    for name, rows in kinds.items():
        assert (models["pandas"].predict_proba(rows) == want).all(), name
    array = EspalierClassifier(max_leaves=20).fit(x.to_numpy(object), y)
    assert (array.predict_proba(x.to_numpy(object)) == want).all()
    assert "feature_names_in_" not in vars(array)


def test_arrays_and_frames_mixed() -> None:
    """Columns have their places where there are no names, whatever names others have."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x1": random.normal(size=200), "x0": random.integers(0, 9, 200), "b": random.normal(size=200)})
    y = (frame["x1"] > 0) ^ (frame["x0"] > 4)
    named = EspalierClassifier().fit(frame, y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert (named.predict(frame.to_numpy()) == named.predict(frame)).all()
    plain = EspalierClassifier().fit(frame.to_numpy(), y)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        assert (plain.predict(frame) == plain.predict(frame.to_numpy())).all()
    assert named.explain(frame.iloc[0]) == named.explain(frame.iloc[[0]]) == named.explain(frame.iloc[0].to_dict())
    assert plain.explain(frame.iloc[0].to_list()) == plain.explain(frame.to_numpy()[:1])
    with pytest.raises(ValueError, match="2 rows: want one"):
        named.explain(frame.iloc[:2])


@pytest.mark.filterwarnings("ignore::espalier.EspalierWarning")
def test_unusual_labels() -> None:
    x = pd.DataFrame({"a": [0, 1] * 100})
    moments = np.array(["2020-01-01", "2021-01-01"], "M8[D]")[x["a"]]
    for y in (moments, pd.Series(moments), pd.Series(x["a"] + 2**60, dtype="Int64"), pd.Series(x["a"] == 1, dtype="boolean")):
        model = EspalierClassifier().fit(x, y)
        assert (model.predict(x) == np.asarray(y)).all(), y.dtype
    flags = x["a"] == 1
    constant = pd.DataFrame({"a": [1.0] * 200})
    assert EspalierClassifier(class_weight={0: 1, 1: 5}).fit(constant, flags).predict_proba(constant)[0, 1] > 0.8
    for y in (["a", None] * 100, pd.Series(["a", None] * 100, dtype="string")):
        with pytest.raises(ValueError, match="missing labels|NaN|missing values"):
            EspalierClassifier().fit(x, y)
    commas = np.array(["a,b", 'c"d'])[x["a"]]
    demanding = EspalierClassifier(min_sensitivity={"a,b": 0.5}).fit(x, commas)
    assert (demanding.predict(x) == commas).all()


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"max_cost": 0}, "max_cost=0: want a number above 0"),
        ({"costs": 3}, "costs=3: want a mapping"),
        ({"error_costs": [[0, 1], [5, 0]]}, "error_costs=.*: want a mapping"),
        ({"error_costs": {"a": 1}}, "want costs by pairs"),
        ({"groups": {"g": ["a"]}}, "groups: 'g' is .*: want a price and a list"),
        ({"settings": {"output": "x"}}, "settings has 'output'"),
        ({"settings": {"seed": 1}, "random_state": 2}, "settings has 'seed' beside random_state"),
        ({"min_sensitivity": {0: 0.5, 1: 0.3}}, "want the share of one class"),
    ],
)
def test_unusual_parameters(parameters: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        EspalierClassifier(**parameters).fit([[0], [1]] * 50, [0, 1] * 50)


def test_ordered_categories_elsewhere() -> None:
    """The types of columns that are no features, or that a setting reads, do not matter."""
    sizes = pd.Series(pd.Categorical(["low", "high", "mid"] * 50, ["low", "mid", "high"], ordered=True))
    frame = pd.DataFrame({"x": sizes.cat.codes, "size": sizes, "one": pd.Categorical(["a"] * 150, ["a"], ordered=True)})
    assert train(frame, "size").tree.predict(frame)[0] == "low"
    groups = pd.Series(pd.Categorical([f"g{at // 5}" for at in range(150)], ordered=True))
    grouped = EspalierClassifier().fit(frame[["x", "one"]], sizes == "low", groups=groups)
    assert grouped.score(frame[["x", "one"]], sizes == "low") == 1
    model = EspalierClassifier(categorical=["size"]).fit(frame[["size"]], sizes == "mid")
    assert model.score(frame[["size"]], sizes == "mid") == 1 and "<" not in model.show()
    turned = pd.DataFrame({"n": pd.Categorical([0, 1, 2] * 50, [0, 2, 1], ordered=True)})
    with pytest.raises(ValueError, match="'n' has ordered numbers that do not ascend"):
        EspalierClassifier().fit(turned, sizes == "low")
    with pytest.raises(ValueError, match="the column 'a' is of the type"):
        EspalierClassifier().fit(pd.DataFrame({"a": pd.cut(np.arange(150), 3)}), sizes == "low")
    cuts = EspalierClassifier(cuts={"x": np.array([0.5, 1.5])}, forbid=frame.columns[1:]).fit(frame, sizes == "low")
    assert cuts.tree_.feature_names_in_.tolist() == ["x"]


def test_failed_fit() -> None:
    x = [[0], [1]] * 50
    model = EspalierClassifier().fit(x, ["sick", "well"] * 50)
    with pytest.raises(ValueError, match="max_cost=0"):
        model.set_params(max_cost=0).fit(x, ["no", "yes"] * 50)
    with pytest.raises(NotFittedError):
        model.predict(x)
    with pytest.raises(ValueError, match="^costs costs.csv, line") as caught:
        EspalierClassifier(costs={"x3": 1}).fit(x, [0, 1] * 50)
    assert "/" not in str(caught.value)


def test_unusual_columns() -> None:
    y = [0, 1] * 50
    for frame, problem in (
        (pd.DataFrame({"": y}), "a column has an empty name"),
        (pd.DataFrame([y, y], index=["a", "a"]).T, "two columns are called 'a'"),
        (pd.DataFrame({"a": pd.to_timedelta(y, unit="s")}), "the column 'a' is of the type duration"),
    ):
        with pytest.raises(ValueError, match=problem):
            EspalierClassifier().fit(frame, y)
    with pytest.raises(ValueError, match="X is a mapping"):
        EspalierClassifier().fit({"a": y}, y)
    moments = pd.DataFrame({"a": pd.to_datetime(["2020-01-01", "2021-01-01"] * 50, utc=True)})
    model = EspalierClassifier().fit(moments, y)
    with pytest.warns(UserWarning, match="without a time zone are read as UTC"):
        assert model.score(moments["a"].dt.tz_localize(None).to_frame(), y) == 1


def test_types_of_frames() -> None:
    """Ordered categories are cut in their order, and numbers that are categories are not."""
    sizes = pd.Categorical(["low", "high", "mid", "top"] * 50, ["low", "mid", "high", "top"], ordered=True)
    codes = pd.Categorical([7, 1, 3, 5] * 50)
    frame = pd.DataFrame({"size": sizes, "code": codes})
    model = EspalierClassifier().fit(frame[["size"]], frame["size"].isin(["low", "mid"]))
    assert "size < high" in model.show()
    model = EspalierClassifier().fit(frame[["code"]], frame["code"].isin([1, 7]))
    assert "<" not in model.show() and model.score(frame[["code"]], frame["code"].isin([1, 7])) == 1


def test_prices_in_the_order_of_columns() -> None:
    x = np.array([[0, 0], [1, 1], [0, 0], [1, 1]] * 50)
    model = EspalierClassifier(costs=[5, 2]).fit(x, x[:, 0])
    assert model.tree_.feature_names_in_.tolist() == ["x1"] and model.cost_ == 2


def test_missing_values() -> None:
    x = pd.DataFrame({"a": [1.0, np.nan, 3.0, None] * 50, "b": ["u", None, "v", np.nan] * 50})
    y = np.array([0, 1, 0, 1] * 50)
    assert EspalierClassifier().fit(x, y).score(x, y) == 1
    assert EspalierClassifier().fit(x[["b"]], y).score(x[["b"]], y) == 1


@pytest.mark.filterwarnings("ignore")
def test_weights_and_groups(credit: tuple[pd.DataFrame, pd.Series]) -> None:
    x, y = credit
    weights = np.where(y == "bad", 2.5, 0.5)
    model = EspalierClassifier(max_leaves=8)
    plain = model.fit(x, y).predict_proba(x)[:, 0].mean()
    assert model.fit(x, y, sample_weight=weights).predict_proba(x)[:, 0].mean() > plain + 0.2
    random = np.random.default_rng(0)
    patients = np.repeat(np.arange(300), 4)  # rows of a patient have nearly one value, and the class of the patient
    like = pd.DataFrame({"value": random.normal(size=300)[patients] + 0.001 * random.normal(size=1200)})
    sick = random.random(300)[patients] > 0.5
    together, apart = (
        EspalierClassifier(selection="highest").fit(like, sick, groups=groups).metrics_["folds"]["mean"]["auc_ovr_macro"]
        for groups in (patients, None)
    )
    assert together < 0.6 < apart - 0.1  # by its own rows a patient is known
    balanced = EspalierClassifier(max_leaves=8, class_weight="balanced").fit(x, y)
    assert balanced.predict_proba(x)[:, 0].mean() == pytest.approx(0.5, abs=0.05)


@pytest.mark.filterwarnings("ignore")
def test_meta_estimators(credit: tuple[pd.DataFrame, pd.Series]) -> None:
    x, y = credit
    model = EspalierClassifier(max_leaves=6)
    assert cross_val_score(model, x, y, cv=3, scoring="roc_auc").mean() > 0.68
    grid = {"espalierclassifier__max_cost": [1, 3], "espalierclassifier__costs": [None, {"age": 3}]}
    search = GridSearchCV(make_pipeline(model), grid, cv=2, scoring="roc_auc", n_jobs=2).fit(x, y)
    assert len(search.cv_results_["params"]) == 4 and search.best_score_ > 0.65
    assert search.best_estimator_[-1].n_features_in_ == 20
    numeric = x.select_dtypes("number").columns
    columns = ColumnTransformer([("numbers", SimpleImputer(), numeric)], remainder="passthrough")
    assert make_pipeline(columns, model).fit(x, y).score(x, y) > 0.65
    assert CalibratedClassifierCV(model, cv=2).fit(x, y).predict_proba(x).shape == (len(x), 2)
    tuned = TunedThresholdClassifierCV(model, scoring="balanced_accuracy", cv=2).fit(x, y)
    assert 0 < tuned.best_threshold_ < 1
    importance = permutation_importance(model.fit(x, y), x, y, n_repeats=2, random_state=0)
    assert importance.importances_mean[list(x.columns).index("checking_status")] > 0
    stack = StackingClassifier([("tree", model)], LogisticRegression(), cv=2).fit(x, y)
    assert stack.score(x, y) > 0.65
    assert clone(model).get_params() == model.get_params()


def test_parameters_are_settings() -> None:
    """Each parameter is a setting of the program, or documented as one of this package."""
    own = {"settings", "n_jobs", "random_state", "class_weight", "selection", "groups"}
    called = [find(), "train", "--help_all"]
    printed = subprocess.run(called, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    for name in set(EspalierClassifier().get_params()) - own:
        assert f"--{name} " in printed, name
        assert name in (EspalierClassifier.__doc__ or ""), name
