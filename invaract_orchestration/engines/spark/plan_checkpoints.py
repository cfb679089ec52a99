"""Checkpoints that the gate sees through: under `track_checkpoints()` the plan behind each is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from invaract_orchestration.engines.spark.catalyst_leaves import CheckpointLog
from invaract_orchestration.engines.spark.plan_classic import CHECKPOINTS

_METHODS = ("checkpoint", "localCheckpoint")


@contextmanager
def track_checkpoints() -> Iterator[CheckpointLog]:
    """Within the context, `checkpoint()` and `localCheckpoint()` of classic frames remember the plan they cut off.

    A plan that is translated inside the context is then judged as if the checkpoints were not there. The frames
    themselves are not changed. The log also holds after the context for those who keep it and hand it on.
    """
    from pyspark.sql.classic.dataframe import DataFrame  # only classic sessions checkpoint plans of the JVM

    outer = CHECKPOINTS.get()
    log = CheckpointLog() if outer is None else outer
    token = CHECKPOINTS.set(log)
    replaced = {name: getattr(DataFrame, name) for name in _METHODS}
    for name, method in replaced.items():
        setattr(DataFrame, name, _noting(method))
    try:
        yield log
    finally:
        for name, method in replaced.items():
            setattr(DataFrame, name, method)
        CHECKPOINTS.reset(token)


def _noting(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def checkpointed(frame: Any, *args: Any, **kwargs: Any) -> Any:
        result = method(frame, *args, **kwargs)
        log = CHECKPOINTS.get()
        if log is not None:  # another thread's checkpoint is not part of this context
            log.note(result._jdf.queryExecution().analyzed(), frame._jdf.queryExecution().analyzed())
        return result

    return checkpointed
