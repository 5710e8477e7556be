"""Compares EspalierClassifier with DecisionTreeClassifier, whose ccp_alpha a search chooses, by cross_val_score.

	python bench/estimator.py [--sets iris,credit-g] [--folds 5]

For each data set of bench/data (and ../shared/data): mean AUC (one against rest) over the folds with its standard
error, the seconds of all fits, the leaves, and the features that a row is asked for. Both have default settings;
CART gets codes for texts, ordered by name, and the alphas of its own pruning path, thinned to 20, in a search of 5
folds.
"""

from __future__ import annotations

import argparse
import pathlib
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from espalier import EspalierClassifier
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

ROOT = pathlib.Path(__file__).resolve().parents[1]
SETS = "breast-w,credit-g,iris,mushroom,phoneme,spambase,tic-tac-toe,electricity"


class Cart(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """CART with cost-complexity pruning, chosen by folds."""

    def fit(self, x: Any, y: Any) -> Cart:
        alphas = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(x, y).ccp_alphas
        chosen = np.unique(np.quantile(np.maximum(alphas, 0), np.linspace(0, 1, 20)))
        search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"ccp_alpha": chosen}, scoring="roc_auc_ovr")
        self.tree_ = search.fit(x, y).best_estimator_
        self.classes_ = self.tree_.classes_
        return self

    def predict_proba(self, x: Any) -> Any:
        return self.tree_.predict_proba(x)

    def predict(self, x: Any) -> Any:
        return self.tree_.predict(x)


def asked(tree: DecisionTreeClassifier, x: Any) -> float:
    """Returns the mean number of features that CART asks for."""
    paths, features = tree.decision_path(x), tree.tree_.feature
    return float(np.mean([len({f for f in features[paths[at].indices] if f >= 0}) for at in range(len(x))]))


def main() -> None:
    warnings.simplefilter("ignore")
    options = argparse.ArgumentParser()
    options.add_argument("--sets", default=SETS)
    options.add_argument("--folds", type=int, default=5)
    given = options.parse_args()
    print(f"{'data':12} {'rows':>6}  {'method':9} {'AUC':>6} {'error':>6} {'seconds':>7} {'leaves':>6} {'asked':>5}")
    for name in given.sets.split(","):
        folder = next(f for f in (ROOT / "bench/data", ROOT.parent / "shared/data") if (f / name).is_dir())
        frame = pd.read_parquet(folder / name).dropna(subset="class").reset_index(drop=True)
        x, y = frame.drop(columns="class"), frame["class"]
        texts = x.select_dtypes(exclude="number").columns
        codes = x.copy()
        encoder = OrdinalEncoder(encoded_missing_value=-1)
        codes[texts] = encoder.fit_transform(x[texts].astype(object)) if len(texts) else codes[texts]
        parts = StratifiedKFold(given.folds, shuffle=True, random_state=1)
        for method, model, rows in (("espalier", EspalierClassifier(), x), ("CART", Cart(), codes.astype(float))):
            begun = time.time()
            scoring = "roc_auc" if y.nunique() == 2 else "roc_auc_ovr"
            result = cross_validate(model, rows, y, cv=parts, scoring=scoring, return_estimator=True)
            seconds = time.time() - begun
            scores, fitted = result["test_score"], result["estimator"]
            if method == "CART":
                leaves = np.mean([f.tree_.get_n_leaves() for f in fitted])
                features = np.mean([asked(f.tree_, rows) for f in fitted])
            else:
                leaves = np.mean([sum(test is None for test in f.tree_.document.tests) for f in fitted])
                features = np.mean([f.cost(rows).mean() for f in fitted])
            error = scores.std(ddof=1) / len(scores) ** 0.5
            print(
                f"{name:12} {len(x):6}  {method:9} {scores.mean():6.4f} {error:6.4f} {seconds:7.1f} {leaves:6.0f} {features:5.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
