"""Failing rows of both sides of a transformation, as the quarantine takes them: one file, each row with its phase."""

from __future__ import annotations

import uuid
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from invaract_orchestration.candidate.candidate import FailingRows


def failing_of_both(before: FailingRows | None, after: FailingRows | None, scratch: Path) -> FailingRows | None:
    """The failing rows of both sides, each with its phase."""
    parts = [(phase, rows) for phase, rows in (("pre", before), ("post", after)) if rows is not None and rows.rows]
    if not parts:
        return None
    path = scratch / f"failing-{uuid.uuid4().hex}.parquet"
    schema = pq.read_schema(parts[0][1].location).append(pa.field("phase", pa.string()))
    with pq.ParquetWriter(path, schema) as writer:
        path.chmod(0o600)
        for phase, rows in parts:
            for batch in pq.ParquetFile(rows.location).iter_batches():
                columns = [*batch.columns, pa.array([phase] * batch.num_rows, pa.string())]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
    return FailingRows(location=str(path), rows=sum(rows.rows for _, rows in parts))
