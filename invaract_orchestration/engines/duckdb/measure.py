"""Counting on a candidate: keys, dataset rules, and conditions of the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from invaract_orchestration.candidate.candidate import Candidate
from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.checks.measurements import DatasetFact, KeyCount, coverage
from invaract_orchestration.checks.proven import integer_span
from invaract_orchestration.checks.query_bounds import is_within, only_number
from invaract_orchestration.checks.type_match import check_reference_types
from invaract_orchestration.contract.field_types import DATE, FLOATS, INTEGERS, STRING, FieldType
from invaract_orchestration.contract.model import Contract, Covers, DatasetRule, FieldSpec, Key, Source, SourceOptions
from invaract_orchestration.engines.delta.read import read_columns
from invaract_orchestration.engines.duckdb import spark_sql
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.candidate import files_relation
from invaract_orchestration.engines.duckdb.parquet_tables import parquet_relation
from invaract_orchestration.engines.duckdb.raw_records import read_surely
from invaract_orchestration.engines.duckdb.row_conditions import normalized
from invaract_orchestration.engines.duckdb.rows import read_csv
from invaract_orchestration.engines.duckdb.session import DeclaredFormBreach, translated
from invaract_orchestration.engines.duckdb.text_forms import read_text
from invaract_orchestration.engines.duckdb.types import duckdb_type, field_type
from invaract_orchestration.errors import EngineFailure, GateError, NotSupported
from invaract_orchestration.intake.batch import Batch, BatchFile
from invaract_orchestration.intake.csv_header import read_header
from invaract_orchestration.intake.listing import list_files

_BITMAP_BUDGET = 1 << 28  # bits, 32 MiB
_OTHER = "invaract_other"
_STREAM = "invaract_other_stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Counts through one connection. `table_place` turns a table's name in a contract into its location."""

    connection: duckdb.DuckDBPyConnection
    table_place: Any

    # -- keys

    def count_key(self, contract: Contract, candidate: Candidate, key: Key, target: TargetState | None) -> KeyCount:
        """See `Measurer.count_key`."""
        types = {f.name: f.type for f in contract.fields}
        parts = [_key_part(contract, candidate, name) for name in key.columns]
        names = [q.name(candidate.spelled.get(n, n)) for n in key.columns]
        files = files_relation(candidate)
        is_null = " OR ".join(f"{n} IS NULL" for n in names)
        not_null = " AND ".join(f"{n} IS NOT NULL" for n in names)
        in_target = self._in_target(contract, candidate, key, parts, not_null, target)
        with translated("checking keys"):
            proof = _bitmap(candidate, key, types)
            if proof is not None:
                number, low, high = proof
                nulls, rows, distinct = self._one(
                    f"SELECT count(*) FILTER (WHERE {is_null}), count(*), "
                    f"coalesce(bit_count(bitstring_agg({number}, {low}::BIGINT, {high}::BIGINT)), 0) FROM {files}"
                )
            else:
                hashed = f"hash({', '.join(parts)})"
                nulls, rows, distinct = self._one(
                    f"SELECT count(*) FILTER (WHERE {is_null}), count(*), "
                    f"count(DISTINCT {hashed}) FILTER (WHERE {not_null}) FROM {files}"
                )
            duplicate_rows = duplicate_keys = 0
            if distinct != rows - nulls:
                # Fewer distinct values than rows: exact counts, since two keys may share a hash.
                grouped = f"SELECT count(*) AS n FROM {files} WHERE {not_null} GROUP BY {', '.join(parts)} HAVING count(*) > 1"
                duplicate_rows, duplicate_keys = self._one(f"SELECT coalesce(sum(n), 0), count(*) FROM ({grouped})")
        return KeyCount(
            rows=rows, null_rows=nulls, duplicate_rows=int(duplicate_rows), duplicate_keys=duplicate_keys,
            in_target=in_target, evidence="key pass",
        )  # fmt: skip

    def _in_target(
        self, contract: Contract, candidate: Candidate, key: Key, parts: list[str], not_null: str,
        target: TargetState | None,
    ) -> int:  # fmt: skip
        publish = contract.publish
        if key.across != "target" or target is None or not target.exists or publish is None:
            return 0
        is_own_key = publish.mode in ("merge", "scd2") and set(publish.keys) == set(key.columns)
        if publish.mode == "overwrite" or is_own_key:
            return 0  # the rows that hold the key now are replaced by this publication
        spelled = [_spelled(target, n) for n in key.columns]
        beside = {"replace_partitions": list(target.partition_by), "merge": [_spelled(target, n) for n in publish.keys]}.get(
            publish.mode, []
        )
        if publish.mode == "replace_where":
            beside = [c.name for c in target.columns]
        columns = list(dict.fromkeys([*spelled, *beside]))
        staying = self._staying(contract, candidate, target)
        kept_parts = [
            _canonical(q.name(_spelled(target, n)), contract.field(n).type, contract.field(n).normalize)  # type: ignore[union-attr]
            for n in key.columns
        ]
        self._register_table(target.location, target.version, columns)
        with translated("checking keys against the target"):
            (count,) = self._one(
                f"SELECT count(*) FROM {files_relation(candidate)} WHERE {not_null} AND ({', '.join(parts)}) IN "
                f"(SELECT ({', '.join(kept_parts)}) FROM {_OTHER} WHERE {staying})"
                if len(parts) > 1
                else f"SELECT count(*) FROM {files_relation(candidate)} WHERE {not_null} AND {parts[0]} IN "
                f"(SELECT {kept_parts[0]} FROM {_OTHER} WHERE ({staying}) AND {kept_parts[0]} IS NOT NULL)"
            )
        return int(count)

    def _staying(self, contract: Contract, candidate: Candidate, target: TargetState) -> str:
        """The rows of the target that this publication does not replace."""
        publish = contract.publish
        assert publish is not None  # there is a target
        if publish.mode == "replace_where":
            known = {c.name.lower(): q.name(c.name) for c in target.columns}
            types = {c.name: None if isinstance(c.type, str) else c.type for c in target.columns}
            now = datetime.now().astimezone()
            replaced = spark_sql.condition(publish.where or "", lambda n: known.get(n.lower()), now, types)
            return f"NOT coalesce({replaced}, false)"
        if publish.mode == "replace_partitions":
            names = [q.name(n) for n in target.partition_by]  # the candidate has the target's spelling
            same = " AND ".join(f"s.{n} IS NOT DISTINCT FROM {_OTHER}.{n}" for n in names)
            return f"NOT EXISTS (SELECT 1 FROM {files_relation(candidate)} s WHERE {same})" if same else "true"
        if publish.mode == "merge":
            names = [q.name(_spelled(target, n)) for n in publish.keys]
            same = " AND ".join(f"s.{n} = {_OTHER}.{n}" for n in names)
            return f"NOT EXISTS (SELECT 1 FROM {files_relation(candidate)} s WHERE {same})"
        return "true"

    # -- dataset rules

    def measure_dataset(
        self, contract: Contract, candidate: Candidate, rule: DatasetRule, target: TargetState | None, now: datetime
    ) -> DatasetFact:
        """See `Measurer.measure_dataset`."""
        try:
            return self._measured(contract, candidate, rule, now)
        except DeclaredFormBreach:
            raise GateError(
                f"dataset rule {rule.name!r}: the reference is no well-formed CSV", code="dataset.reference_type"
            ) from None

    def _measured(self, contract: Contract, candidate: Candidate, rule: DatasetRule, now: datetime) -> DatasetFact:
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
            (nulls,) = self._one(f"SELECT count(*) - count({q.name(name)}) FROM {files_relation(candidate)}")
        return DatasetFact(value=nulls / candidate.rows if candidate.rows else 0.0)

    def _covers(self, contract: Contract, candidate: Candidate, rule: DatasetRule) -> DatasetFact:
        covers = rule.covers
        assert covers is not None  # chosen by its kind
        spec = contract.field(covers.column)
        assert spec is not None  # the loader has seen to it
        own = q.name(candidate.spelled.get(covers.column, covers.column))
        wanted = self._reference_values(contract, rule.name, covers, spec)
        missing, asked, unread = self._one(
            f"SELECT count(*) FILTER (WHERE w NOT IN (SELECT {own} FROM {files_relation(candidate)} "
            f"WHERE {own} IS NOT NULL)), count(*), count(*) FILTER (WHERE w IS NULL) FROM ({wanted})"
        )
        return coverage(rule, spec.type, missing=missing, asked=asked, unread=unread)

    def _reference_values(self, contract: Contract, rule: str, covers: Covers, spec: FieldSpec) -> str:
        """A query for the distinct values `w` of a reference's column, in the type of the field; null for one that is none."""
        reference, column = covers.reference, covers.reference_column or covers.column
        path = (contract.base or Path.cwd()) / reference
        if not path.exists():
            path = Path(self.table_place(reference))
        if not path.exists():
            raise GateError(
                f"the reference {reference!r} does not exist", code="dataset.reference_missing",
                hint="a relative path starts at the contract's file",
            )  # fmt: skip
        if path.is_dir():
            self._register_table(str(path), None, [column])
            return self._typed_values(rule, q.name(column), _OTHER, spec)
        if path.suffix == ".parquet":
            source = parquet_relation(f"the reference {reference}", list_files(str(path), base=path.parent).files)
            names = [row[0] for row in self.connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()]
            return self._typed_values(rule, q.name(_chosen(names, column, reference)), source, spec)
        header = read_header(list_files(str(path), base=path.parent).files[0], SourceOptions())
        if header.problems:
            raise GateError(f"the reference {reference!r}: {header.problems[0].sentence}", code="dataset.reference_missing")
        number = header.names.index(_chosen(list(header.names), column, reference))
        own = Batch(source=Source(), files=(BatchFile(file=header.file, names=header.names, feeds=header.names),))
        surely = read_surely(self.connection, own).files[0].file.path
        source = read_csv([str(surely)], len(header.names), SourceOptions())[1]
        plain = FieldSpec(name=spec.name, type=spec.type)
        read = read_text(f"c{number}", spec.type, plain, contract.timezone)
        return _distinct(f"c{number}", f"CASE WHEN {read.is_right} THEN {read.value} END", source)

    def _typed_values(self, rule: str, column: str, source: str, spec: FieldSpec) -> str:
        """The distinct values of a typed column; one that the field's type cannot hold as it is (a further digit) is null."""
        (found,) = self.connection.sql(f"SELECT {column} FROM {source}").types
        check_reference_types(rule, [(spec.name, spec.type, column.strip('"'), field_type(found))])
        cast = f"TRY_CAST({column} AS {duckdb_type(spec.type)})"
        return _distinct(column, cast if spec.type in FLOATS else f"CASE WHEN {cast} = {column} THEN {cast} END", source)

    def _references(self, candidate: Candidate, rule: DatasetRule) -> DatasetFact:
        references = rule.references
        assert references is not None  # chosen by its kind
        own = [q.name(candidate.spelled.get(n, n)) for n in references.columns]
        self._register_table(self.table_place(references.table), None, list(references.key))
        there = self.connection.sql(f"SELECT {', '.join(map(q.name, references.key))} FROM {_OTHER}")
        types = dict(candidate.columns)
        own_types = [types[candidate.spelled.get(n, n)] for n in references.columns]
        found = map(field_type, there.types)
        check_reference_types(rule.name, zip(references.columns, own_types, references.key, found, strict=True))
        not_null = " AND ".join(f"{n} IS NOT NULL" for n in own)
        same = " AND ".join(f"c.{o} = {_OTHER}.{q.name(k)}" for o, k in zip(own, references.key, strict=True))
        (missing,) = self._one(
            f"SELECT count(*) FROM {files_relation(candidate)} c WHERE {not_null} "
            f"AND NOT EXISTS (SELECT 1 FROM {_OTHER} WHERE {same})"
        )
        return DatasetFact(value=missing)

    def _query(self, candidate: Candidate, rule: DatasetRule, now: datetime) -> DatasetFact:
        assert rule.sql is not None and rule.must_be is not None  # chosen by its kind
        tables = {t.name.lower() for t in sqlglot.parse_one(rule.sql, read="spark").find_all(exp.Table)}
        own = {c.alias_or_name.lower() for c in sqlglot.parse_one(rule.sql, read="spark").find_all(exp.CTE)}
        if tables - own - {"candidate"}:
            raise NotSupported(
                f"dataset rule {rule.name!r}: the query reads {', '.join(sorted(tables - own - {'candidate'}))}",
                hint="on this engine a dataset query reads the table `candidate` alone",
            )
        self.connection.execute(f"CREATE OR REPLACE TEMP VIEW candidate AS SELECT * FROM {files_relation(candidate)}")
        query = spark_sql.measured_query(rule.sql, now, dict(candidate.columns))
        rows = self.connection.execute(f"SELECT * FROM ({query}) LIMIT 2").fetchall()
        value = only_number(rows, rule.name)
        return DatasetFact(value=None, is_within=is_within(value, rule.must_be, rule.name))

    # -- conditions of the target

    def count_violations(self, candidate: Candidate, conditions: Sequence[str], now: datetime) -> Sequence[int]:
        """See `Measurer.count_violations`."""
        known = {name.lower(): q.name(name) for name, _ in candidate.columns}
        counters = []
        for condition in conditions:
            is_true = spark_sql.condition(condition, lambda n: known.get(n.lower()), now, dict(candidate.columns))
            counters.append(f"count(*) FILTER (WHERE NOT coalesce({is_true}, false))")
        with translated("checking the target's constraints"):
            return self._one(f"SELECT {', '.join(counters)} FROM {files_relation(candidate)}") if counters else ()

    # -- reading

    def _register_table(self, location: str, version: int | None, columns: list[str]) -> None:
        self.connection.register(_STREAM, read_columns(location, version, columns))
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {_OTHER} AS SELECT * FROM {_STREAM}")
        self.connection.unregister(_STREAM)

    def _one(self, sql: str) -> tuple[Any, ...]:
        rows = self.connection.execute(sql).fetchall()  # to the end: an open result blocks the connection
        if len(rows) != 1:
            raise EngineFailure("a count gave no answer")
        return tuple(rows[0])


def _distinct(column: str, value: str, source: str) -> str:
    return f"SELECT DISTINCT {value} AS w FROM {source} WHERE {column} IS NOT NULL"


def _chosen(names: list[str], column: str, reference: str) -> str:
    if column in names:
        return column
    if len(names) == 1:
        return names[0]
    raise GateError(
        f"the reference {reference!r} has no column {column!r}", code="dataset.reference_column",
        hint=f"its columns are {', '.join(map(repr, sorted(names)))}; name one with reference_column",
    )  # fmt: skip


def _spelled(target: TargetState, name: str) -> str:
    column = target.column(name)
    if column is None:
        raise GateError(f"the target has no column {name!r}", code="publish.target_schema")
    return column.name


def _key_part(contract: Contract, candidate: Candidate, name: str) -> str:
    spec = contract.field(name)
    if spec is None:
        raise GateError(f"key column {name!r} is no field of the contract", code="contract.invalid")
    return _canonical(q.name(candidate.spelled.get(name, name)), spec.type, spec.normalize)


def _canonical(value: str, type_: FieldType, steps: tuple[str, ...]) -> str:
    """A key's part such that equal keys are equal texts or numbers: -0.0 is 0.0, NaN is NaN, texts are normalised."""
    if type_ in FLOATS:
        return f"(CASE WHEN {value} = 0 THEN 0.0::DOUBLE WHEN isnan({value}) THEN 'nan'::DOUBLE ELSE {value}::DOUBLE END)"
    return normalized(value, steps) if type_ == STRING else value


def _bitmap(candidate: Candidate, key: Key, types: dict[str, FieldType]) -> tuple[str, int, int] | None:
    """(number of each row, smallest, largest) when the key is integers or dates whose span fits the budget."""
    number, size = "0::BIGINT", 1
    for name in key.columns:
        if types[name] not in INTEGERS and types[name] != DATE:
            return None
        column = candidate.spelled.get(name, name)
        span = integer_span(candidate, column)
        if span is None:
            return None
        low, high = span
        value = f"({q.name(column)} - DATE '1970-01-01')" if types[name] == DATE else q.name(column)
        width = high - low + 1
        number = f"({number} * {width}::BIGINT + ({value}::BIGINT - '{low}'::BIGINT))"  # in quotes: a sign binds less
        size *= width
        if size > _BITMAP_BUDGET:
            return None
    return number, 0, size - 1
