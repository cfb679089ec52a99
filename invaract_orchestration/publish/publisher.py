"""The port that makes a candidate visible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from invaract_orchestration.candidate.candidate import FailingRows
from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.publish.intent import Published, PublishIntent, TargetCommit


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepRequest:
    """Failing rows to keep in the quarantine table. `once` and the rows themselves make a repetition a no-op."""

    location: str
    rows: FailingRows
    once: str
    submission_id: str
    attempt_id: str
    contract: str
    version: str
    phase: str
    kind: str


class Publisher(Protocol):
    """The target's side of the gate."""

    def inspect(self, location: str) -> TargetState:
        """The target as it is now; a table that does not exist is no error."""

    def find(self, location: str, submission_id: str) -> Published | None:
        """The commit that carries a submission already, from the target's own log; none when there is none."""

    def publish(self, intent: PublishIntent) -> Published:
        """Commit the candidate, once, if the target is still at the version of the intent.

        Raises `PublishConflict` when another writer was first, `TargetRefused` when the table forbids it, `OutcomeUnknown`
        when it cannot be known whether the commit landed.
        """

    def history(self, location: str) -> tuple[TargetCommit, ...]:
        """The target's commits, newest first, as far back as its log reaches; none when there is no table."""

    def version(self, location: str) -> int | None:
        """The version of a Delta table now; none when there is no table."""

    def keep(self, request: KeepRequest) -> bool:
        """Append failing rows to the quarantine; false when they are there already."""
