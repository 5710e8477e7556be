"""Espalier's trees in Python: scores of arrays and frames, lazy questions, RunInference, training.

    from espalier_beam import Tree, train

    tree = Tree.from_run("runs/credit")
    tree.predict_proba(frame)

NumPy is the only requirement. TreeModelHandler needs the extra "beam", train the extra "train" and
the command espalier.
"""

from typing import TYPE_CHECKING, Any

from .inquiry import Inquiry as Inquiry
from .inquiry import Question as Question
from .predictions import Prediction as Prediction
from .predictions import Predictions as Predictions
from .train import EspalierError as EspalierError
from .train import Run as Run
from .train import command as command
from .train import train as train
from .tree import Tree as Tree

if TYPE_CHECKING:
    from .handler import TreeModelHandler as TreeModelHandler

__all__ = [
    "EspalierError",
    "Inquiry",
    "Prediction",
    "Predictions",
    "Question",
    "Run",
    "Tree",
    "TreeModelHandler",
    "command",
    "train",
]


def __getattr__(name: str) -> Any:
    if name == "TreeModelHandler":  # imports Beam
        from .handler import TreeModelHandler

        return TreeModelHandler
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
