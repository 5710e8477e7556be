"""Espalier's trees in Python: an estimator for scikit-learn, scores of frames, lazy questions, Beam.

    from espalier import EspalierClassifier

    model = EspalierClassifier(costs={"ct": 120}, max_expected_cost=20).fit(frame, labels)

train returns a whole run, Tree reads a tree that exists, command calls the program, and espalier.beam has
TreeModelHandler, which needs the extra "beam".
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
    "command",
    "find",
    "train",
]


_LAZY = {"EspalierClassifier": ".classifier", "TreeModelHandler": ".beam"}  # import scikit-learn and Beam


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
