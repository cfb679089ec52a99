"""The port that materialises a candidate."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from invaract_orchestration.candidate.candidate import Candidate, Materialised
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.intake.batch import Batch


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRequest:
    """What to write, where, and under which names. `now` is what current_date() and its like are bound to."""

    contract: Contract
    batch: Batch
    location: str
    spelled: dict[str, str]
    partition_by: tuple[str, ...]
    now: datetime


class CandidateWriter(Protocol):
    """Writes the rows of a batch once. Raises InputUnreadable for what cannot be read, EngineFailure for the rest."""

    def materialise(self, request: CandidateRequest) -> Materialised:
        """Write the good rows as the candidate and keep failing rows beside it. With `on_row_failure: reject` the candidate
        may still hold failing rows: it is never published then.
        """

    def redigest(self, candidate: Candidate) -> str:
        """The digest of the files as they are now. Raises CandidateChanged when one is missing."""
