"""Committing a candidate to a Delta table: a compare-and-swap on the version that the verdict was given for.

deltalake does not compare and swap by itself: every commit here is made with no retries on a handle of that very version, after
the transaction id was looked up on the same handle. After an error the log is read again, since an exception does not mean
that nothing landed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, RemoveAction

from invaract_orchestration.candidate.candidate import CandidateFile
from invaract_orchestration.contract.field_types import (
    BIGINT,
    BOOLEAN,
    DATE,
    INT,
    INTEGERS,
    SMALLINT,
    STRING,
    TINYINT,
    FieldType,
    Struct,
)  # fmt: skip
from invaract_orchestration.engines.delta.inspect import find_publication
from invaract_orchestration.engines.delta.paths import plain_path
from invaract_orchestration.engines.delta.rewrite import rewriting
from invaract_orchestration.engines.delta.schema_changes import prepare_table
from invaract_orchestration.errors import (
    EngineFailure,
    GateError,
    OutcomeUnknown,
    PublishConflict,
    TargetRefused,
    is_panic,
)  # fmt: skip
from invaract_orchestration.publish.intent import Published, PublishIntent

_LATER = "run `invaract reconcile` when the target can be read again; submitting again is safe"
_PLAIN_PARTITIONS = (STRING, INT, BIGINT, SMALLINT, TINYINT, DATE, BOOLEAN)
"""Types whose partition values are the same text for DuckDB and for Delta."""


def publish_candidate(intent: PublishIntent, ready: Callable[[str], None] = lambda _: None) -> Published:
    """See `Publisher.publish`; `ready` is told the place of the table once it is there, before any row."""
    location = intent.target.location
    found = find_publication(location, intent.submission_id)
    if found is not None:
        return found
    table, notes = prepare_table(intent)
    ready(location)
    why_not = rewrite_reason(intent, table)
    method = "promoted" if why_not is None else f"rewritten: {why_not}"
    properties, links = _properties(intent, method), _Links()

    def commit() -> dict[str, int | None]:
        if why_not is None:
            return _promote(intent, table, properties, links)
        counts = rewriting(intent)(intent, table, properties)
        if table.version() == before:  # a merge that changes no row makes no commit
            _record(table, properties)
        return counts

    before = table.version()
    return _committed(intent, before, commit, links, method, notes)


def rewrite_reason(intent: PublishIntent, table: DeltaTable) -> str | None:
    """Why the candidate's files cannot become the table's own, none when they can."""
    if intent.publish.mode in ("merge", "replace_where", "scd2"):
        return f"mode {intent.publish.mode}"
    if intent.target.rewrite_reasons:
        return "; ".join(intent.target.rewrite_reasons)
    partitions = tuple(table.metadata().partition_columns)
    types = dict(intent.candidate.columns)
    if any(types.get(p) not in _PLAIN_PARTITIONS for p in partitions):
        return "a partition column's type"
    if any(tuple(k for k, _ in f.partition) != partitions for f in intent.candidate.files if f.rows):
        return "the candidate is not laid out by the table's partitions"
    if intent.publish.mode == "replace_partitions" and intent.publish.partition and not intent.candidate.rows:
        return "no rows for the declared partition"
    if intent.publish.mode == "replace_partitions" and any(v == "" for f in intent.candidate.files for _, v in f.partition):
        return "an empty text as a partition's value"  # the list of a table's files does not tell it from none
    return None


def _committed(
    intent: PublishIntent, before: int, commit: Callable[[], dict[str, int | None]], links: _Links, method: str,
    notes: tuple[str, ...],
) -> Published:  # fmt: skip
    """Run the commit and read back what the log says of it; nothing is taken out again unless it shows that none landed."""
    failure: BaseException | None = None
    counts: dict[str, int | None] = {}
    try:
        counts = commit()
    except BaseException as error:  # whatever it was, the log says whether it landed
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        failure = error
    try:
        found = find_publication(intent.target.location, intent.submission_id)
    except Exception:  # noqa: BLE001  # whatever it was, the outcome is not known
        raise OutcomeUnknown("the target cannot be read back, so whether the commit landed is not known", hint=_LATER) from None
    if found is None:
        if failure is None:
            raise OutcomeUnknown("the commit was reported as made, but the target's log does not show it", hint=_LATER)
        links.take_out()
        raise _refusal(failure, before, intent) from None
    if found.commit is not None and found.commit.attempt != intent.commit.attempt:
        links.take_out()
        return found
    links.restore()
    return replace(
        found, method=method, notes=notes, inserted=counts.get("inserted"), updated=counts.get("updated"),
        deleted=counts.get("deleted"),
    )  # fmt: skip


def _refusal(failure: BaseException, version: int, intent: PublishIntent) -> GateError:
    """Our own words for a failed commit; the writer's message can hold a row's values."""
    text = str(failure).lower()
    if isinstance(failure, GateError):
        return failure
    if "unsupported table features" in text or "append-only" in text:
        return TargetRefused("a feature of the target forbids the commit", hint="docs/engines.md says which engine writes it")
    if isinstance(failure, CommitFailedError) and not ("constraint" in text or "invariant" in text):
        return PublishConflict(
            f"another writer changed the target after version {version}, which the verdict was given for",
            hint="submit again: the rules that read the target are judged anew",
        )
    if any(word in text for word in ("constraint", "invariant", "not null", "non-nullable", "violat")):
        return TargetRefused("the target's own constraint refuses the rows", hint="compare the contract with the table")
    if any(word in text for word in ("permission denied", "read-only", "no space")):
        return EngineFailure("the target's place cannot be written", hint="check permissions and free space")
    if intent.publish.mode == "replace_where":
        return EngineFailure(
            "deltalake could not ask the target's rows for publish.where; nothing was published",
            hint="compare a column with a value, such as day >= DATE'2026-01-01'; not every function of a column is known to it",
        )
    return EngineFailure(f"the commit failed with {type(failure).__name__}; nothing was published")


def _properties(intent: PublishIntent, method: str) -> CommitProperties:
    return CommitProperties(
        custom_metadata={"userMetadata": replace(intent.commit, method=method).to_json()},
        max_commit_retries=0,
        app_transactions=[Transaction(intent.transaction_id, 1)],
    )


def _record(table: DeltaTable, properties: CommitProperties) -> None:
    """A commit of no file: it says that the submission is published."""
    partitions = table.metadata().partition_columns
    table.create_write_transaction([], "append", table.schema(), partition_by=partitions, commit_properties=properties)


# -- promoting the candidate's own files


def _promote(
    intent: PublishIntent, table: DeltaTable, properties: CommitProperties, links: _Links
) -> dict[str, int | None]:
    removed, deleted = _replaced(intent, table)
    folder = Path(intent.target.location)
    types = dict(intent.candidate.columns)
    added = [links.add(file, folder, types) for file in intent.candidate.files if file.rows]
    table.create_write_transaction(
        [*added, *removed], "append", table.schema(), partition_by=table.metadata().partition_columns,
        commit_properties=properties,
    )  # fmt: skip
    return {"inserted": intent.candidate.rows, "updated": 0, "deleted": deleted}


def _replaced(intent: PublishIntent, table: DeltaTable) -> tuple[list[RemoveAction], int | None]:
    """The table's files that this publication takes out, and how many rows they hold (null where the log does not say)."""
    mode = intent.publish.mode
    if mode == "append":
        return [], 0
    partitions = table.metadata().partition_columns
    actions = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    chosen = actions
    if mode == "replace_partitions":
        replaced = {tuple(_partition_text(v) for _, v in f.partition) for f in intent.candidate.files if f.rows}
        chosen = [a for a in actions if tuple(_partition_text(a[f"partition.{p}"]) for p in partitions) in replaced]
    counts = [a.get("num_records") for a in chosen]
    now = int(time.time() * 1000)
    removed = [
        RemoveAction(
            path=plain_path(a["path"]), data_change=True, deletion_timestamp=now, size=a["size_bytes"],
            partition_values={p: _partition_text(a[f"partition.{p}"]) for p in partitions},
        )
        for a in chosen
    ]  # fmt: skip
    return removed, None if any(c is None for c in counts) else sum(c or 0 for c in counts)


def _partition_text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


@dataclass(frozen=True, slots=True)
class _Links:
    """The candidate's files under fresh flat names in the table's folder: a link or a copy, never a rename, since a kill between
    two steps must not lose the candidate."""

    made: list[tuple[CandidateFile, Path]] = field(default_factory=list)

    def add(self, file: CandidateFile, folder: Path, types: Mapping[str, FieldType]) -> AddAction:
        """Make one file part of the table's folder; no reader sees it before a commit names it."""
        path = folder / f"part-{uuid.uuid4()}.parquet"
        self.made.append((file, path))
        _link(file, path)
        # a struct has a count for each of its parts instead
        left_out = {*dict(file.partition), *(n for n, t in types.items() if isinstance(t, Struct))}
        nulls = {column: s.nulls for column, s in file.statistics.items() if column not in left_out}
        return AddAction(
            path=path.name, size=file.size, partition_values=dict(file.partition),
            modification_time=int(time.time() * 1000), data_change=True,
            stats=json.dumps({"numRecords": file.rows} | _exact_statistics(file, nulls, types)),
        )  # fmt: skip

    def restore(self) -> None:
        """Every file that the commit names exists; one that a clean-up took in between is linked again."""
        try:
            for file, path in self.made:
                if not path.exists():
                    _link(file, path)
        except OSError as error:
            raise OutcomeUnknown(
                f"the commit landed, but a file that it names is gone and cannot be put back: {error.strerror}",
                hint="copy the candidate's files into the table's folder, or restore the version before",
            ) from None

    def take_out(self) -> None:
        """No commit names these files, which the log has shown."""
        for _, path in self.made:
            with contextlib.suppress(OSError):
                path.unlink()


def _link(file: CandidateFile, path: Path) -> None:
    try:
        os.link(file.path, path)
    except OSError:
        shutil.copyfile(file.path, path)
    os.utime(path)  # a full VACUUM lists old files that no commit names


def _exact_statistics(file: CandidateFile, nulls: dict[str, int], types: Mapping[str, FieldType]) -> dict[str, Any]:
    """Null counts, and bounds of integers: readers skip files by them, so anything less than exact is left out, and a bound that
    is not of its column's type (a boolean's 0, a text's 10001) would make the whole table unreadable."""
    low: dict[str, Any] = {}
    high: dict[str, Any] = {}
    for column in nulls:
        if types.get(column) not in INTEGERS:
            continue
        statistics = file.statistics[column]
        bounds = _bound(statistics.minimum), _bound(statistics.maximum)
        if bounds[0] is not None and bounds[1] is not None:
            low[column], high[column] = bounds
    return {"nullCount": nulls, "minValues": low, "maxValues": high}


def _bound(text: str | None) -> int | None:
    return int(text) if text is not None and text.removeprefix("-").isdigit() else None
