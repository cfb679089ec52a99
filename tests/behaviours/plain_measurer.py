"""The measurer in plain Python: it reads a candidate's files whole and counts row by row, without a query."""

from __future__ import annotations

import csv
import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from invaract_orchestration.candidate.candidate import Candidate
from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.checks.measurements import DatasetFact, KeyCount
from invaract_orchestration.contract.field_types import INTEGERS, STRING
from invaract_orchestration.contract.model import Contract, DatasetRule, Key
from invaract_orchestration.engines.delta.read import read_columns
from invaract_orchestration.errors import GateError, NotSupported

_BLANKS = "".join(chr(c) for c in range(0x3001) if unicodedata.category(chr(c)) == "Zs" or chr(c) in "\t\n\v\f\r")
_STEPS: dict[str, Callable[[str], str]] = {
    "trim": lambda s: s.strip(_BLANKS), "lower": str.lower, "casefold": str.casefold,
    "nfc": lambda s: unicodedata.normalize("NFC", s), "nfkc": lambda s: unicodedata.normalize("NFKC", s),
}  # fmt: skip


@dataclass(frozen=True)
class PlainMeasurer:
    """See `Measurer`; it knows no SQL, which it says."""

    table_place: Callable[[str], str]

    def count_key(self, contract: Contract, candidate: Candidate, key: Key, target: TargetState | None) -> KeyCount:
        keys = [self._key(contract, key, row) for row in rows_of(candidate)]
        whole = [k for k in keys if k is not None]
        counts = Counter(whole)
        repeated = {k: n for k, n in counts.items() if n > 1}
        return KeyCount(
            rows=len(keys), null_rows=len(keys) - len(whole), duplicate_rows=sum(repeated.values()), duplicate_keys=len(repeated),
            in_target=sum(k in self._there(contract, key, target) for k in whole), evidence="key pass",
        )  # fmt: skip

    def _there(self, contract: Contract, key: Key, target: TargetState | None) -> set[Any]:
        if key.across != "target" or target is None or not target.exists:
            return set()
        if contract.publish is None or contract.publish.mode != "append":
            raise NotSupported("which rows of the target stay is known for an append alone here")
        found = read_columns(target.location, target.version, list(key.columns)).read_all().to_pylist()
        return {k for row in found if (k := self._key(contract, key, row)) is not None}

    def _key(self, contract: Contract, key: Key, row: dict[str, Any]) -> tuple[Any, ...] | None:
        values = []
        for name in key.columns:
            spec, value = contract.field(name), row[name]
            assert spec is not None  # a key's columns are fields
            if value is None:
                return None
            for step in spec.normalize if spec.type == STRING else ():
                value = _STEPS[step](value)
            values.append(("NaN",) if isinstance(value, float) and math.isnan(value) else value + 0 if isinstance(value, float) else value)
        return tuple(values)

    def measure_dataset(
        self, contract: Contract, candidate: Candidate, rule: DatasetRule, target: TargetState | None, now: datetime
    ) -> DatasetFact:
        rows = rows_of(candidate)
        if rule.row_count is not None:
            return DatasetFact(value=len(rows))
        if rule.null_share is not None:
            column = rule.null_share.column
            return DatasetFact(value=sum(row[column] is None for row in rows) / len(rows) if rows else 0.0)
        if rule.covers is not None:
            wanted = self._wanted(contract, rule.covers.reference, rule.covers.reference_column or rule.covers.column)
            spec = contract.field(rule.covers.column)
            assert spec is not None  # the loader has seen to it
            values = {int(w) if spec.type in INTEGERS else w for w in wanted}
            return DatasetFact(value=len(values - {row[rule.covers.column] for row in rows}))
        if rule.references is not None:
            there = read_columns(self.table_place(rule.references.table), None, list(rule.references.key)).read_all().to_pylist()
            known = {tuple(row[k] for k in rule.references.key) for row in there}
            asked = [tuple(row[c] for c in rule.references.columns) for row in rows]
            return DatasetFact(value=sum(None not in a and a not in known for a in asked))
        raise NotSupported("a query cannot be measured here")

    def _wanted(self, contract: Contract, reference: str, column: str) -> set[str]:
        path = (contract.base or Path.cwd()) / reference
        if not path.exists():
            raise GateError(f"the reference {reference!r} does not exist", code="dataset.reference_missing")
        with path.open(encoding="utf-8", newline="") as file:
            found = {row[column] for row in csv.DictReader(file) if row[column]}
        if not found:
            raise GateError(f"the reference {reference!r} holds no value", code="dataset.reference_empty")
        return found

    def count_violations(self, candidate: Candidate, conditions: Sequence[str], now: datetime) -> Sequence[int]:
        if conditions:
            raise NotSupported("a condition in SQL cannot be counted here")
        return ()


def rows_of(candidate: Candidate) -> list[dict[str, Any]]:
    return [row for file in candidate.files for row in pq.read_table(file.path, partitioning=None).to_pylist()]
