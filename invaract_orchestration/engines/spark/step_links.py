"""The rows of a contract's links, as views of the session under the names that the steps use."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from invaract_orchestration.candidate.step_input import Columns
from invaract_orchestration.candidate.step_plan import link_view
from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract.model import Contract, FieldSpec, Source, SourceOptions
from invaract_orchestration.engines.spark import spark_sql
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.frames import parquet_frame, table_frame
from invaract_orchestration.engines.spark.readings import rows_of
from invaract_orchestration.engines.spark.session import PrivateSession, translated
from invaract_orchestration.engines.spark.types import column_types, field_type
from invaract_orchestration.errors import InputUnreadable
from invaract_orchestration.intake.batch import Batch, BatchFile
from invaract_orchestration.intake.csv_header import read_header
from invaract_orchestration.intake.json_shape import json_shape
from invaract_orchestration.intake.links import LinkRows, check_link_header


def hold_links(session: PrivateSession, batch: Batch, now: datetime) -> Mapping[str, Columns]:
    """Make every link of a batch readable; its columns by its name.

    Raises:
        InputUnreadable: a link cannot be read, or does not have a column that it names.
    """
    found = {}
    for rows in batch.links:
        frame = link_frame(session, rows, now)
        frame.createOrReplaceTempView(link_view(rows.link.name))
        found[rows.link.name] = {n: t for n, t, _ in column_types(frame) if not isinstance(t, str)}
    return found


def link_frame(session: PrivateSession, rows: LinkRows, now: datetime) -> Any:
    """The rows of a link that its filter and its columns leave. Raises InputUnreadable."""
    link = rows.link
    with translated(f"reading the link {link.name}"):
        frame = _frame(session, rows)
        there = {n.lower(): q.name(n) for n in frame.columns}
        missing = next((c for c in (*link.columns, *link.fields) if c.lower() not in there), None)
        if missing is not None:
            hint = "check links.columns and links.fields"
            raise InputUnreadable(f"the link {link.name!r} has no column {missing!r}", hint=hint)
        if link.filter:
            frame = frame.where(spark_sql.condition(link.filter, lambda n: there.get(n.lower()), now))
        return frame.selectExpr(*map(q.name, link.columns)) if link.columns else frame


def _frame(session: PrivateSession, rows: LinkRows) -> Any:
    if rows.format == "delta":
        return table_frame(session.spark, rows.table or "", rows.version)
    if rows.format == "parquet":
        return parquet_frame(session.spark, f"the link {rows.link.name}", rows.files)
    files = tuple(BatchFile(file=f) for f in rows.files)
    declared = {n.lower(): t for n, t in rows.link.fields.items()}
    types: Mapping[str, ft.FieldType | None]
    if rows.format == "json":
        source = Source(format="json", options=SourceOptions(shape=json_shape(rows.files)))
        types = json_types(session, Batch(source=source, files=files))
    else:
        source = Source(format="csv")
        headers = [read_header(f, source.options) for f in rows.files]
        for header in headers:
            check_link_header(rows.link.name, header)
        types = dict.fromkeys(n for h in headers for n in h.names)
        files = tuple(BatchFile(file=h.file, names=h.names, feeds=h.names) for h in headers)
    fields = tuple(FieldSpec(name=n, type=declared.get(n.lower()) or t or ft.STRING) for n, t in types.items())
    contract = Contract(contract="link", source=source, fields=fields)
    read = rows_of(session, contract, Batch(source=source, files=files), None)
    frame = read.numbered()
    if frame.where(f"NOT coalesce({read.guard()}, false)").limit(1).count():
        raise InputUnreadable(
            f"the link {rows.link.name!r} holds a record that is not in its form",
            hint="say the types of its columns in links.fields, or mend the file",
        )
    return frame.selectExpr(*(f"{read.values[f.name]} AS {q.name(f.name)}" for f in fields))


def json_types(session: PrivateSession, batch: Batch) -> dict[str, ft.FieldType | None]:
    """See `EngineSession.json_types`."""
    reader = session.spark.read.option("recursiveFileLookup", "true").option("multiLine", batch.source.options.shape == "array")
    reader = reader.option("prefersDecimal", "false").option("inferTimestamp", "false").option("mode", "DROPMALFORMED")
    with translated("reading the records"):
        schema = reader.json([q.path(b.file.path) for b in batch.files]).schema.jsonValue()
    found: dict[str, ft.FieldType | None] = {}
    for column in schema["fields"]:
        type_ = field_type(column["type"])
        found[column["name"]] = None if isinstance(type_, str) else type_
    return found
