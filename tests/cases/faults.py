"""Publishers that let something happen at a chosen moment of a real publication, and the audit store made read-only."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from invaract_orchestration.gate import Gate

Moment = Literal["candidate", "verdict", "quarantine", "before commit", "commit"]


@dataclass(frozen=True)
class Interrupted:
    """A publisher around the real one; `happen` is called once, right after the moment."""

    publisher: Any
    moment: Moment
    happen: Callable[[], None]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.publisher, name)

    def publish(self, intent: Any) -> Any:
        if self.moment == "before commit":
            self.happen()
        done = self.publisher.publish(intent)
        if self.moment == "commit":
            self.happen()
        return done

    def keep(self, request: Any) -> Any:
        done = self.publisher.keep(request)
        if self.moment == "quarantine":
            self.happen()
        return done


def at(moment: Moment, happen: Callable[[], None]) -> Callable[[Gate], Gate]:
    """A gate to which something happens once, right after a moment of its flow."""
    left = [happen]

    def once() -> None:
        if left:
            left.pop()()

    def told(gate: Gate, line: str) -> None:
        if moment == "candidate" and re.search(r"\d rows? in \d+ files?", line):
            once()
        if moment == "verdict" and line.startswith("verdict:"):
            once()
        gate.tell(line)

    def change(gate: Gate) -> Gate:
        return replace(gate, publisher=Interrupted(gate.publisher, moment, once), tell=lambda line: told(gate, line))

    return change


def die() -> None:
    """The end of this process, without a chance to tidy up."""
    os.kill(os.getpid(), signal.SIGKILL)


def meet(parties: int) -> Callable[[Gate], Gate]:
    """Gates that wait for each other after their checks, before the first of them commits."""
    barrier = threading.Barrier(parties, timeout=60)

    def change(gate: Gate) -> Gate:
        return at("before commit", lambda: barrier.wait() and None)(gate)

    return change


def make_read_only(database: Path) -> None:
    """Every insert into the audit store fails from now on, also for connections that are open."""
    with sqlite3.connect(database) as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for verb in ("INSERT", "UPDATE", "DELETE"):
                connection.execute(
                    f"CREATE TRIGGER read_only_{verb}_{table} BEFORE {verb} ON {table} "
                    "BEGIN SELECT RAISE(ABORT, 'attempt to write a readonly database'); END"
                )


def make_writable(database: Path) -> None:
    with sqlite3.connect(database) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE name LIKE 'read_only_%'").fetchall()
        for (name,) in names:
            connection.execute(f"DROP TRIGGER {name}")
