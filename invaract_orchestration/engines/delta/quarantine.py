"""The quarantine: one Delta table of failing rows with their original text, the only place that holds any."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError

from invaract_orchestration.engines.delta.read import open_table, read_columns
from invaract_orchestration.errors import EngineFailure
from invaract_orchestration.publish.publisher import KeepRequest

SCHEMA = pa.schema(
    [
        ("submission_id", pa.string()), ("attempt_id", pa.string()), ("contract", pa.string()), ("version", pa.string()),
        ("source_file", pa.string()), ("record_number", pa.int64()), ("phase", pa.string()),
        ("rule_ids", pa.list_(pa.string())), ("payload", pa.string()), ("kind", pa.string()),
    ]
)  # fmt: skip
_RETRIES = 20


def keep_rows(request: KeepRequest) -> bool:
    """See `Publisher.keep`. Appends do not conflict with each other, so a lost race is tried again.

    The transaction's id holds the rows too: a rule about today's date leaves others aside tomorrow, and none may get lost.
    """
    once = f"{request.once}:{_digest(request.rows.location)}"
    for _ in range(_RETRIES):
        table = open_table(request.location)
        if table is not None and table.transaction_version(once) is not None:
            return False
        try:
            if table is None:
                Path(request.location).mkdir(parents=True, exist_ok=True, mode=0o700)
                DeltaTable.create(request.location, SCHEMA, mode="error", description="invaract quarantine")
                continue
            write_deltalake(
                table, pa.RecordBatchReader.from_batches(SCHEMA, _batches(request)), mode="append",
                commit_properties=CommitProperties(
                    max_commit_retries=0, app_transactions=[Transaction(once, 1)]
                ),
            )  # fmt: skip
        except CommitFailedError:
            continue
        except Exception as error:  # noqa: BLE001  # its text may hold the rows
            if table is None and open_table(request.location) is not None:
                continue
            raise EngineFailure(
                f"the failing rows cannot be kept in the quarantine ({type(error).__name__})",
                hint="check quarantine.location, its permissions and free space; nothing was published",
            ) from None
        return True
    raise EngineFailure("the quarantine is written by too many at once", hint="submit again")


def _digest(location: str) -> str:
    """A digest of the rows of a file, whatever their order."""
    total = 0
    for batch in pq.ParquetFile(location).iter_batches():
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            total += int.from_bytes(blake2b(repr(row).encode("utf-8", "surrogatepass"), digest_size=16).digest(), "big")
    return f"{total % (1 << 128):032x}"


def _batches(request: KeepRequest) -> Iterator[pa.RecordBatch]:
    fixed = {
        "submission_id": request.submission_id, "attempt_id": request.attempt_id, "contract": request.contract,
        "version": request.version, "phase": request.phase, "kind": request.kind,
    }  # fmt: skip
    for batch in pq.ParquetFile(request.rows.location).iter_batches():
        own = set(batch.schema.names)  # rows of a contract with steps say their phase themselves
        columns: list[Any] = [
            pa.array([fixed[f.name]] * batch.num_rows, f.type)
            if f.name in fixed and f.name not in own
            else batch.column(f.name).cast(f.type)
            for f in SCHEMA
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def quarantined_rows(location: str, columns: list[str] | None = None) -> pa.Table:
    """The quarantine's rows of the named columns; empty when there is no quarantine yet."""
    if open_table(location) is None:
        return SCHEMA.empty_table()
    return read_columns(location, None, columns).read_all()


def remove_rows(location: str, attempt_ids: list[str]) -> int:
    """Delete the rows of these attempts, whose retention is over; how many they were.

    The files that held them leave the disk too, also those of an earlier deletion that was interrupted.
    """
    table = open_table(location)
    if table is None:
        return 0
    quoted = ", ".join("'" + a.replace("'", "''") + "'" for a in attempt_ids)
    try:
        metrics = table.delete(f"attempt_id IN ({quoted})") if attempt_ids else {}
        table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)  # only what was taken out
    except Exception as error:  # noqa: BLE001  # its text may hold the rows
        raise EngineFailure(f"the quarantine cannot be cleaned ({type(error).__name__})") from None
    return int(metrics.get("num_deleted_rows") or 0)
