"""The port that counts: the engine measures, the checks judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from invaract_orchestration.candidate.candidate import Candidate
from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.checks.rows import rows_text
from invaract_orchestration.contract.field_types import FieldType
from invaract_orchestration.contract.model import Contract, DatasetRule, Key
from invaract_orchestration.errors import GateError


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyCount:
    """Rows of the candidate by what their key says. `evidence` is `statistics`, `scan` or `key pass`."""

    rows: int
    null_rows: int
    duplicate_rows: int
    """Rows whose key another row of the candidate has too."""
    duplicate_keys: int
    in_target: int
    """Rows whose key the target has already; only counted for keys across the target."""
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetFact:
    """What was measured for a dataset rule. `value` is a count or a share; for a query `is_within` says what its number did,
    null where the query gave null. Never a value of the data."""

    value: float | None
    is_within: bool | None = None


def coverage(rule: DatasetRule, type_: FieldType, *, missing: int, asked: int, unread: int) -> DatasetFact:
    """What a rule `covers` comes to: of the `asked` different values of its reference so many are `missing` in the candidate.

    Raises:
        GateError: the reference holds no value, or such as are none of the field's type (`unread`).
    """
    assert rule.covers is not None  # chosen by its kind
    place = f"dataset rule {rule.name!r}: "
    if unread:
        raise GateError(
            f"{place}{rows_text(unread)} of the reference {rule.covers.reference!r} hold no {type_}",
            code="dataset.reference_type", hint=f"write its values as those of {rule.covers.column!r}",
        )  # fmt: skip
    if not asked:
        raise GateError(
            f"{place}the reference {rule.covers.reference!r} holds no value, so it asks for nothing",
            code="dataset.reference_empty",
        )
    return DatasetFact(value=missing)


class Measurer(Protocol):
    """Counts on a candidate. A measurement that cannot be made raises GateError; it is never zero."""

    def count_key(self, contract: Contract, candidate: Candidate, key: Key, target: TargetState | None) -> KeyCount:
        """Count nulls, duplicates, and with a target the keys that it holds already."""

    def measure_dataset(
        self, contract: Contract, candidate: Candidate, rule: DatasetRule, target: TargetState | None, now: datetime
    ) -> DatasetFact:
        """Measure one dataset rule."""

    def count_violations(
        self, candidate: Candidate, conditions: Sequence[str], now: datetime
    ) -> Sequence[int]:
        """For each Spark SQL condition the rows for which it is not true, in one scan."""
