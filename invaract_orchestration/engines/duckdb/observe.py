"""The columns that a typed source, or a JSON file's records, really have."""

from __future__ import annotations

from datetime import datetime

import duckdb

from invaract_orchestration.checks.schema_match import ObservedColumn, ObservedSchema
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.delta.read import open_table, read_columns
from invaract_orchestration.engines.delta.types import field_type as delta_field_type
from invaract_orchestration.engines.duckdb import spark_sql
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.json_forms import is_record
from invaract_orchestration.engines.duckdb.parquet_files import parquet_columns
from invaract_orchestration.engines.duckdb.query_inputs import register_tables, view_name
from invaract_orchestration.engines.duckdb.rows import FRAME, json_lines
from invaract_orchestration.engines.duckdb.session import DeclaredFormBreach, translated
from invaract_orchestration.engines.duckdb.types import field_type
from invaract_orchestration.engines.microseconds import in_microseconds
from invaract_orchestration.errors import GateError, InputUnreadable
from invaract_orchestration.intake.batch import Batch, BatchFile


def observe(connection: duckdb.DuckDBPyConnection, contract: Contract, batch: Batch, now: datetime) -> tuple[ObservedSchema, ...]:
    """One schema per file, or one for the table, query or frame; nothing for CSV, whose header is read as text."""
    match batch.source.format:
        case "csv":
            return ()
        case "json":
            return _json(connection, contract, batch)
        case "parquet":
            return tuple(_parquet(connection, contract, file) for file in batch.files)
    return (_frame(connection, batch, now),)


def _parquet(connection: duckdb.DuckDBPyConnection, contract: Contract, file: BatchFile) -> ObservedSchema:
    with translated(f"reading the schema of {file.file.name}"):
        found = parquet_columns(connection, file.file.path)
    columns = [ObservedColumn(name=name, type=type_) for name, type_ in found]
    agreed = {f.name for f in contract.fields}
    folders = [ObservedColumn(name=n) for n in file.file.columns_beside({c.name for c in columns}, agreed)]
    return ObservedSchema(place=file.file.name, columns=(*columns, *folders))


def _json(connection: duckdb.DuckDBPyConnection, contract: Contract, batch: Batch) -> tuple[ObservedSchema, ...]:
    """The keys of each file's records, and in how many records each is."""
    lines = json_lines(batch, "skip")
    try:
        with translated("reading the keys of the records"):
            rows = connection.execute(
                f"SELECT f, NULL AS k, count(*) FROM ({lines}) WHERE {is_record('line')} GROUP BY f UNION ALL "
                f"SELECT f, k, count(*) FROM (SELECT f, unnest(list_distinct(json_keys(line))) AS k FROM ({lines}) "
                f"WHERE {is_record('line')}) GROUP BY f, k ORDER BY ALL"
            ).fetchall()
    except DeclaredFormBreach:
        raise InputUnreadable(
            "a file is no JSON of the declared shape",
            hint="source.options.shape: lines is one record a line, array is one array of records a file",
        ) from None
    found = []
    for file in batch.files:
        own = [(key, count) for path, key, count in rows if path == str(file.file.path)]
        records = next((count for key, count in own if key is None), 0)
        columns = [ObservedColumn(name=key, rows=count) for key, count in own if key is not None]
        beside = file.file.columns_beside({c.name for c in columns}, {f.name for f in contract.fields})
        folders = [ObservedColumn(name=n, rows=records) for n in beside]
        found.append(ObservedSchema(place=file.file.name, columns=(*columns, *folders), records=records))
    return tuple(found)


def _frame(connection: duckdb.DuckDBPyConnection, batch: Batch, now: datetime) -> ObservedSchema:
    if batch.table is not None:
        table = open_table(batch.table, batch.table_version)
        if table is None:
            raise InputUnreadable(
                "there is no Delta table at source.location",
                hint="check the place; a folder of Parquet files has format parquet",
            )
        connection.register(FRAME, read_columns(batch.table, batch.table_version, None))
        return ObservedSchema(
            place="the source table",
            columns=tuple(
                ObservedColumn(name=f.name, type=delta_field_type(f.type), nullable=f.nullable)
                for f in table.schema().fields
            ),
        )
    with translated("reading the source's schema"):
        if batch.query is not None:
            register_tables(connection, batch)
            views = {t.name.lower(): view_name(i) for i, t in enumerate(batch.tables)}
            query = spark_sql.query(batch.query, now, views)
            names = connection.sql(query).columns
            connection.execute(f"CREATE OR REPLACE TEMP VIEW {FRAME} AS {with_spark_types(connection, query)}")
        elif batch.frame is not None:
            is_relation = isinstance(batch.frame, duckdb.DuckDBPyRelation)  # it belongs to a connection of its own
            frame = batch.frame.to_arrow_reader() if is_relation else in_microseconds(batch.frame)
            connection.register(FRAME, frame)
            found = getattr(getattr(frame, "schema", None), "names", None)
            names = found if isinstance(found, list) else []  # a list in Arrow alone; others tell their columns apart
        else:
            raise GateError("the batch has no source")
        relation = connection.sql(f"SELECT * FROM {FRAME}")
    columns = tuple(
        ObservedColumn(name=name, type=field_type(native))
        for name, native in zip(names or relation.columns, relation.types, strict=True)
    )
    return ObservedSchema(place="the source", columns=columns)


def relation_schema(relation: duckdb.DuckDBPyRelation, place: str) -> ObservedSchema:
    """The columns of a relation."""
    pairs = zip(relation.columns, relation.types, strict=True)
    return ObservedSchema(place=place, columns=tuple(ObservedColumn(name=n, type=field_type(t)) for n, t in pairs))


def with_spark_types(connection: duckdb.DuckDBPyConnection, query: str) -> str:
    """The query with the types of Spark: a sum of integers is a bigint there and 128 bits wide here, uuid() is a string there. A
    sum that does not fit stops the run, as it does in Spark's ANSI mode."""
    relation = connection.sql(query)
    pairs = zip(relation.columns, relation.types, strict=True)
    own = {"hugeint": "BIGINT", "uuid": "VARCHAR"}
    columns = [f"CAST({q.name(n)} AS {own[t.id]}) AS {q.name(n)}" if t.id in own else q.name(n) for n, t in pairs]
    return f"SELECT {', '.join(columns)} FROM ({query})"
