"""The checks that a contract asks for, known from the contract alone: before any data is there, and without an engine.

Checks that the gate adds on its own stand for a group of results, as which of them are given depends on the data: the header
of a file, its structure, the place of the rows, and the constraints of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from invaract_orchestration.checks.dataset_rules import expected as dataset_expectation
from invaract_orchestration.checks.result import CheckResult, Stage
from invaract_orchestration.checks.row_rules import DUPLICATE_KEY, MALFORMED, row_checks
from invaract_orchestration.contract.model import Contract, Key, Severity, Source

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

    `place` is the column or columns it is about, null where it is about the batch. `is_implied` says that no result of the gate
    means kept once the rows were judged, as nothing of that kind was there to ask.
    """

    check: str
    stage: Stage
    severity: Severity = "error"
    expected: str
    place: str | None = None
    is_implied: bool = False

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


def results_by_check(contract: Contract, results: Iterable[CheckResult]) -> dict[str, tuple[CheckResult, ...]]:
    """The results under the id of each declared check; an empty tuple for a check that was not judged."""
    found: dict[str, list[CheckResult]] = {check.check: [] for check in declared_checks(contract)}
    for result in results:
        found.setdefault(declared_id(result, contract), []).append(result)
    return {check: tuple(answers) for check, answers in found.items()}


def _declared(contract: Contract) -> Iterator[DeclaredCheck]:
    for rule in contract.rules:
        yield DeclaredCheck(
            check=rule.name or f"plan|{rule.type}", stage="plan", severity=rule.severity,
            expected=f"the transformation keeps {rule.type}",
        )  # fmt: skip
    yield _arrival_check(contract)
    yield DeclaredCheck(
        check=STRUCTURE, stage="rows", expected="every record is well formed and can be read", is_implied=True
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
            check=PLACEMENT, stage="target", expected="every row lies where the contract publishes to", is_implied=True
        )
    yield DeclaredCheck(
        check=CONSTRAINTS, stage="target", expected="the rows fit the table's own NOT NULL and CHECK constraints",
        is_implied=True,
    )  # fmt: skip
