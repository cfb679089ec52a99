"""Checkpoints that the gate sees through: under `track_checkpoints()` the plan behind each is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any

from invaract_orchestration.engines.spark.catalyst_leaves import leaf_of
from invaract_orchestration.engines.spark.checkpoint_log import CHECKPOINTS, IS_TRACKING

_METHODS = ("checkpoint", "localCheckpoint")
_FRAMES = ("pyspark.sql.classic.dataframe", "pyspark.sql.connect.dataframe")


@contextmanager
def track_checkpoints() -> Iterator[None]:
    """Within the context, `checkpoint()` and `localCheckpoint()` remember the plan that they cut off.

    The gate judges a frame behind such a checkpoint as if the checkpoint were not there, also after the context. The
    frames themselves are not changed, and what another thread does is not noted. Works on classic Spark and on Connect.
    """
    token = IS_TRACKING.set(True)
    replaced = [(frame, name, getattr(frame, name)) for frame in _frame_classes() for name in _METHODS]
    for frame, name, method in replaced:
        setattr(frame, name, _noting(method))
    try:
        yield
    finally:
        for frame, name, method in replaced:
            setattr(frame, name, method)
        IS_TRACKING.reset(token)


def _frame_classes() -> Iterator[Any]:
    """The frames of classic Spark and of Connect, as far as they are installed."""
    for module in _FRAMES:
        try:
            yield import_module(module).DataFrame
        except ImportError:  # a client alone has no classic frames, and classic Spark alone no gRPC
            continue


def _noting(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def checkpointed(frame: Any, *args: Any, **kwargs: Any) -> Any:
        result = method(frame, *args, **kwargs)
        if IS_TRACKING.get():  # another thread's checkpoint is not part of this context
            _note(result, frame)
        return result

    return checkpointed


def _note(result: Any, frame: Any) -> None:
    if hasattr(frame, "_jdf"):
        leaf = leaf_of(result._jdf.queryExecution().analyzed())
        if leaf is not None:
            CHECKPOINTS.note_rdd(leaf.rdd(), frame._jdf.queryExecution().analyzed())
    else:
        CHECKPOINTS.note_relation(result._plan, frame._plan)
