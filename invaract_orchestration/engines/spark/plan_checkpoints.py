"""Checkpoints that the gate sees through: under `track_checkpoints()` the plan behind each is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any

from invaract_orchestration.engines.spark.catalyst_leaves import leaf_of
from invaract_orchestration.engines.spark.checkpoint_log import CHECKPOINTS, IS_TRACKING

_METHODS = ("checkpoint", "localCheckpoint")
_FRAMES = ("pyspark.sql.classic.dataframe", "pyspark.sql.connect.dataframe")


class _Methods:
    """The methods that note, in the frame classes for as long as any thread tracks: the first puts them in, the last takes
    them out."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._replaced: list[tuple[Any, str, Any, Any]] = []

    @contextmanager
    def in_place(self) -> Iterator[None]:
        with self._lock:
            if not self._users:
                self._put_in()
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._take_out()

    def _put_in(self) -> None:
        for frame in _frame_classes():
            for name in _METHODS:
                method = getattr(frame, name)
                noting = _noting(method)
                setattr(frame, name, noting)
                self._replaced.append((frame, name, method, noting))

    def _take_out(self) -> None:
        while self._replaced:
            frame, name, method, noting = self._replaced.pop()
            if getattr(frame, name) is noting:  # else somebody wrapped it since then: what is there stays, and notes nothing
                setattr(frame, name, method)


_NOTING = _Methods()


@contextmanager
def track_checkpoints() -> Iterator[None]:
    """Within the context, `checkpoint()` and `localCheckpoint()` remember the plan that they cut off.

    The gate judges a frame behind such a checkpoint as if the checkpoint were not there, also after the context. The
    frames themselves are not changed. Threads may track at the same time, and what a thread does that does not is not
    noted. Works on classic Spark and on Connect.
    """
    with _NOTING.in_place():
        token = IS_TRACKING.set(True)
        try:
            yield
        finally:
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
