"""Row checks: what every row is asked, as values that each engine turns into one expression.

A check passes a row or not; null passes every check but `required`, and a row rule unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from invaract_orchestration.contract.field_types import FieldType
from invaract_orchestration.contract.fields import every_field
from invaract_orchestration.contract.implied_rules import implied_rules
from invaract_orchestration.contract.model import Contract, FieldSpec, RowRule, Severity

RowCheckKind = Literal[
    "type", "required", "not_blank", "min", "max", "allowed", "pattern", "min_length", "max_length", "sql"
]
KINDS: tuple[RowCheckKind, ...] = (
    "type", "required", "not_blank", "min", "max", "allowed", "pattern", "min_length", "max_length",
)  # fmt: skip

MALFORMED = "row|malformed"
DUPLICATE_KEY = "row|duplicate_key"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCheck:
    """One question to every row. `path` is the field's names from the column down; empty for a row rule over several columns."""

    check: str
    kind: RowCheckKind
    path: tuple[str, ...]
    type: FieldType | None
    severity: Severity
    expected: str
    spec: FieldSpec | None = None
    rule: RowRule | None = None


def row_checks(contract: Contract) -> tuple[RowCheck, ...]:
    """Every row check of the contract, fields first in their order, then the row rules in theirs."""
    checks = [check for path, spec in every_field(contract.fields) for check in _field_checks(path, spec)]
    checks.extend(
        RowCheck(
            check=rule.name, kind="sql", path=(), type=None, severity=rule.severity, rule=rule,
            expected=f"true for every row: {rule.sql}"
            + (" (null passes)" if rule.null_is == "pass" else " (null fails)"),
        )
        for rule in (*contract.quality.row_rules, *implied_rules(contract))
    )  # fmt: skip
    return tuple(checks)


def _field_checks(path: tuple[str, ...], spec: FieldSpec) -> Iterator[RowCheck]:
    texts = expectations(spec)
    for kind in KINDS:
        if kind in texts:
            yield RowCheck(
                check=f"{'.'.join(path)}|{kind}", kind=kind, path=path, type=spec.type, spec=spec,
                severity="error" if kind == "type" else spec.severity, expected=texts[kind],
            )  # fmt: skip


def expectations(spec: FieldSpec) -> dict[str, str]:
    """What each check of a field asks for, as a text for people; a check that is not asked for is not there."""
    texts = {"type": f"every value is written as {spec.type}" + (f" in the form {spec.format}" if spec.format else "")}
    if spec.required:
        texts["required"] = "no null"
    if spec.not_blank:
        texts["not_blank"] = f"every non-null text holds more than {spec.not_blank}"
    if spec.min is not None:
        texts["min"] = f"every non-null value is {spec.min} or more (inclusive)"
    if spec.max is not None:
        texts["max"] = f"every non-null value is {spec.max} or less (inclusive)"
    if spec.allowed is not None:
        shown = ", ".join(repr(v) for v in spec.allowed[:10]) + (", ..." if len(spec.allowed) > 10 else "")
        texts["allowed"] = f"every non-null value is one of {shown}"
    if spec.pattern is not None:
        texts["pattern"] = f"every non-null value matches {spec.pattern} as a whole"
    if spec.min_length is not None:
        texts["min_length"] = f"every non-null text has {spec.min_length} or more characters (inclusive)"
    if spec.max_length is not None:
        texts["max_length"] = f"every non-null text has {spec.max_length} or fewer characters (inclusive)"
    return texts


