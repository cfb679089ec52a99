"""The native frames of typed sources: Parquet files, Delta tables, queries over tables, and frames that were handed in."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from invaract_orchestration.contract.field_types import BIGINT, NANOSECONDS, FieldType
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.arrow_types import field_type
from invaract_orchestration.engines.microseconds import in_microseconds
from invaract_orchestration.engines.parquet_tables import TOO_FINE, Columns, parquet_columns, parquet_table
from invaract_orchestration.engines.spark import spark_sql
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.folders import Folders
from invaract_orchestration.engines.spark.left_behind import kept_active
from invaract_orchestration.engines.spark.types import schema_text, spark_type
from invaract_orchestration.engines.spark.valid_values import valid_text
from invaract_orchestration.errors import NotSupported
from invaract_orchestration.intake.batch import Batch, BatchFile
from invaract_orchestration.intake.listing import ListedFile
from invaract_orchestration.intake.query_tables import QueryTable

_ANSI = "spark.sql.ansi.enabled"


def typed_frames(spark: Any, contract: Contract, batch: Batch, frame: Any) -> Iterator[tuple[Any, frozenset[str]]]:
    """One frame for each set of files with the same columns, or the one of the table, query or caller; and which of its columns
    are the whole numbers of nanoseconds that make a timestamp.
    """
    if not batch.files:
        yield frame, frozenset()
        return
    groups: dict[Columns, list[BatchFile]] = {}
    for file in batch.files:
        columns = parquet_columns(file.file.path, file.file.name)
        groups.setdefault(tuple(c for c in columns if contract.field(c[0]) is not None), []).append(file)
    for columns, files in groups.items():
        fine = frozenset(n for n, t in columns if t in NANOSECONDS and contract.schema_policy.type_changes == "accept")
        read = tuple((n, BIGINT if n in fine else t) for n, t in columns)  # Spark has no type for them, and reads the numbers
        yield _parquet(spark, contract, read, [b.file.path for b in files]), fine


def _parquet(spark: Any, contract: Contract, columns: Columns, paths: Sequence[Path]) -> Any:
    strangers = [n for n, t in columns if isinstance(t, str)]
    if strangers:
        raise NotSupported(
            f"the type of column {strangers[0]!r} in the Parquet files cannot be read by Spark",
            hint="write the column with a type that a contract can name",
        )
    known = tuple((n, t) for n, t in columns if not isinstance(t, str))
    there = {n for n, _ in columns}
    absent = tuple((f.name, f.type) for f in contract.fields if f.name not in there)
    reader = spark.read.schema(schema_text((*known, *absent))).option("recursiveFileLookup", "true")
    reader = reader.option("ignoreCorruptFiles", "false").option("ignoreMissingFiles", "false").option("mergeSchema", "false")
    return reader.parquet(*(q.path(p) for p in paths))


def table_frame(spark: Any, place: str, version: int | None) -> Any:
    """A Delta table at one version."""
    reader = spark.read.format("delta")
    return (reader if version is None else reader.option("versionAsOf", version)).load(place)


def query_frame(spark: Any, batch: Batch, now: datetime) -> Any:
    """A query's frame, each of its tables at the version that was received."""
    views = {}
    for position, table in enumerate(batch.tables):
        view = views[table.name.lower()] = f"invaract_in_{position}"
        input_frame(spark, table).createOrReplaceTempView(view)
    return _in_ansi_mode(spark, spark_sql.query(batch.query or "", now, views))


def _in_ansi_mode(spark: Any, query: str) -> Any:
    """A query whose overflows end it, also on a server: a view keeps the settings that it was made with."""
    spark.conf.set(_ANSI, "true")
    try:
        spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW invaract_query AS {query}")
    finally:
        spark.conf.set(_ANSI, "false")
    return spark.table("invaract_query")


def input_frame(spark: Any, table: QueryTable) -> Any:
    """A table of a query: a Delta table, or Parquet files."""
    if table.version is not None:
        return table_frame(spark, table.place, table.version)
    return parquet_frame(spark, f"the input {table.name}", table.files)


def parquet_frame(spark: Any, what: str, files: Sequence[ListedFile]) -> Any:
    """The rows of Parquet files that are one table. Raises what `parquet_table` does."""
    table = parquet_table(what, files)
    reader = spark.read.option("recursiveFileLookup", "true").option("mergeSchema", "true")
    own = reader.parquet(*(q.path(f.path) for f in table.files))
    folders = Folders(table.folders, tuple(BatchFile(file=f) for f in table.files))
    numbered = own.selectExpr("_metadata.file_path AS f", *(f"{q.name(n)} AS v{i}" for i, (n, _) in enumerate(table.columns)))
    fine = table.fine
    values = [_in_microseconds(f"v{i}", fine[n]) if n in fine else _text(f"v{i}", t) for i, (n, t) in enumerate(table.columns)]
    named = [f"{value} AS {q.name(n)}" for value, (n, _) in zip(values, table.columns, strict=True)]
    return folders.joined(spark, numbered).selectExpr(*named, *(f"{folders.value(n)} AS {q.name(n)}" for n in table.folders))


def _text(value: str, type_: FieldType | str) -> str:
    return value if isinstance(type_, str) else valid_text(value, type_)


def _in_microseconds(nanoseconds: str, type_: FieldType) -> str:
    """The moment, or an error where it is no whole microsecond."""
    whole = f"CAST({q.moment(nanoseconds)} AS {spark_type(type_)})"
    failed = f"CAST(raise_error({q.text(TOO_FINE)}) AS {spark_type(type_)})"
    return f"CASE WHEN {nanoseconds} IS NULL OR {nanoseconds} % 1000 = 0 THEN {whole} ELSE {failed} END"


def handed_in(spark: Any, frame: Any, views: list[str]) -> Any:
    """A caller's frame in our own session: through a global view, so that its plan stays as the caller's session made it.

    `views` takes the name of the view, which has to be dropped at the end. Arrow tables and pandas frames are taken too.
    """
    if not hasattr(frame, "createOrReplaceGlobalTempView"):
        table = arrow_table(frame)
        with kept_active(spark):
            return spark.createDataFrame(table, _schema(table))
    if hasattr(frame, "_jdf") != hasattr(spark, "_jsparkSession"):
        hint = "hand in a frame of the session that the gate works beside"
        raise NotSupported("the DataFrame that was handed in is not of the gate's Spark session", hint=hint)
    if frame.isStreaming:
        hint = "a submission is one closed batch: read it with spark.read"
        raise NotSupported("the DataFrame that was handed in is a stream", hint=hint)
    name = f"invaract_{uuid.uuid4().hex}"
    frame.createOrReplaceGlobalTempView(name)
    views.append(name)
    return spark.table(f"global_temp.{name}")


def _schema(table: pa.Table) -> str | None:
    """Arrow's types in Spark's words, which takes a moment without a zone for an instant by itself; none where it has no word."""
    columns = tuple((f.name, field_type(f.type)) for f in table.schema)
    known = tuple((n, t) for n, t in columns if not isinstance(t, str))
    return schema_text(known) if len(known) == len(columns) else None


def arrow_table(frame: Any) -> pa.Table:
    """The rows of an Arrow table or stream, a pandas or a polars frame, in Arrow types that Spark takes."""
    if hasattr(frame, "__arrow_c_stream__"):
        table = in_microseconds(pa.RecordBatchReader.from_stream(frame).read_all())
    elif hasattr(frame, "iloc"):
        table = in_microseconds(pa.Table.from_pandas(frame, preserve_index=False))
    else:
        raise NotSupported(
            f"a frame of type {type(frame).__module__}.{type(frame).__qualname__} cannot be read",
            hint="hand in a DataFrame of Spark, pandas or polars, or an Arrow table",
        )
    views = {pa.string_view(): pa.string(), pa.large_string(): pa.string(), pa.binary_view(): pa.binary()}
    return table.cast(pa.schema([pa.field(f.name, views.get(f.type, f.type), f.nullable) for f in table.schema]))
