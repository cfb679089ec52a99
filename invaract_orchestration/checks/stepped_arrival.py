"""What arrived for a contract with steps: the columns that they read, and what they will make of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from invaract_orchestration.candidate.step_plan import StepPlan
from invaract_orchestration.candidate.step_source import Found, flattened, source_contract
from invaract_orchestration.checks.arrival import judge_arrival
from invaract_orchestration.checks.phased import judge_result, phased_checks
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.errors import NotSupported
from invaract_orchestration.intake.batch import Batch
from invaract_orchestration.intake.csv_header import read_header


def judge_stepped_arrival(
    contract: Contract, batch: Batch, session: Any, now: datetime
) -> tuple[Batch, tuple[CheckResult, ...], StepPlan | None]:
    """The batch, the results for its columns and for what the steps make of them, and the compiled steps. No row is judged.

    Raises:
        GateError: a step or a check cannot be done on the columns that arrive.
    """
    if batch.transform is not None:
        raise NotSupported(
            "a function as transformation does not go with a contract that declares steps or casts",
            hint="do what the steps do in the function, or what the function does in a step of kind sql",
        )
    if contract.source is None:
        own = contract.model_copy(update={"source": batch.source})
        contract = own.placed(contract.base, contract.environment, contract.declared)
    found = _found(contract, batch, session, now)
    contract = flattened(contract, found)
    source = source_contract(contract, found)
    batch, results = judge_arrival(source, batch, session, now)
    if any(r.is_blocking for r in results):
        return batch, results, None
    plan: StepPlan = session.compile_steps(contract, source, batch, now)
    made = judge_result(contract, plan)
    if not any(r.is_blocking for r in made):
        phased_checks(contract, plan)
    return batch, (*results, *made), plan


def _found(contract: Contract, batch: Batch, session: Any, now: datetime) -> Found:
    """The columns that arrived, with their types where the format has some."""
    if batch.source.format == "csv":
        headers = [read_header(b.file, batch.source.options) for b in batch.files]
        names = [n for header in headers for n in header.names]
        folders = [n for b in batch.files for n, _ in b.file.partition]
        return dict.fromkeys([*names, *folders])
    if batch.source.format == "json":
        types: Found = session.json_types(batch)
        return types
    schemas = session.observe(contract, batch, now)
    return {c.name: c.type if not isinstance(c.type, str) else None for schema in schemas for c in schema.columns}
