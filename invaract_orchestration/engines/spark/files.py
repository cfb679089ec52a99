"""The files of a candidate: written by Spark in one job, then described from their footers."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from invaract_orchestration.candidate.candidate import Candidate, CandidateFile, candidate_digest
from invaract_orchestration.candidate.files import file_digests, remove
from invaract_orchestration.candidate.writer import CandidateRequest
from invaract_orchestration.contract.field_types import FieldType
from invaract_orchestration.engines.delta.types import delta_schema
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.session import translated
from invaract_orchestration.engines.spark.statistics import footer
from invaract_orchestration.engines.spark.types import schema_text

_PARTITION = "invaract_partition"


def write_candidate(frame: Any, request: CandidateRequest) -> Candidate:
    """Write a frame of the candidate's columns, under their spelled names, as the candidate."""
    columns = tuple((request.spelled.get(f.name, f.name), f.type) for f in request.contract.fields)
    partition = [request.spelled.get(n, n) for n in request.partition_by]
    parent = Path(request.location)
    parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = parent / uuid.uuid4().hex
    try:
        with translated("writing the candidate"):
            _write(frame, folder, partition)
        paths = sorted(p for p in folder.rglob("*.parquet") if not p.name.startswith("."))
        files = describe(paths or [_empty(folder, columns)], columns, partition)
    except BaseException:
        remove(folder.rglob("*"))
        raise
    remove(p for p in folder.rglob("*") if p.name.startswith((".", "_")))
    return Candidate(
        location=str(folder), columns=columns, spelled=request.spelled, files=files, digest=candidate_digest(columns, files)
    )


def _write(frame: Any, folder: Path, partition: list[str]) -> None:
    """Partition columns stay in the files too, so that they can be read again; the folder says a digest of their values, since
    a folder's name cannot hold every text.
    """
    if partition:
        parts = ", '/', ".join(f"coalesce(concat('v', hex(CAST({q.name(p)} AS STRING))), 'n')" for p in partition)
        frame = frame.selectExpr("*", f"sha2(concat({parts}), 256) AS {_PARTITION}")
    writer = frame.write.mode("error").option("compression", "snappy").option("maxRecordsPerFile", "0")
    (writer.partitionBy(_PARTITION) if partition else writer).parquet(str(folder))


def _empty(folder: Path, columns: tuple[tuple[str, FieldType], ...]) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"part-{uuid.uuid4()}.parquet"
    pq.write_table(pa.schema(delta_schema(columns, frozenset()).to_arrow()).empty_table(), path)
    return path


def describe(paths: list[Path], columns: tuple[tuple[str, FieldType], ...], partition: list[str]) -> tuple[CandidateFile, ...]:
    """What the footers say of each file; files without rows are left out and removed, but for one when all are empty."""
    types = dict(columns)
    found = []
    for path in paths:
        os.chmod(path, 0o600)  # noqa: PTH101
        rows, statistics = footer(path, types)
        found.append((path, rows, statistics))
    kept = [f for f in found if f[1]] or found[:1]
    remove(path for path, *_ in found if path not in {p for p, *_ in kept})
    digests = file_digests([str(path) for path, *_ in kept])
    return tuple(
        CandidateFile(
            path=str(path), size=path.stat().st_size, rows=rows, digest=digest, statistics=statistics,
            partition=_partition_values(path, partition) if rows else (),
        )
        for (path, rows, statistics), digest in zip(kept, digests, strict=True)
    )  # fmt: skip


def _partition_values(path: Path, partition: list[str]) -> tuple[tuple[str, str | None], ...]:
    """The values of the first row: all rows of a file have the same."""
    if not partition:
        return ()
    with pq.ParquetFile(path) as file:
        first = next(file.iter_batches(batch_size=1, columns=partition)).to_pylist()[0]
    return tuple((name, _value_text(first[name])) for name in partition)


def _value_text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date) else str(value)


def candidate_frame(spark: Any, candidate: Candidate) -> Any:
    """The candidate's rows as a frame over exactly its files."""
    reader = spark.read.schema(schema_text(candidate.columns)).option("recursiveFileLookup", "true")
    reader = reader.option("ignoreCorruptFiles", "false").option("ignoreMissingFiles", "false")
    return reader.parquet(*(q.path(f.path) for f in candidate.files))


def spelled_columns(spelled: Mapping[str, str], fields: Iterable[Any]) -> Mapping[str, str]:
    """Each field's name in lower case to its quoted column in the candidate."""
    return {f.name.lower(): q.name(spelled.get(f.name, f.name)) for f in fields}
