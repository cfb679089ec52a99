"""The columns that a typed source, or a JSON file's records, really have."""

from __future__ import annotations

from typing import Any

from invaract_orchestration.checks.schema_match import ObservedColumn, ObservedSchema
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.delta.read import open_table
from invaract_orchestration.engines.delta.types import field_type as delta_field_type
from invaract_orchestration.engines.parquet_tables import parquet_columns
from invaract_orchestration.engines.spark.folders import path_of
from invaract_orchestration.engines.spark.json_rows import json_records
from invaract_orchestration.engines.spark.session import PrivateSession, translated
from invaract_orchestration.engines.spark.types import column_types
from invaract_orchestration.errors import EngineFailure, InputUnreadable
from invaract_orchestration.intake.batch import Batch, BatchFile


def observe(session: PrivateSession, contract: Contract, batch: Batch, frame: Any) -> tuple[ObservedSchema, ...]:
    """One schema per file, or one for the table, query or frame; nothing for CSV, whose header is read as text."""
    match batch.source.format:
        case "csv":
            return ()
        case "json":
            return _json(session, contract, batch)
        case "parquet" if batch.files:
            return tuple(_parquet(contract, file) for file in batch.files)
    if batch.table is not None:
        return (_table(batch),)
    return (frame_schema(frame, "the source"),)


def frame_schema(frame: Any, place: str) -> ObservedSchema:
    """The columns of a native frame."""
    with translated("reading the source's schema"):
        columns = column_types(frame)
    return ObservedSchema(place=place, columns=tuple(ObservedColumn(name=n, type=t) for n, t, _ in columns))


def _parquet(contract: Contract, file: BatchFile) -> ObservedSchema:
    columns = [ObservedColumn(name=n, type=t) for n, t in parquet_columns(file.file.path, file.file.name)]
    agreed = {f.name for f in contract.fields}
    folders = [ObservedColumn(name=n) for n in file.file.columns_beside({c.name for c in columns}, agreed)]
    return ObservedSchema(place=file.file.name, columns=(*columns, *folders))


def _table(batch: Batch) -> ObservedSchema:
    table = open_table(batch.table or "", batch.table_version)
    if table is None:
        raise InputUnreadable(
            "there is no Delta table at source.location",
            hint="check the place; a folder of Parquet files has format parquet",
        )
    columns = tuple(
        ObservedColumn(name=f.name, type=delta_field_type(f.type), nullable=f.nullable) for f in table.schema().fields
    )
    return ObservedSchema(place="the source table", columns=columns)


def _json(session: PrivateSession, contract: Contract, batch: Batch) -> tuple[ObservedSchema, ...]:
    """The keys of each file's records, and in how many records each is."""
    try:
        with translated("reading the keys of the records"):
            records = json_records(session, batch, is_numbered=False).where("is_object OR repeats")
            members = "map_keys(TRY_CAST(j AS MAP<STRING, VARIANT>))"
            keys = f"CASE WHEN is_object THEN {members} ELSE array_distinct(json_object_keys(line)) END"
            counted = records.selectExpr("f", f"explode(array_append({keys}, CAST(NULL AS STRING))) AS k")
            rows = counted.groupBy("f", "k").count().collect()
    except EngineFailure:
        raise InputUnreadable(
            "a file is no JSON of the declared shape",
            hint="source.options.shape: lines is one record a line, array is one array of records a file",
        ) from None
    found = []
    for file in batch.files:
        own = sorted((r[1] or "", r[1] is None, r[2]) for r in rows if path_of(r[0]) == str(file.file.path))
        records_of = next((n for _, is_total, n in own if is_total), 0)
        columns = [ObservedColumn(name=key, rows=n) for key, is_total, n in own if not is_total]
        beside = file.file.columns_beside({c.name for c in columns}, {f.name for f in contract.fields})
        folders = [ObservedColumn(name=n, rows=records_of) for n in beside]
        found.append(ObservedSchema(place=file.file.name, columns=(*columns, *folders), records=records_of))
    return tuple(found)
