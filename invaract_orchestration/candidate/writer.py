"""What an engine is asked to write as the candidate."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from invaract_orchestration.candidate.step_plan import StepPlan
from invaract_orchestration.candidate.target import TargetState
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
    plan: StepPlan | None = None
    """The contract's steps over this batch, for a contract that has some."""


def candidate_request(
    contract: Contract, batch: Batch, target: TargetState, *, location: str, now: datetime, plan: StepPlan | None = None
) -> CandidateRequest:
    """What to write for a target: names as it spells them, and laid out by its partitions (or those it will have)."""
    publish = contract.publish
    spelled = {f.name: c.name for f in contract.fields if (c := target.column(f.name)) is not None}
    partitions = target.partition_by if target.exists else (publish.partition_columns if publish else ())
    names = {spelled.get(f.name, f.name).lower(): f.name for f in contract.fields}
    return CandidateRequest(
        contract=contract, batch=batch, location=location, spelled=spelled, now=now, plan=plan,
        partition_by=tuple(names.get(p.lower(), p) for p in partitions),
    )  # fmt: skip
