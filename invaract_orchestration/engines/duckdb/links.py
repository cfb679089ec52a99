"""The rows of a contract's links, held in the session under the names that the steps use."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import duckdb

from invaract_orchestration.candidate.step_input import Columns
from invaract_orchestration.candidate.step_plan import link_view
from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract.model import Contract, FieldSpec, Link, Source, SourceOptions
from invaract_orchestration.engines.delta.read import read_columns
from invaract_orchestration.engines.duckdb import spark_sql
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.infer_json import json_types
from invaract_orchestration.engines.duckdb.parquet_tables import parquet_relation
from invaract_orchestration.engines.duckdb.raw_records import read_surely
from invaract_orchestration.engines.duckdb.rows import rows_of
from invaract_orchestration.engines.duckdb.session import BREACH, DeclaredFormBreach, translated
from invaract_orchestration.engines.duckdb.types import known_types
from invaract_orchestration.errors import InputUnreadable
from invaract_orchestration.intake.batch import Batch, BatchFile
from invaract_orchestration.intake.csv_header import read_header
from invaract_orchestration.intake.json_shape import json_shape
from invaract_orchestration.intake.links import LinkRows, check_link_header


def hold_links(connection: duckdb.DuckDBPyConnection, batch: Batch, now: datetime) -> Mapping[str, Columns]:
    """Read every link of a batch into the session; its columns by its name.

    Raises:
        InputUnreadable: a link cannot be read, or does not have a column that it names.
    """
    return {rows.link.name: _held(connection, rows, now) for rows in batch.links}


def _held(connection: duckdb.DuckDBPyConnection, rows: LinkRows, now: datetime) -> Columns:
    name = q.name(link_view(rows.link.name))
    try:
        with translated(f"reading the link {rows.link.name}"):
            relation = _relation(connection, rows)
            connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT {_chosen(connection, relation, rows.link)}")
            if rows.link.filter:
                _keep(connection, name, rows.link.filter, now)
            if rows.link.columns:
                chosen = ", ".join(map(q.name, rows.link.columns))
                connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT {chosen} FROM {name}")
            found = connection.sql(f"SELECT * FROM {name}")
    except DeclaredFormBreach:
        raise InputUnreadable(
            f"the link {rows.link.name!r} holds a record that is not in its form",
            hint="say the types of its columns in links.fields, or mend the file",
        ) from None
    return {n: t for n, t in known_types(found).items() if t is not None}


def _relation(connection: duckdb.DuckDBPyConnection, rows: LinkRows) -> str:
    if rows.format == "delta":
        connection.register("invaract_stream", read_columns(rows.table or "", rows.version, None))
        return "invaract_stream"
    if rows.format == "parquet":
        return parquet_relation(f"the link {rows.link.name}", rows.files)
    files = tuple(BatchFile(file=f) for f in rows.files)
    declared = {n.lower(): t for n, t in rows.link.fields.items()}
    types: Mapping[str, ft.FieldType | None]
    if rows.format == "json":
        options = SourceOptions(shape=json_shape(rows.files))
        source = Source(format="json", options=options)
        types = json_types(connection, Batch(source=source, files=files))
    else:
        source = Source(format="csv")
        headers = [read_header(f, source.options) for f in rows.files]
        for header in headers:
            check_link_header(rows.link.name, header)
        types = dict.fromkeys(n for h in headers for n in h.names)
        files = tuple(BatchFile(file=h.file, names=h.names, feeds=h.names) for h in headers)
    fields = tuple(FieldSpec(name=n, type=declared.get(n.lower()) or t or ft.STRING) for n, t in types.items())
    batch = read_surely(connection, Batch(source=source, files=files))
    read = rows_of(connection, Contract(contract="link", source=source, fields=fields), batch)
    values = ", ".join(f"{read.values[f.name]} AS {q.name(f.name)}" for f in fields)
    guard = f"CASE WHEN {read.guard()} THEN true ELSE error({q.text(BREACH)}) END"
    return f"(SELECT {values} FROM {read.read('refuse', False)} WHERE {guard})"


def _chosen(connection: duckdb.DuckDBPyConnection, relation: str, link: Link) -> str:
    """All columns: those that are chosen are taken after the filter, which may read the others."""
    there = {n.lower() for n in connection.sql(f"SELECT * FROM {relation}").columns}
    missing = next((c for c in (*link.columns, *link.fields) if c.lower() not in there), None)
    if missing is not None:
        raise InputUnreadable(f"the link {link.name!r} has no column {missing!r}", hint="check links.columns and links.fields")
    return f"* FROM {relation}"


def _keep(connection: duckdb.DuckDBPyConnection, name: str, condition: str, now: datetime) -> None:
    there = connection.sql(f"SELECT * FROM {name}")
    known = {n.lower(): q.name(n) for n in there.columns}
    kept = spark_sql.condition(condition, lambda n: known.get(n.lower()), now, known_types(there))
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM {name} WHERE {kept}")
