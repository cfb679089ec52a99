"""Keeps a forked process off its parent's connections: used by both, they break for both."""

from __future__ import annotations

import os
import weakref

from sqlalchemy import Engine, Pool

_ENGINES: weakref.WeakSet[Engine] = weakref.WeakSet()
_LEFT_BEHIND: list[Pool] = []  # closing these would say goodbye to the server in the parent's name


def survive_forks(engine: Engine) -> Engine:
    """The engine itself, which from now on starts without connections in a forked process."""
    _ENGINES.add(engine)
    return engine


def _leave_behind() -> None:
    for engine in _ENGINES:
        _LEFT_BEHIND.append(engine.pool)
        engine.dispose(close=False)


if hasattr(os, "register_at_fork"):  # elsewhere there are no forks
    os.register_at_fork(after_in_child=_leave_behind)
