"""What a Delta table is now: columns, constraints, and whether files can be added to it as they are."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from deltalake import DeltaTable

from invaract_orchestration.candidate.target import LENGTH_OF, TargetColumn, TargetState
from invaract_orchestration.engines.delta.features import PROMOTABLE, UNWIDENABLE, unwritable_features, writer_features
from invaract_orchestration.engines.delta.read import open_table, reading
from invaract_orchestration.engines.delta.restored import restored_before
from invaract_orchestration.engines.delta.types import field_type
from invaract_orchestration.errors import GateError
from invaract_orchestration.publish.intent import APP_ID, UNKNOWN_VERSION, CommitRecord, Published, TargetCommit

_CONSTRAINT = "delta.constraints."
_TRANSACTIONS_EXPIRE = "delta.setTransactionRetentionDuration"


def inspect_table(location: str) -> TargetState:
    """See `Publisher.inspect`."""
    table = open_table(location)
    if table is None:
        return TargetState(location=location, version=None)
    configuration = {k: v or "" for k, v in table.metadata().configuration.items()}
    fields = table.schema().fields
    constraints = {k[len(_CONSTRAINT) :]: v for k, v in configuration.items() if k.startswith(_CONSTRAINT)}
    constraints |= {f"invariant of {f.name}": rule for f in fields if (rule := _invariant(f.metadata)) is not None}
    constraints |= {f"{LENGTH_OF}{f.name}": rule for f in fields if (rule := _length_rule(f)) is not None}
    return TargetState(
        location=location,
        version=table.version(),
        columns=tuple(
            TargetColumn(
                name=f.name, type=field_type(f.type), nullable=f.nullable, is_generated=_is_generated(f.metadata),
            )
            for f in fields
        ),
        partition_by=tuple(table.metadata().partition_columns),
        constraints=constraints,
        rewrite_reasons=_rewrite_reasons(table),
        unwritable=unwritable_features(table),
        unwidenable=tuple(sorted(writer_features(table) & UNWIDENABLE)),
        is_append_only=configuration.get("delta.appendOnly", "false").lower() == "true",
    )  # fmt: skip


def find_publication(location: str, submission_id: str) -> Published | None:
    """See `Publisher.find`. The transaction id decides; the history says which version, as far back as it reaches, and decides
    too where the table lets transaction ids expire."""
    table = open_table(location)
    if table is None:
        return None
    with reading(location):
        return _find(table, location, submission_id)


def _find(table: DeltaTable, location: str, submission_id: str) -> Published | None:
    is_known = table.transaction_version(APP_ID + submission_id) is not None
    if not is_known and _TRANSACTIONS_EXPIRE not in table.metadata().configuration:
        return None
    history = table.history()
    for commit in reversed(_commits(history)):  # maintenance that follows by itself may repeat a session's metadata
        if commit.commit is not None and commit.commit.submission == submission_id:
            return Published(
                version=commit.version, method=commit.commit.method, committed_at=commit.committed_at, commit=commit.commit,
                restored_to=restored_before(history, commit.version, lambda version: _files(location, version)),
            )  # fmt: skip
    return Published(version=table.version(), method="", notes=(UNKNOWN_VERSION,)) if is_known else None


def _files(location: str, version: int) -> frozenset[str] | None:
    try:
        table = open_table(location, version)
    except GateError:  # its log has been cleaned up that far
        return None
    return None if table is None else frozenset(table.file_uris())


def table_history(location: str) -> tuple[TargetCommit, ...]:
    """See `Publisher.history`."""
    table = open_table(location)
    with reading(location):
        return () if table is None else _commits(table.history())


def _commits(history: list[dict[str, Any]]) -> tuple[TargetCommit, ...]:
    return tuple(
        TargetCommit(
            version=entry["version"], operation=str(entry.get("operation", "")),
            committed_at=datetime.fromtimestamp(entry["timestamp"] / 1000, UTC),
            commit=CommitRecord.from_json(entry.get("userMetadata")),
        )
        for entry in history
    )  # fmt: skip


def _invariant(metadata: dict[str, Any]) -> str | None:
    try:
        return str(json.loads(metadata["delta.invariants"])["expression"]["expression"])
    except (KeyError, TypeError, ValueError):
        return None


def _length_rule(field: Any) -> str | None:
    """What CHAR(n) or VARCHAR(n) asks of a text: Spark keeps that type beside the column, and other writers do not look at it."""
    declared = re.fullmatch(r"(?:var)?char\(([0-9]+)\)", str(field.metadata.get("__CHAR_VARCHAR_TYPE_STRING", "")))
    if declared is None:
        return None
    name = "`" + field.name.replace("`", "``") + "`"
    return f"{name} IS NULL OR char_length({name}) <= {declared[1]}"


def _is_generated(metadata: dict[str, Any]) -> bool:
    return any(k == "delta.generationExpression" or k.startswith("delta.identity.") for k in metadata)


def _rewrite_reasons(table: DeltaTable) -> tuple[str, ...]:
    """An allow-list: what is not known to be harmless makes the publication rewrite the rows through a full writer."""
    asking = sorted(writer_features(table) - PROMOTABLE)
    return ("table features " + ", ".join(asking),) if asking else ()
