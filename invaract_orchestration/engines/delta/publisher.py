"""The publisher of Delta tables, used with every engine."""

from __future__ import annotations

from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.engines.delta.inspect import find_publication, inspect_table, table_history
from invaract_orchestration.engines.delta.publish import publish_candidate
from invaract_orchestration.engines.delta.quarantine import keep_rows
from invaract_orchestration.engines.delta.read import open_table
from invaract_orchestration.publish.intent import Published, PublishIntent, TargetCommit
from invaract_orchestration.publish.publisher import KeepRequest


class DeltaPublisher:
    """See `Publisher`."""

    def inspect(self, location: str) -> TargetState:
        """See `Publisher.inspect`."""
        return inspect_table(location)

    def find(self, location: str, submission_id: str) -> Published | None:
        """See `Publisher.find`."""
        return find_publication(location, submission_id)

    def publish(self, intent: PublishIntent) -> Published:
        """See `Publisher.publish`."""
        return publish_candidate(intent)

    def keep(self, request: KeepRequest) -> bool:
        """See `Publisher.keep`."""
        return keep_rows(request)

    def history(self, location: str) -> tuple[TargetCommit, ...]:
        """See `Publisher.history`."""
        return table_history(location)

    def version(self, location: str) -> int | None:
        """See `Publisher.version`."""
        table = open_table(location)
        return None if table is None else table.version()
