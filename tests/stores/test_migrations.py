"""The schema that the migrations make, from the first revision on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from invaract_orchestration.audit import records
from invaract_orchestration.audit.browse import EVERYTHING, RunFilter, Scope
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.errors import AuditUnavailable
from invaract_orchestration.stores import migrate, models, open_store
from invaract_orchestration.testing.audit_records import record_published
from tests.postgres_server import engine_of


def test_migrate_makes_the_tables_of_the_models(store_url: str) -> None:
    open_store(store_url).close()
    engine = engine_of(store_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": migrate.VERSION_TABLE, "compare_type": True})
        assert compare_metadata(context, models.metadata) == []


def test_migrate_leaves_other_tables_of_the_database_alone(store_url: str) -> None:
    engine = engine_of(store_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32))"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('of another program')"))
        connection.execute(text("CREATE TABLE elsewhere (x INTEGER)"))
    with open_store(store_url) as store:
        record_published(store, 1)
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == "of another program"
    assert inspect(engine).has_table("elsewhere")


def test_migrate_that_fails_leaves_nothing_behind(store_url: str) -> None:
    engine = engine_of(store_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE waiver (x INTEGER)"))
    with pytest.raises(Exception, match="The audit store"):
        open_store(store_url)
    assert inspect(engine).get_table_names() == ["waiver"]


def test_revisions_are_the_scripts_in_order() -> None:
    script = ScriptDirectory.from_config(migrate.script_config())
    assert tuple(revision.revision for revision in script.walk_revisions())[::-1] == migrate.REVISIONS


def test_open_store_up_to_date_does_not_load_alembic(sqlite_url: str) -> None:
    open_store(sqlite_url).close()
    code = (
        "import sys; from invaract_orchestration.stores import open_store; open_store(sys.argv[1]).close();"
        "sys.exit('alembic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, sqlite_url], check=False).returncode == 0


def test_migrations_are_shipped_with_the_package() -> None:
    folder = Path(migrate.__file__).parent / "migrations"
    assert (folder / "env.py").is_file()
    assert (folder / "versions" / "0001_first_tables.py").is_file()


@pytest.mark.parametrize(
    ("record", "table", "elsewhere"),
    [
        (records.ContractVersion, models.contract_version, set()),
        (records.Submission, models.submission, set()),
        (records.Attempt, models.attempt, {"contract_version", "context"}),
        (records.Event, models.event, set()),
        (records.VerdictRecord, models.verdict, {"counts", "results"}),
        (records.OutcomeRecord, models.outcome, {"counts", "publication"}),
        (records.PublicationRecord, models.publication, set()),
        (records.Waiver, models.waiver, {"check"}),
        (CheckResult, models.check_result, {"check"}),
    ],
)
def test_every_field_of_a_record_has_its_column(record: type, table: object, elsewhere: set[str]) -> None:
    columns = {column.name for column in table.columns}
    assert {field.name for field in fields(record)} - columns == elsewhere


def test_every_count_has_its_column() -> None:
    counts = {f"rows_{field.name}" for field in fields(records.Counts)}
    for table in (models.verdict, models.outcome):
        assert {column.name for column in table.columns if column.name.startswith("rows_")} == counts


def as_revision_2(store_url: str) -> None:
    """What an earlier version has left: no DAG beside an attempt's state."""
    by_place = "CREATE INDEX ix_attempt_state_contract_target_kind_position_state ON attempt_state"
    with engine_of(store_url).begin() as connection:
        for statement in (
            "DROP INDEX ix_attempt_state_by_day",
            "DROP INDEX ix_attempt_state_by_place",
            "DROP INDEX ix_attempt_state_contract_target_published_dag_id",
            "ALTER TABLE attempt_state DROP COLUMN dag_id",
            "ALTER TABLE attempt_state DROP COLUMN published",
            "CREATE INDEX ix_attempt_state_by_day ON attempt_state (kind, day, contract, target, state, attempt_id)",
            f"{by_place} (contract, target, kind, position, state)",
            "UPDATE invaract_revision SET version_num = '0002'",
        ):
            connection.execute(text(statement))


def as_revision_1(store_url: str) -> None:
    """What the first version has left: no day either."""
    as_revision_2(store_url)
    with engine_of(store_url).begin() as connection:
        for index in ("ix_attempt_state_by_day", "ix_attempt_environment", "ix_outcome_failing"):
            connection.execute(text(f"DROP INDEX {index}"))
        connection.execute(text("ALTER TABLE attempt_state DROP COLUMN day"))
        connection.execute(text("UPDATE invaract_revision SET version_num = '0001'"))


@pytest.mark.parametrize("as_older", [as_revision_1, as_revision_2])
def test_migrate_of_an_older_store_keeps_what_is_recorded_and_fills_what_is_new(
    store_url: str, as_older: Callable[[str], None]
) -> None:
    with open_store(store_url) as store:
        record_published(store, 1, context={"dag_id": "load", "run_id": "r1"})
        record_published(store, 2, context={"asset": "flights"})
        recorded = store.attempts()
    as_older(store_url)

    with pytest.raises(AuditUnavailable, match="older than this version"):
        open_store(store_url, read_only=True)
    with open_store(store_url) as store:
        assert store.attempts() == recorded
        (day,) = {each.day.isoformat() for each in store.activity(EVERYTHING, since=datetime(2026, 3, 1, tzinfo=UTC))}
        assert day == "2026-03-01"
        of_load = store.runs(RunFilter(), Scope(dags=frozenset({"load"}), includes_others=False))
        assert [run.attempt.attempt_id for run in of_load.runs] == ["att-1"]
        of_none = store.runs(RunFilter(), Scope(dags=frozenset()))
        assert [run.attempt.attempt_id for run in of_none.runs] == ["att-2"]
        assert store.verify() == ()
    test_migrate_makes_the_tables_of_the_models(store_url)
