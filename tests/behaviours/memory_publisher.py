"""A publisher whose tables are lists of versions in memory: append, overwrite and merge by key."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pyarrow.parquet as pq

from invaract_orchestration.candidate.target import TargetColumn, TargetState
from invaract_orchestration.errors import NotSupported, PublishConflict
from invaract_orchestration.publish.intent import Published, PublishIntent, TargetCommit
from invaract_orchestration.publish.publisher import KeepRequest

Row = dict[str, Any]


@dataclass
class _Table:
    columns: tuple[TargetColumn, ...]
    versions: list[tuple[list[Row], TargetCommit]] = field(default_factory=list)


@dataclass
class MemoryPublisher:
    """See `Publisher`."""

    tables: dict[str, _Table] = field(default_factory=dict)
    kept: dict[str, list[Row]] = field(default_factory=dict)
    once: set[tuple[str, str]] = field(default_factory=set)

    def inspect(self, location: str) -> TargetState:
        table = self.tables.get(location)
        if table is None:
            return TargetState(location=location, version=None)
        return TargetState(location=location, version=len(table.versions) - 1, columns=table.columns)

    def find(self, location: str, submission_id: str) -> Published | None:
        for commit in self.history(location):
            if commit.commit is not None and commit.commit.submission == submission_id:
                return Published(
                    version=commit.version, method=commit.commit.method, committed_at=commit.committed_at, commit=commit.commit
                )
        return None

    def publish(self, intent: PublishIntent) -> Published:
        location, now = intent.target.location, datetime.now(UTC)
        found = self.find(location, intent.submission_id)
        if found is not None:
            return found
        if self.version(location) != intent.target.version:
            raise PublishConflict("another writer changed the target after the version that the verdict was given for")
        if location not in self.tables:
            columns = tuple(TargetColumn(name=n, type=t, nullable=True) for n, t in intent.candidate.columns)
            self.tables[location] = _Table(columns)
            self._add(location, [], TargetCommit(version=0, operation="CREATE TABLE", committed_at=now, commit=None))
        old = self.rows(location)
        new = [row for file in intent.candidate.files for row in pq.read_table(file.path, partitioning=None).to_pylist()]
        rows, inserted, updated, deleted = _combined(intent, old, new)
        commit = replace(intent.commit, method="promoted")
        version = len(self.tables[location].versions)
        self._add(location, rows, TargetCommit(version=version, operation="WRITE", committed_at=now, commit=commit))
        return Published(
            version=version, method="promoted", inserted=inserted, updated=updated, deleted=deleted, committed_at=now, commit=commit
        )

    def _add(self, location: str, rows: list[Row], commit: TargetCommit) -> None:
        self.tables[location].versions.append((rows, commit))

    def history(self, location: str) -> tuple[TargetCommit, ...]:
        table = self.tables.get(location)
        return tuple(commit for _, commit in reversed(table.versions)) if table else ()

    def version(self, location: str) -> int | None:
        table = self.tables.get(location)
        return len(table.versions) - 1 if table else None

    def keep(self, request: KeepRequest) -> bool:
        if (request.location, request.once) in self.once:
            return False
        self.once.add((request.location, request.once))
        own = {
            "submission_id": request.submission_id, "attempt_id": request.attempt_id, "contract": request.contract,
            "version": request.version, "phase": request.phase, "kind": request.kind,
        }  # fmt: skip
        rows = pq.read_table(request.rows.location).to_pylist()
        self.kept.setdefault(request.location, []).extend(own | row for row in rows)
        return True

    def rows(self, location: str) -> list[Row]:
        table = self.tables.get(location)
        return list(table.versions[-1][0]) if table else []


def _combined(intent: PublishIntent, old: list[Row], new: list[Row]) -> tuple[list[Row], int, int, int]:
    """The rows of the next version, and how many were inserted, updated and deleted."""
    match intent.publish.mode:
        case "append":
            return [*old, *new], len(new), 0, 0
        case "overwrite":
            return new, len(new), 0, len(old)
        case "merge":
            keys = intent.publish.keys
            known = {tuple(row[k] for k in keys) for row in old}
            given = {tuple(row[k] for k in keys): row for row in new}
            kept = [given.get(tuple(row[k] for k in keys), row) for row in old]
            added = [row for key, row in given.items() if key not in known]
            return [*kept, *added], len(added), len(given) - len(added), 0
    raise NotSupported(f"mode {intent.publish.mode} is not kept in memory")
