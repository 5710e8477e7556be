"""Espalier's trees in Python: scores of arrays and frames, lazy questions, RunInference, training.

    from espalier import Tree, train

    tree = Tree.from_run("runs/credit")
    tree.predict_proba(frame)

NumPy is the only requirement. TreeModelHandler needs the extra "beam", train the extra "train" and
the command espalier.
"""

import importlib
from typing import TYPE_CHECKING, Any

from .inquiry import Inquiry as Inquiry
from .inquiry import Question as Question
from .predictions import Prediction as Prediction
from .predictions import Predictions as Predictions
from .program import EspalierError as EspalierError
from .program import EspalierWarning as EspalierWarning
from .program import command as command
from .program import find as find
from .run import Run as Run
from .run import train as train
from .tree import Tree as Tree

if TYPE_CHECKING:
    from .beam import TreeModelHandler as TreeModelHandler
    from .classifier import EspalierClassifier as EspalierClassifier

__all__ = [
    "EspalierClassifier",
    "EspalierError",
    "EspalierWarning",
    "Inquiry",
    "Prediction",
    "Predictions",
    "Question",
    "Run",
    "Tree",
    "TreeModelHandler",
    "command",
    "find",
    "train",
]


_LAZY = {"EspalierClassifier": ".classifier", "TreeModelHandler": ".beam"}  # import scikit-learn and Beam


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
