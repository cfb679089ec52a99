"""Parquet files: the columns that each has, and which of them can be read together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from invaract_orchestration.contract.field_types import NANOSECONDS, TIMESTAMP, TIMESTAMP_NTZ, FieldType
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.session import translated
from invaract_orchestration.engines.duckdb.types import field_type
from invaract_orchestration.intake.batch import Batch, BatchFile

_FINE = {"timestamptz_ns": TIMESTAMP, "timestamp_ns": TIMESTAMP_NTZ}
_NAME = {type_: name for name, type_ in NANOSECONDS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Files of a batch that are read together: each of `fine` is a timestamp in nanoseconds in all of them, and no other is."""

    batch: Batch
    fine: frozenset[str] = frozenset()


def parquet_columns(connection: duckdb.DuckDBPyConnection, path: Path) -> list[tuple[str, FieldType | str]]:
    """Name and type of each column of a Parquet file."""
    types = connection.sql(f"SELECT * FROM read_parquet({q.paths([path])}, hive_partitioning=false)").types
    nodes = connection.execute(
        f"SELECT name, num_children, type = 'INT96' FROM parquet_schema({q.text(str(path))})"
    ).fetchall()
    own = zip(_own_columns(nodes), types, strict=True)
    return [(name, TIMESTAMP if is_instant else _type(native)) for (name, is_instant), native in own]


def _type(native: Any) -> FieldType | str:
    fine = _FINE.get(native.id)
    return field_type(native) if fine is None else _NAME[fine]


def _own_columns(nodes: list[tuple[str, int | None, bool | None]]) -> list[tuple[str, bool]]:
    """Each column of a file as its schema has it, where every parent comes before its children: its own name, as a relation
    renames the second of two that differ only in letter case, and whether it is a timestamp of 96 bits, which is an instant.
    """
    columns, skipped = [], 0
    for name, children, is_instant in nodes[1:]:
        if skipped == 0:
            columns.append((name, bool(is_instant)))
        skipped = max(skipped - 1, 0) + (children or 0)
    return columns


def parts_of(connection: duckdb.DuckDBPyConnection, contract: Contract, batch: Batch) -> list[Part]:
    """The batch in parts, as one relation has one type for a column: microseconds of the year 9999 are no nanoseconds."""
    moments = {f.name for f in contract.fields if f.type in (TIMESTAMP, TIMESTAMP_NTZ)}
    if not batch.files or not moments or contract.schema_policy.type_changes != "accept":
        return [Part(batch=batch)]
    groups: dict[frozenset[str], list[BatchFile]] = {}
    names: dict[frozenset[str], set[str]] = {}
    for file in batch.files:
        with translated(f"reading the schema of {file.file.name}"):
            columns = dict(parquet_columns(connection, file.file.path))
        fine = frozenset(n for n in moments if columns.get(n) in NANOSECONDS)
        groups.setdefault(fine, []).append(file)
        names.setdefault(fine, set()).update(columns)
    fields = {f.name for f in contract.fields}
    return [
        Part(batch=replace(batch, files=tuple(files), absent=frozenset(fields - names[fine])), fine=fine)
        for fine, files in groups.items()
    ]
