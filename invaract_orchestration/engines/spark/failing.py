"""Keeping failing rows: their original text, where they stood and what they broke, in the session's scratch folder."""

from __future__ import annotations

import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import sqlglot
from sqlglot import exp

from invaract_orchestration.candidate.candidate import Candidate, FailingRows
from invaract_orchestration.candidate.writer import CandidateRequest
from invaract_orchestration.checks.row_rules import MALFORMED, RowCheck
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.files import candidate_frame, spelled_columns
from invaract_orchestration.engines.spark.folders import path_of
from invaract_orchestration.engines.spark.row_conditions import null_condition, row_condition
from invaract_orchestration.engines.spark.rows import Rows, as_payload, column_types, only
from invaract_orchestration.engines.spark.session import PrivateSession, translated

_KEPT = pa.schema(
    [
        ("source_file", pa.string()), ("record_number", pa.int64()), ("rule_ids", pa.list_(pa.string())),
        ("payload", pa.string()),
    ]
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """What was kept aside, and per check id how many rows broke it, could not be asked, and had no value."""

    kept: FailingRows
    malformed: int
    broken: Mapping[str, int]
    undecided: Mapping[str, int]
    nulls: Mapping[str, int]


_Conditions = Sequence[tuple[RowCheck, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingWriter:
    """Finds the failing rows of a batch, from its source or from a candidate that holds all of its rows."""

    session: PrivateSession
    request: CandidateRequest
    rows: Rows
    conditions: _Conditions
    scratch: Path

    def from_source(self) -> Failing:
        """Read the source again, numbered; records that are none are kept too."""
        known = {name.lower(): column for name, column in self.rows.values.items()}
        nulls = [
            (c.check, f"({self._askable(c)}) AND {n}")
            for c, _ in self.conditions
            if (n := null_condition(c, lambda name: known.get(name.lower())))
        ]
        broken, undecided = self._lists()
        return self._collected(self.rows.numbered(), ("f", "n", "p"), broken, undecided, nulls, only)

    def from_candidate(self, whole: Candidate) -> Failing:
        """Take the failing rows from a candidate whose source gives no second reading."""
        types, fields = column_types(self.request.contract), self.request.contract.fields
        known = spelled_columns(whole.spelled, fields)
        packed = ", ".join(f"{q.text(f.name)}, {as_payload(known[f.name.lower()], f.type)}" for f in fields)

        def columns(name: str) -> str | None:
            return known.get(name.lower())

        broken = [
            (c.check, f"NOT ({row_condition(c, columns, types, self.request.now)})", c.severity == "error")
            for c, _ in self.conditions
        ]
        nulls = [(c.check, n) for c, _ in self.conditions if (n := null_condition(c, columns))]
        payload = f"to_json(named_struct({packed}), map('ignoreNullFields', 'false'))"
        place, frame = ("''", "0L", payload), candidate_frame(self.session.spark, whole)
        return self._collected(frame, place, broken, [], nulls, lambda rows, failing: rows.where(failing))

    def form_lists(self) -> list[tuple[str, str, bool]]:
        """(check, broken when, is error) for the structure and the forms of every record."""
        return self._lists()[0]

    def _lists(self) -> tuple[list[tuple[str, str, bool]], list[tuple[str, str]]]:
        """(check, broken when, is error) and (check, undecided when): a check of a value in a wrong form is undecided."""
        broken = [(check, f"NOT {column}", True) for check, column in self.rows.structure]
        structured = q.all_of(column for _, column in self.rows.structure)
        broken += [(check, f"({structured}) AND NOT {column}", True) for check, _, column in self.rows.rights]
        apart = q.all_of(c for check, c in self.rows.structure if check == MALFORMED and self.rows.counts_malformed_apart)
        undecided = []
        for check, condition in self.conditions:
            askable = self._askable(check)
            broken.append((check.check, f"({askable}) AND NOT ({condition})", check.severity == "error"))
            undecided.append((check.check, f"({apart}) AND NOT ({askable})"))
        return broken, undecided

    def _askable(self, check: RowCheck) -> str:
        """Whether every value that a check reads is in its declared form."""
        read = _columns_read(check, list(self.rows.values))
        forms = [column for _, field, column in self.rows.rights if field in read]
        return q.all_of(["true", *(c for _, c in self.rows.structure), *forms])

    def _collected(
        self, frame: Any, place: tuple[str, str, str], broken: Sequence[tuple[str, str, bool]],
        undecided: Sequence[tuple[str, str]], nulls: Sequence[tuple[str, str]], keep: Callable[[Any, str], Any],
    ) -> Failing:  # fmt: skip
        failing = " OR ".join(f"({when})" for _, when, is_error in broken if is_error) or "false"
        lists = [
            f"{list_of([(c, w) for c, w, _ in broken])} AS broken", f"{list_of(undecided)} AS undecided",
            f"{list_of(nulls)} AS nulls",
        ]  # fmt: skip
        chosen = keep(frame, failing).selectExpr(
            f"{place[0]} AS source_file", f"{place[1]} AS record_number", f"{place[2]} AS payload", *lists
        )
        folder = self.scratch / uuid.uuid4().hex
        with translated("keeping the failing rows"), self.session.own_plans():
            chosen.write.mode("error").parquet(str(folder))
        try:
            return self._together(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _together(self, folder: Path) -> Failing:
        """One file of all failing rows, and their counts."""
        path = self.scratch / f"failing-{uuid.uuid4().hex}.parquet"
        counts = {name: Counter[str]() for name in ("broken", "undecided", "nulls")}
        rows = 0
        with pq.ParquetWriter(path, _KEPT) as writer:
            path.chmod(0o600)
            for part in sorted(p for p in folder.glob("*.parquet") if not p.name.startswith(".")):
                for batch in pq.ParquetFile(part).iter_batches():
                    rows += batch.num_rows
                    for name, counter in counts.items():
                        counter.update(batch.column(name).flatten().to_pylist())
                    writer.write_batch(self._named(batch))
        apart = counts["broken"].get(MALFORMED, 0) if self.rows.counts_malformed_apart else 0
        return Failing(kept=FailingRows(location=str(path), rows=rows), malformed=apart, **counts)

    def _named(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        files = [path_of(uri) for uri in batch.column("source_file").to_pylist()]
        columns = [
            pa.array([self.rows.names.get(f, "") for f in files], pa.string()), batch.column("record_number").cast(pa.int64()),
            batch.column("broken").cast(pa.list_(pa.string())), batch.column("payload"),
        ]  # fmt: skip
        return pa.RecordBatch.from_arrays(columns, schema=_KEPT)


def list_of(entries: Sequence[tuple[str, str]]) -> str:
    """A list of the names whose condition is true, of (name, condition) pairs."""
    parts = ", ".join(f"CASE WHEN {when} THEN {q.text(check)} END" for check, when in entries)
    return f"filter(CAST(array({parts}) AS ARRAY<STRING>), x -> x IS NOT NULL)"


def _columns_read(check: RowCheck, names: list[str]) -> set[str]:
    if check.rule is None:
        return {check.path[0]}
    tree = sqlglot.parse_one(check.rule.sql, read="spark")
    first = {part.parts[0].name.lower() for part in tree.find_all(exp.Column)}
    dotted = {".".join(p.name for p in part.parts).lower() for part in tree.find_all(exp.Column)}
    return {n for n in names if n.lower() in first | dotted}
