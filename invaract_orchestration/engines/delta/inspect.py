"""What a Delta table is now: columns, constraints, and whether files can be added to it as they are."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from deltalake import DeltaTable

from invaract_orchestration.candidate.target import TargetColumn, TargetState
from invaract_orchestration.engines.delta.read import open_table
from invaract_orchestration.engines.delta.types import field_type
from invaract_orchestration.publish.intent import APP_ID, CommitRecord, Published, TargetCommit

_CONSTRAINT = "delta.constraints."
_PROMOTABLE = {"appendOnly", "invariants", "checkConstraints", "timestampNtz", "generatedColumns", "domainMetadata"}
"""Writer features that ask nothing of an added file that the gate has not judged (generated columns are refused before)."""


def inspect_table(location: str) -> TargetState:
    """See `Publisher.inspect`."""
    table = open_table(location)
    if table is None:
        return TargetState(location=location, version=None)
    configuration = {k: v or "" for k, v in table.metadata().configuration.items()}
    fields = table.schema().fields
    constraints = {k[len(_CONSTRAINT) :]: v for k, v in configuration.items() if k.startswith(_CONSTRAINT)}
    constraints |= {f"invariant of {f.name}": rule for f in fields if (rule := _invariant(f.metadata)) is not None}
    return TargetState(
        location=location,
        version=table.version(),
        columns=tuple(
            TargetColumn(
                name=f.name, type=field_type(f.type), nullable=f.nullable, is_generated=_is_generated(f.metadata),
                has_default="CURRENT_DEFAULT" in f.metadata,
            )
            for f in fields
        ),
        partition_by=tuple(table.metadata().partition_columns),
        constraints=constraints,
        rewrite_reasons=_rewrite_reasons(table, configuration),
    )  # fmt: skip


def find_publication(location: str, submission_id: str) -> Published | None:
    """See `Publisher.find`. The transaction id decides; the history says which version, as far back as it reaches."""
    table = open_table(location)
    if table is None or table.transaction_version(APP_ID + submission_id) is None:
        return None
    for commit in _commits(table):
        if commit.commit is not None and commit.commit.submission == submission_id:
            return Published(
                version=commit.version, method=commit.commit.method, committed_at=commit.committed_at, commit=commit.commit
            )
    return Published(version=table.version(), method="", notes=("the log no longer says which version it was",))


def table_history(location: str) -> tuple[TargetCommit, ...]:
    """See `Publisher.history`."""
    table = open_table(location)
    return () if table is None else _commits(table)


def _commits(table: DeltaTable) -> tuple[TargetCommit, ...]:
    return tuple(
        TargetCommit(
            version=entry["version"], operation=str(entry.get("operation", "")),
            committed_at=datetime.fromtimestamp(entry["timestamp"] / 1000, UTC),
            commit=CommitRecord.from_json(entry.get("userMetadata")),
        )
        for entry in table.history()
    )  # fmt: skip


def _invariant(metadata: dict[str, Any]) -> str | None:
    try:
        return str(json.loads(metadata["delta.invariants"])["expression"]["expression"])
    except (KeyError, TypeError, ValueError):
        return None


def _is_generated(metadata: dict[str, Any]) -> bool:
    return any(k == "delta.generationExpression" or k.startswith("delta.identity.") for k in metadata)


def _rewrite_reasons(table: DeltaTable, configuration: dict[str, str]) -> tuple[str, ...]:
    """An allow-list: what is not known to be harmless makes the publication rewrite the rows through a full writer."""
    reasons = []
    protocol = table.protocol()
    unknown = sorted(set(protocol.writer_features or ()) - _PROMOTABLE)
    if unknown:
        reasons.append("table features " + ", ".join(unknown))
    elif protocol.writer_features is None and protocol.min_writer_version > 3:
        reasons.append(f"writer protocol {protocol.min_writer_version}")
    if configuration.get("delta.columnMapping.mode", "none") != "none":
        reasons.append("column mapping")
    if configuration.get("delta.enableChangeDataFeed", "false").lower() == "true":
        reasons.append("change data feed")
    return tuple(reasons)
