"""What a run will do, said before it does it: the plan, where each column comes from, the rules on it, and what will be read."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from invaract_orchestration.audit.log import AttemptView
from invaract_orchestration.candidate.compiled import compile_plan, input_tags
from invaract_orchestration.candidate.step_plan import StepPlan
from invaract_orchestration.checks.arrival import judge_source
from invaract_orchestration.checks.plan_rules import judge_plan_rules
from invaract_orchestration.checks.result import CheckResult, Evidence
from invaract_orchestration.checks.row_rules import DUPLICATE_KEY, MALFORMED, row_checks
from invaract_orchestration.checks.stepped_arrival import judge_stepped_arrival
from invaract_orchestration.contract.field_types import DATE, FLOATS, INTEGERS, TIMESTAMP_NTZ, Decimal
from invaract_orchestration.contract.model import Contract, Source
from invaract_orchestration.errors import GateError
from invaract_orchestration.intake.batch import Batch

PLAN = "plan"
"""Key of the event that holds a plan's tree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """`lineage` maps each output column to its sources and how it derives from them, `tags` to the sensitivity that reaches it.

    `evidence` is what each check of a good batch will rest on. `passes` are the reads of data that the run will start: one write
    of the candidate, at most one scan of it, one pass for each key, one query for each dataset rule that needs one. `drift` is
    what changed in the plan since the last publication, as a unified diff; empty when nothing did or nothing is known.
    """

    plan: str
    lineage: dict[str, dict[str, Any]]
    tags: dict[str, list[str]]
    rules: tuple[CheckResult, ...]
    evidence: tuple[tuple[str, Evidence], ...]
    passes: tuple[tuple[str, int], ...]
    drift: tuple[str, ...]
    steps: tuple[tuple[str, str, str], ...] = ()
    """Number in the contract, kind and phase of each declared step, in the order in which they run."""

    @property
    def is_blocked(self) -> bool:
        """Whether a plan rule will keep the run from reading anything."""
        return any(r.is_blocking for r in self.rules)


def explain(contract: Contract, batch: Batch, session: Any, published: Sequence[AttemptView], now: datetime) -> Explanation:
    """Explain a batch without reading a row of it. `published` are attempts under the contract that published, newest first."""
    batch, arrived = judge_source(contract, batch, session, now)
    if any(r.is_blocking for r in arrived):
        raise GateError("the source does not arrive as agreed: " + "; ".join(f"{r.check}: {r.found}" for r in arrived))
    plan = None
    if contract.is_stepped:
        batch, arrived, plan = judge_stepped_arrival(contract, batch, session, now)
        if plan is None:
            raise GateError("the source does not arrive as agreed: " + "; ".join(f"{r.check}: {r.found}" for r in arrived))
    compiled = compile_plan(contract, batch, session.table_schemas(batch), session.frame_plan(batch), steps=plan)
    told = compiled.describe(input_tags(contract))
    evidence = expected_evidence(contract)
    scans = sum(1 for _, e in evidence if e == "scan")
    queries = sum(1 for r in contract.quality.dataset_rules if r.row_count is None and r.null_share is None)
    before = next((str(e.detail[PLAN]) for view in published for e in view.events if PLAN in e.detail), None)
    drift = () if before is None else difflib.unified_diff(
        before.splitlines(), str(told[PLAN]).splitlines(), "last published", "now", lineterm=""
    )  # fmt: skip
    return Explanation(
        plan=str(told[PLAN]), lineage=json.loads(str(told["lineage"])), tags=json.loads(str(told["tags"])),
        rules=judge_plan_rules(contract, compiled), evidence=evidence, steps=explained_steps(plan), drift=tuple(drift),
        passes=(
            ("write of the candidate", 1), ("scan of the candidate", int(scans > 0)), ("key pass", len(contract.all_keys())),
            ("dataset query", queries),
        ),
    )  # fmt: skip


def explained_steps(plan: StepPlan | None) -> tuple[tuple[str, str, str], ...]:
    """What happens to the rows, in order: the steps of phase pre, the checks, those of phase post."""
    if plan is None:
        return ()
    return tuple(
        (str(step.at + 1), step.kind, chain.phase) for chain in (plan.pre, plan.post) for step in chain.steps
    )  # fmt: skip


def expected_evidence(contract: Contract) -> tuple[tuple[str, Evidence], ...]:
    """What each check of a good batch rests on; where statistics cannot prove one after all, it is scanned for."""
    source = contract.source or Source()
    is_text = source.format in ("csv", "json")
    found: list[tuple[str, Evidence]] = [(MALFORMED, "write")] if is_text else []
    found += [(DUPLICATE_KEY, "write")] if source.format == "json" else []
    for check in row_checks(contract):
        if contract.is_stepped:
            found.append((check.check, "scan"))
        elif check.kind == "type":
            has_form = is_text and (source.format == "json" or str(check.type) != "string")
            found.append((check.check, "write" if has_form else "statistics"))
        elif check.kind == "required" or (check.kind in ("min", "max") and _has_bounds(check.type)):
            found.append((check.check, "statistics" if len(check.path) == 1 else "scan"))
        else:
            found.append((check.check, "scan"))
    found += [(key.check_id, "target" if key.across == "target" else "key pass") for key in contract.all_keys()]
    for rule in contract.quality.dataset_rules:
        is_known = rule.row_count is not None or rule.null_share is not None
        found.append((rule.name, "statistics" if is_known else "target" if rule.references is not None else "scan"))
    return tuple(found)


def _has_bounds(type_: Any) -> bool:
    return type_ in INTEGERS or type_ in FLOATS or type_ in (DATE, TIMESTAMP_NTZ) or isinstance(type_, Decimal)
