"""Counting on a candidate: dataset rules, and conditions of the target. Keys are counted in `keys`."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp

from invaract_orchestration.candidate.candidate import Candidate
from invaract_orchestration.checks.measurements import DatasetFact, coverage
from invaract_orchestration.checks.query_bounds import is_within, only_number
from invaract_orchestration.checks.type_match import check_reference_types
from invaract_orchestration.contract.field_types import FLOATS
from invaract_orchestration.contract.model import Contract, Covers, DatasetRule, FieldSpec, SourceOptions
from invaract_orchestration.engines.spark import spark_sql
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.files import candidate_frame
from invaract_orchestration.engines.spark.frames import parquet_frame, table_frame
from invaract_orchestration.engines.spark.session import PrivateSession, translated
from invaract_orchestration.engines.spark.text_forms import read_text
from invaract_orchestration.engines.spark.types import column_types, spark_type
from invaract_orchestration.errors import EngineFailure, GateError, InputUnreadable, NotSupported
from invaract_orchestration.intake.csv_header import read_header
from invaract_orchestration.intake.listing import list_files


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Counts through one session. `table_place` turns a table's name in a contract into its location."""

    session: PrivateSession
    table_place: Callable[[str], str]

    def measure_dataset(self, contract: Contract, candidate: Candidate, rule: DatasetRule, now: datetime) -> DatasetFact:
        """See `Measurer.measure_dataset`."""
        with translated(f"measuring dataset rule {rule.name!r}"):
            if rule.row_count is not None:
                return DatasetFact(value=candidate.rows)
            if rule.null_share is not None:
                return self._null_share(candidate, rule.null_share.column)
            if rule.covers is not None:
                return self._covers(contract, candidate, rule)
            if rule.references is not None:
                return self._references(candidate, rule)
            return self._query(candidate, rule, now)

    def _null_share(self, candidate: Candidate, column: str) -> DatasetFact:
        name = candidate.spelled.get(column, column)
        known = [f.statistics.get(name) for f in candidate.files]
        nulls = sum(s.nulls for s in known if s is not None)
        if any(s is None for s in known):
            (nulls,) = self._one(candidate_frame(self.session.spark, candidate), f"count(*) - count({q.name(name)})")
        return DatasetFact(value=nulls / candidate.rows if candidate.rows else 0.0)

    def _covers(self, contract: Contract, candidate: Candidate, rule: DatasetRule) -> DatasetFact:
        covers = rule.covers
        assert covers is not None  # chosen by its kind
        spec = contract.field(covers.column)
        assert spec is not None  # the loader has seen to it
        own = q.name(candidate.spelled.get(covers.column, covers.column))
        wanted = self._reference(contract, rule.name, covers, spec)
        there = candidate_frame(self.session.spark, candidate).where(f"{own} IS NOT NULL")
        there = there.selectExpr(f"{own} AS w", "true AS is_there")
        counted = wanted.join(there.distinct(), "w", "left")
        missing, asked, unread = self._one(counted, "count_if(is_there IS NULL)", "count(*)", "count_if(w IS NULL)")
        return coverage(rule, spec.type, missing=missing, asked=asked, unread=unread)

    def _reference(self, contract: Contract, rule: str, covers: Covers, spec: FieldSpec) -> Any:
        """The different values `w` of a reference's column, in the type of the field; null for one that is none, and for one that
        the field's type cannot hold as it is, such as a further digit.
        """
        reference, column = covers.reference, covers.reference_column or covers.column
        path = (contract.base or Path.cwd()) / reference
        is_file = path.exists() or path.suffix.lower() in (".csv", ".parquet")  # not a table named csv
        path = path if is_file else Path(self.table_place(reference))
        if not path.exists():
            raise GateError(
                f"the reference {reference!r} does not exist", code="dataset.reference_missing",
                hint="a relative path starts at the contract's file",
            )  # fmt: skip
        spark = self.session.spark
        if path.is_dir() or path.suffix == ".parquet":
            frame = table_frame(spark, str(path), None) if path.is_dir() else self._parquet(reference, path)
            name = _chosen(reference, column, list(frame.columns))
            found = {n: kind for n, kind, _ in column_types(frame)}[name]
            check_reference_types(rule, [(spec.name, spec.type, name, found)])
            values = frame.where(f"{q.name(name)} IS NOT NULL").selectExpr(f"{q.name(name)} AS r").distinct()
            cast = f"TRY_CAST(r AS {spark_type(spec.type)})"
            value = cast if spec.type in FLOATS else f"CASE WHEN {cast} = r THEN {cast} END"
            return values.selectExpr(f"{value} AS w").distinct()
        listed = ", ".join(f"({q.text(v)})" for v in sorted(_csv_values(path, reference, column)))
        read = read_text("r", spec.type, FieldSpec(name=spec.name, type=spec.type), contract.timezone)
        texts = f"SELECT * FROM VALUES {listed} AS t(r)" if listed else "SELECT CAST(NULL AS STRING) AS r WHERE false"
        return spark.sql(texts).selectExpr(f"CASE WHEN {read.is_right} THEN {read.value} END AS w").distinct()

    def _parquet(self, reference: str, path: Path) -> Any:
        return parquet_frame(self.session.spark, f"the reference {reference}", list_files(str(path), base=path.parent).files)

    def _references(self, candidate: Candidate, rule: DatasetRule) -> DatasetFact:
        references = rule.references
        assert references is not None  # chosen by its kind
        own = [q.name(candidate.spelled.get(n, n)) for n in references.columns]
        there = table_frame(self.session.spark, self.table_place(references.table), None)
        missing = [k for k in references.key if k not in there.columns]
        if missing:
            raise GateError(
                f"table {references.table!r} has no column {', '.join(map(repr, missing))}", code="table.column_missing"
            )
        types, found = dict(candidate.columns), {n: kind for n, kind, _ in column_types(there)}
        own_types = [types[candidate.spelled.get(n, n)] for n in references.columns]
        there_types = [found[k] for k in references.key]
        check_reference_types(rule.name, zip(references.columns, own_types, references.key, there_types, strict=True))
        names = [f"k{i}" for i in range(len(own))]
        asked = candidate_frame(self.session.spark, candidate).where(" AND ".join(f"{n} IS NOT NULL" for n in own))
        asked = asked.selectExpr(*(f"{o} AS {n}" for o, n in zip(own, names, strict=True)))
        known = there.selectExpr(*(f"{q.name(k)} AS {n}" for k, n in zip(references.key, names, strict=True)))
        return DatasetFact(value=asked.join(known, names, "left_anti").count())

    def _query(self, candidate: Candidate, rule: DatasetRule, now: datetime) -> DatasetFact:
        assert rule.sql is not None and rule.must_be is not None  # chosen by its kind
        tree = sqlglot.parse_one(rule.sql, read="spark")
        strangers = {t.name.lower() for t in tree.find_all(exp.Table)} - {c.alias_or_name.lower() for c in tree.find_all(exp.CTE)}
        if strangers - {"candidate"}:
            raise NotSupported(
                f"dataset rule {rule.name!r}: the query reads {', '.join(sorted(strangers - {'candidate'}))}",
                hint="a dataset query reads the table `candidate` alone",
            )
        candidate_frame(self.session.spark, candidate).createOrReplaceTempView("candidate")
        rows = self.session.spark.sql(f"SELECT * FROM ({spark_sql.measured_query(rule.sql, now)}) LIMIT 2").collect()
        value = only_number(rows, rule.name)
        return DatasetFact(value=None, is_within=is_within(value, rule.must_be, rule.name))

    def count_violations(self, candidate: Candidate, conditions: Sequence[str], now: datetime) -> Sequence[int]:
        """See `Measurer.count_violations`."""
        known = {name.lower(): q.name(name) for name, _ in candidate.columns}
        counters = [
            f"count_if(NOT coalesce({spark_sql.condition(c, lambda n: known.get(n.lower()), now)}, false))"
            for c in conditions
        ]
        with translated("checking the target's constraints"):
            return self._one(candidate_frame(self.session.spark, candidate), *counters) if counters else ()

    def _one(self, frame: Any, *counters: str) -> tuple[int, ...]:
        rows = frame.selectExpr(*(f"{c} AS n{i}" for i, c in enumerate(counters))).collect()
        if len(rows) != 1:
            raise EngineFailure("a count gave no answer")
        return tuple(rows[0])


def _csv_values(path: Path, reference: str, column: str) -> set[str]:
    """The texts of a column of a reference file. A record of another width is refused, as it is in a batch."""
    header = read_header(list_files(str(path), base=path.parent).files[0], SourceOptions())
    if header.problems:
        raise GateError(f"the reference {reference!r}: {header.problems[0].sentence}", code="dataset.reference_missing")
    at, width = header.names.index(_chosen(reference, column, list(header.names))), len(header.names)
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, strict=True) if row]
    except (OSError, EOFError, UnicodeDecodeError, csv.Error):
        raise InputUnreadable(f"the reference {reference!r} cannot be read as comma-separated text") from None
    if any(len(row) != width for row in rows):
        raise GateError(f"the reference {reference!r} is no well-formed CSV", code="dataset.reference_type")
    return {row[at] for row in rows[1:] if row[at]}


def _chosen(reference: str, column: str, names: list[str]) -> str:
    chosen = column if column in names else (names[0] if len(names) == 1 else None)
    if chosen is None:
        raise GateError(
            f"the reference {reference!r} has no column {column!r}", code="dataset.reference_column",
            hint=f"its columns are {', '.join(map(repr, sorted(names)))}; name one with reference_column",
        )  # fmt: skip
    return chosen
