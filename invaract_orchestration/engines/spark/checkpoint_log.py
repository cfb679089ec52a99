"""The plans that checkpoints cut off while tracking was on, for as long as the process lives."""

from __future__ import annotations

from contextvars import ContextVar
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

IS_TRACKING: ContextVar[bool] = ContextVar("is_tracking", default=False)
"""Whether checkpoints of this context are noted."""
_MOST_KEPT = 10_000  # a plan in the JVM is kept alive by its note; a checkpoint beyond these is hidden again


class CheckpointLog:
    """Plans of classic Spark by the RDD of the checkpoint, of a Connect client by its own node."""

    def __init__(self) -> None:
        self._classic: dict[tuple[str, int], Any] = {}
        self._lock = Lock()
        self._connect: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    def note_rdd(self, rdd: Any, plan: Any) -> None:
        """The analysed plan (of the JVM) behind a checkpoint's RDD."""
        key = _key(rdd)
        with self._lock:
            self._classic[key] = plan
            if len(self._classic) > _MOST_KEPT:
                del self._classic[next(iter(self._classic))]

    def behind_rdd(self, rdd: Any) -> Any:
        """That plan, or null."""
        return self._classic.get(_key(rdd)) if self._classic else None

    def note_relation(self, relation: Any, plan: Any) -> None:
        """The client's plan behind a relation that the server keeps."""
        self._connect[relation] = plan

    def behind_relation(self, relation: Any) -> Any:
        """That plan, or null."""
        return self._connect.get(relation)


CHECKPOINTS = CheckpointLog()


def _key(rdd: Any) -> tuple[str, int]:
    return str(rdd.sparkContext().applicationId()), int(rdd.id())
