"""What a Delta table is now: columns, constraints, and whether files can be added to it as they are."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from deltalake import DeltaTable

from invaract_orchestration.candidate.target import TargetColumn, TargetState
from invaract_orchestration.engines.delta.read import open_table
from invaract_orchestration.engines.delta.types import field_type
from invaract_orchestration.publish.intent import APP_ID, METADATA_KEY, Published

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
    for commit in table.history():
        metadata = gate_metadata(commit)
        if metadata is not None and metadata.get("submission") == submission_id:
            return Published(
                version=commit["version"], method=str(metadata.get("method", "")), metadata=metadata,
                committed_at=datetime.fromtimestamp(commit["timestamp"] / 1000, UTC),
            )  # fmt: skip
    return Published(version=table.version(), method="", notes=("the log no longer says which version it was",))


def gate_metadata(commit: dict[str, Any]) -> dict[str, str | int | None] | None:
    """What the gate wrote into a commit of the history, none when the gate did not make it."""
    try:
        found = json.loads(commit.get("userMetadata") or "null")
    except ValueError:
        return None
    own = found.get(METADATA_KEY) if isinstance(found, dict) else None
    return own if isinstance(own, dict) else None


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
