"""The checks that a contract asks for, known from the contract alone: before any data is there, and without an engine.

Checks that the gate adds on its own stand for a group of results, as which of them are given depends on the data: the header
of a file, its structure, the place of the rows, and the constraints of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from invaract_orchestration.checks.dataset_rules import expected as dataset_expectation
from invaract_orchestration.checks.plan_rules import plan_rule_id
from invaract_orchestration.checks.result import CheckResult, Evidence, Stage
from invaract_orchestration.checks.row_rules import DUPLICATE_KEY, MALFORMED, row_checks
from invaract_orchestration.contract.model import Contract, Key, Severity, Source

INPUTS = "plan|inputs"
HEADER = "header"
SCHEMA = "schema"
STRUCTURE = "row|structure"
EMPTINESS = "batch|rows"
SET_ASIDE = "batch|max_quarantined"
PLACEMENT = "publish|placement"
CONSTRAINTS = "target|constraints"

_ARRIVAL: tuple[Stage, ...] = ("header", "schema")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredCheck:
    """One check of a contract: its stable id, and what it asks for as a text for people.

    `place` is the column or columns it is about, null where it is about the batch. `implied_by` is the evidence that shows it
    kept when the gate came that far without a result of its own for it, as nothing of that kind was there to ask.
    """

    check: str
    stage: Stage
    severity: Severity = "error"
    expected: str
    place: str | None = None
    implied_by: Evidence | None = None

    @property
    def can_block(self) -> bool:
        """Whether a result that is not kept can keep a batch from being published."""
        return self.severity == "error"


def declared_checks(contract: Contract) -> tuple[DeclaredCheck, ...]:
    """Every check in the order of the flow; each id once."""
    found: dict[str, DeclaredCheck] = {}
    for check in _declared(contract):
        found.setdefault(check.check, check)
    return tuple(found.values())


def declared_id(result: CheckResult, contract: Contract) -> str:
    """The id under which `declared_checks` lists what a result answers."""
    if result.stage in _ARRIVAL:
        return _arrival(contract)
    if result.check in (MALFORMED, DUPLICATE_KEY):
        return STRUCTURE
    if result.stage == "target":
        return CONSTRAINTS if result.origin == "target" else PLACEMENT
    return result.check


def results_by_check(contract: Contract, results: Sequence[CheckResult]) -> dict[str, tuple[CheckResult, ...]]:
    """The results under the id of each declared check; an empty tuple for a check that was not judged."""
    declared = declared_checks(contract)
    found: dict[str, list[CheckResult]] = {check.check: [] for check in declared}
    for result in results:
        found.setdefault(declared_id(result, contract), []).append(result)
    for check in declared:
        if not found[check.check] and check.implied_by is not None and _came_to(check, results):
            found[check.check] = [_implied(check, check.implied_by)]
    return {check: tuple(answers) for check, answers in found.items()}


def _came_to(check: DeclaredCheck, results: Sequence[CheckResult]) -> bool:
    """Whether the gate came as far as this check: the constraints of the table are asked last, of what nothing blocks."""
    if check.stage == "target":
        return any(r.check == EMPTINESS for r in results) and not any(r.is_blocking for r in results)
    return any(r.stage == check.stage for r in results)


def _implied(check: DeclaredCheck, evidence: Evidence) -> CheckResult:
    return CheckResult(
        check=check.check, stage=check.stage, outcome="kept", expected=check.expected, origin="gate",
        found="nothing of that kind was there to ask", evidence=evidence,
    )  # fmt: skip


def _declared(contract: Contract) -> Iterator[DeclaredCheck]:
    if contract.source is not None and contract.source.inputs:
        inputs = ", ".join(sorted(contract.source.inputs))
        yield DeclaredCheck(check=INPUTS, stage="plan", expected=f"the query reads {inputs}, with the declared fields")
    for rule in contract.rules:
        yield DeclaredCheck(
            check=plan_rule_id(rule), stage="plan", severity=rule.severity,
            expected=f"the transformation keeps {rule.type}",
        )  # fmt: skip
    yield _arrival_check(contract)
    yield DeclaredCheck(
        check=STRUCTURE, stage="rows", expected="every record is well formed and can be read", implied_by="write"
    )
    yield DeclaredCheck(check=EMPTINESS, stage="rows", expected="there are rows to publish, or none is fine")
    for check in row_checks(contract):
        yield DeclaredCheck(
            check=check.check, stage="rows", severity=check.severity, expected=check.expected,
            place=".".join(check.path) or None,
        )  # fmt: skip
    if contract.quality.on_row_failure == "quarantine":
        yield DeclaredCheck(check=SET_ASIDE, stage="rows", expected="no more rows are set aside than the contract allows")
    yield from (_key(key) for key in contract.all_keys())
    for dataset_rule in contract.quality.dataset_rules:
        yield DeclaredCheck(
            check=dataset_rule.name, stage="dataset", severity=dataset_rule.severity,
            expected=dataset_expectation(dataset_rule),
        )  # fmt: skip
    yield from _placement(contract)


def _arrival(contract: Contract) -> str:
    return HEADER if (contract.source or Source()).format == "csv" else SCHEMA


def _arrival_check(contract: Contract) -> DeclaredCheck:
    names = ", ".join(field.name for field in contract.fields[:20]) + (", ..." if len(contract.fields) > 20 else "")
    what = "the header of every file" if _arrival(contract) == HEADER else "the schema of what is read"
    return DeclaredCheck(check=_arrival(contract), stage="schema", expected=f"{what} is as agreed: {names}")


def _key(key: Key) -> DeclaredCheck:
    columns = ", ".join(key.columns)
    where = "the batch and the target" if key.across == "target" else "the batch"
    return DeclaredCheck(
        check=key.check_id, stage="keys", severity=key.severity, expected=f"every ({columns}) once in {where}", place=columns
    )


def _placement(contract: Contract) -> Iterator[DeclaredCheck]:
    publish = contract.publish
    if publish is None:
        return
    if publish.partition or publish.mode in ("replace_partitions", "replace_where"):
        yield DeclaredCheck(
            check=PLACEMENT, stage="target", expected="every row lies where the contract publishes to",
        )
    yield DeclaredCheck(
        check=CONSTRAINTS, stage="target", expected="the rows fit the table's own NOT NULL and CHECK constraints",
        implied_by="target",
    )  # fmt: skip
