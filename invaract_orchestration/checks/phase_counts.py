"""What is asked and counted of a contract with steps, whichever engine runs them: each keeps, beside a phase's rows, lists of the
checks that each row broke, could not be asked, and has no value for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from invaract_orchestration.candidate.candidate import StepCount, Tally
from invaract_orchestration.candidate.step_plan import Chain
from invaract_orchestration.checks.phased import read_columns
from invaract_orchestration.checks.row_rules import RowCheck, row_checks
from invaract_orchestration.contract.field_types import FieldType
from invaract_orchestration.contract.model import Contract

LISTS = ("invaract_broken", "invaract_undecided", "invaract_nulls")
"""The columns with those lists."""
Listed = list[tuple[str, str]]
"""Checks, each with the SQL of when it is in a row's list."""
Checks = Sequence[RowCheck]
RowCondition = Callable[[RowCheck, Callable[[str], str | None], dict[str, FieldType], datetime], str]
NullCondition = Callable[[RowCheck, Callable[[str], str | None]], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseCounts:
    """A phase's rows, and by check in how many of their lists it is."""

    rows: int
    broken: Mapping[str, int]
    undecided: Mapping[str, int]
    nulls: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How an engine writes a check over columns."""

    name: Callable[[str], str]
    row_condition: RowCondition
    null_condition: NullCondition

    def lists(self, contract: Contract, chain: Chain, checks: Checks, now: datetime) -> tuple[Listed, Listed, Listed]:
        """The lists of a phase, as in `LISTS`. A check is not asked of a row where a value that it reads was lost in a cast."""
        wrong = {field.lower(): flag for field, flag in chain.casts}
        known = {n.lower(): self.name(n) for n in chain.columns}
        types = {spec.name: spec.type for spec in contract.fields}

        def column(name: str) -> str | None:
            return known.get(name.lower())

        broken = [(f"{field}|type", flag) for field, flag in chain.casts]
        undecided, nulls = [], []
        for check in checks:
            flags = [f"NOT {wrong[c]}" for c in sorted(read_columns(check, chain)) if c in wrong]
            is_asked = " AND ".join(flags) or "true"
            condition = self.row_condition(check, column, types, now)
            broken.append((check.check, f"({is_asked}) AND NOT ({condition})"))
            undecided.append((check.check, f"NOT ({is_asked})"))
            if (is_null := self.null_condition(check, column)) is not None:
                nulls.append((check.check, f"({is_asked}) AND {is_null}"))
        return broken, undecided, nulls


def failing_checks(chain: Chain, checks: Checks) -> list[str]:
    """The checks for which a row of the phase is set aside."""
    return [f"{field}|type" for field, _ in chain.casts] + [c.check for c in checks if c.severity == "error"]


def step_counts(chain: Chain, rows_of: Callable[[str], int]) -> tuple[StepCount, ...]:
    """Rows in and out of each step, by how many a relation has; steps that keep rows by their kind are not counted, but for
    lookups.
    """
    rows = rows_of(chain.begins)
    found = []
    for step in chain.steps:
        out = rows_of(step.view) if not step.keeps_rows or step.kind == "lookup" else rows
        found.append(StepCount(at=step.at, kind=step.kind, phase=chain.phase, rows_in=rows, rows_out=out))
        rows = out
    return tuple(found)


def stepped_tallies(
    contract: Contract, asked: tuple[tuple[Chain, Checks, PhaseCounts], ...], forms: Mapping[str, int],
    structure: Sequence[str], read: int,
) -> dict[str, Tally]:  # fmt: skip
    """The tally of every check. `forms` counts the records that were not in their form by check, `structure` are the checks of
    every record, and `read` is how many records there were.
    """
    tallies = {check: Tally(rows=read, failed=forms.get(check, 0)) for check in structure}
    for check in row_checks(contract):
        if check.kind == "type":
            lost = sum(counts.broken.get(check.check, 0) for _, _, counts in asked)
            tallies[check.check] = Tally(rows=read, failed=forms.get(check.check, 0) + lost)
            continue
        own = [counts for _, checks, counts in asked if check in checks]
        nulls = sum(counts.nulls.get(check.check, 0) for counts in own)
        tallies[check.check] = Tally(
            rows=own[-1].rows + sum(counts.broken.get(check.check, 0) for counts in own[:-1]),
            failed=sum(counts.broken.get(check.check, 0) for counts in own),
            undecided=sum(counts.undecided.get(check.check, 0) for counts in own),
            nulls=nulls if check.rule is None and check.kind != "required" else None,
        )  # fmt: skip
    others = {check: n for check, n in forms.items() if check not in tallies}
    return tallies | {check: Tally(rows=read, failed=n) for check, n in others.items()}
