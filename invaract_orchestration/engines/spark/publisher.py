"""The publisher of the Spark engine: deltalake's commits where the table allows them, Spark's own where it does not.

Either way the log is read by deltalake, so a submission that one of them published is seen by the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.engines.delta.features import unwritable_features
from invaract_orchestration.engines.delta.inspect import find_publication, inspect_table, table_history
from invaract_orchestration.engines.delta.paths import has_paths_of_another_spelling
from invaract_orchestration.engines.delta.publish import publish_candidate
from invaract_orchestration.engines.delta.quarantine import keep_rows
from invaract_orchestration.engines.delta.read import open_table
from invaract_orchestration.engines.spark.engine import SparkEngine
from invaract_orchestration.engines.spark.publish import publish_through_spark
from invaract_orchestration.engines.spark.session import private_session
from invaract_orchestration.publish.intent import Published, PublishIntent, TargetCommit
from invaract_orchestration.publish.preconditions import new_columns
from invaract_orchestration.publish.publisher import KeepRequest

SPARK_WRITES = frozenset(
    {
        "allowColumnDefaults", "clustering", "domainMetadata", "identityColumns", "inCommitTimestamp", "rowTracking",
        "typeWidening", "vacuumProtocolCheck", "variantType",
    }
)  # fmt: skip
"""Features that delta-spark writes and deltalake does not; tables with identity columns are refused for those before."""


@dataclass(frozen=True, slots=True)
class SparkPublisher:
    """See `Publisher`. It publishes through the session of its engine, and makes new tables known to that one's catalog."""

    engine: SparkEngine

    def inspect(self, location: str) -> TargetState:
        """See `Publisher.inspect`."""
        found = inspect_table(location)
        return replace(found, unwritable=tuple(f for f in found.unwritable if f not in SPARK_WRITES), unwidenable=())

    def find(self, location: str, submission_id: str) -> Published | None:
        """See `Publisher.find`."""
        found = find_publication(location, submission_id)
        if found is not None:
            self._announce(location)  # the catalog may have forgotten it since
        return found

    def publish(self, intent: PublishIntent) -> Published:
        """See `Publisher.publish`."""
        reason = _spark_alone(intent)
        if reason is None:
            return publish_candidate(intent, self._announce)
        with private_session(self.engine.base) as session:
            self.engine.tables.announce(session.spark, intent.target.location)
            return publish_through_spark(session, intent, reason)

    def keep(self, request: KeepRequest) -> bool:
        """See `Publisher.keep`."""
        kept = keep_rows(request)
        self._announce(request.location)
        return kept

    def history(self, location: str) -> tuple[TargetCommit, ...]:
        """See `Publisher.history`."""
        return table_history(location)

    def version(self, location: str) -> int | None:
        """See `Publisher.version`."""
        table = open_table(location)
        return None if table is None else table.version()

    def _announce(self, location: str) -> None:
        if location not in self.engine.tables.names:
            return
        with private_session(self.engine.base) as session:
            self.engine.tables.announce(session.spark, location)


def _spark_alone(intent: PublishIntent) -> str | None:
    """Why only Spark can publish; none where deltalake can."""
    table = open_table(intent.target.location)
    if table is None:
        return None
    features = unwritable_features(table)
    if not features and new_columns(intent.contract, intent.target):
        features = inspect_table(intent.target.location).unwidenable
    if not features and intent.publish.mode != "append" and has_paths_of_another_spelling(table):
        return "paths of files that deltalake spells otherwise"
    return "table features " + ", ".join(features) if features else None
