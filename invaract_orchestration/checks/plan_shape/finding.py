"""What one rule says about one plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NoReturn

from invaract_orchestration.candidate.plan.nodes import Plan
from invaract_orchestration.candidate.plan.render import node_text

Outcome = Literal["kept", "broken", "unverifiable"]


@dataclass(frozen=True, slots=True)
class PlanFinding:
    """The outcome, why, how to mend it, and the node that decided, with where it was written (no file: in the SQL text).

    A literal can be a value, so none is shown.
    """

    outcome: Outcome
    reason: str
    hint: str | None = None
    node: str | None = None
    line: int | None = None
    notes: tuple[str, ...] = ()
    file: str | None = None

    def __bool__(self) -> NoReturn:
        raise TypeError("a finding is kept, broken or unverifiable: compare its outcome, never its truth")


def kept(reason: str, *, at: Plan | None = None, notes: Iterable[str] = ()) -> PlanFinding:
    """The plan has what the rule asks for."""
    return _finding("kept", reason, None, at, tuple(dict.fromkeys(notes)))


def broken(reason: str, *, hint: str, at: Plan | None = None) -> PlanFinding:
    """The plan shows that the rule does not hold."""
    return _finding("broken", reason, hint, at)


def unverifiable(reason: str, *, at: Plan | None = None, hint: str | None = None) -> PlanFinding:
    """The plan hides a part that could decide it."""
    usual = "take the checkpoint inside track_checkpoints(), or hand the gate the frame before the hidden step"
    return _finding("unverifiable", reason, hint or usual, at)


def quoted(names: Iterable[str]) -> str:
    """Names in order, quoted, with commas."""
    return ", ".join(repr(name) for name in sorted(names))


def _finding(outcome: Outcome, reason: str, hint: str | None, at: Plan | None, notes: tuple[str, ...] = ()) -> PlanFinding:
    if at is None:
        return PlanFinding(outcome, reason, hint, notes=notes)
    return PlanFinding(outcome, reason, hint, node_text(at), at.line, notes, at.file)
