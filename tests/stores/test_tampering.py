"""Rows are changed behind the gate's back, with the triggers off as an administrator could: `verify` names each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from invaract_orchestration.errors import AuditError
from invaract_orchestration.stores import SqlAuditStore, models, open_store
from invaract_orchestration.testing.audit_records import build_waiver, record_published, record_rejected
from tests.postgres_server import engine_of

TRIGGERS = [(table.name, action) for table in models.APPEND_ONLY for action in ("update", "delete")]


@pytest.fixture
def recorded(store: SqlAuditStore) -> SqlAuditStore:
    """Three attempts and a waiver: events 1 to 4 of att-1, 5 to 7 of att-2, 8 to 11 of att-3, and 12."""
    record_published(store, 1, context={"dag_id": "load", "run_id": "r1"})
    record_rejected(store, 2, "dest|required", "carrier|allowed")
    record_published(store, 3)
    store.grant(build_waiver())
    return store


@pytest.fixture
def tamper(recorded: SqlAuditStore, store_url: str) -> Callable[[str], None]:
    def execute(*statements: str) -> None:
        with _administrator(store_url) as connection:
            for statement in statements:
                connection.execute(text(statement))

    return execute


@contextmanager
def _administrator(url: str) -> Iterator[Connection]:
    engine = engine_of(url)
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SET session_replication_role = replica"))  # no triggers, no foreign keys
        else:
            for table, action in TRIGGERS:
                connection.execute(text(f"DROP TRIGGER {table}_no_{action}"))
        yield connection


def found(store: SqlAuditStore) -> list[tuple[str, str]]:
    return [(finding.kind, finding.place) for finding in store.verify()]


def test_verify_untouched_finds_nothing(recorded: SqlAuditStore) -> None:
    assert recorded.verify() == ()
    assert recorded.verify(expected_head=str(recorded.head())) == ()


EDITS = [
    ("contract_version", "document = '[]'", "contract_version flights/1.0.0"),
    ("submission", "intake_digest = 'x' WHERE submission_id = 'sub-2'", "submission sub-2"),
    ("attempt", "host = 'elsewhere' WHERE attempt_id = 'att-2'", "attempt att-2"),
    ("attempt_context", "value = 'other' WHERE name = 'run_id'", "attempt att-1"),
    ("attempt_state", "state = 'published' WHERE attempt_id = 'att-2'", "attempt_state att-2"),
    ("attempt_state", "contract = 'other' WHERE attempt_id = 'att-2'", "attempt_state att-2"),
    ("attempt_state", "dag_id = 'other' WHERE attempt_id = 'att-2'", "attempt_state att-2"),
    ("attempt_state", "published = NULL WHERE attempt_id = 'att-1'", "attempt_state att-1"),
    ("attempt_state", "day = '2026-03-02' WHERE attempt_id = 'att-2'", "attempt_state att-2"),
    ("event", "message = 'all went well' WHERE position = 6", "event 6"),
    ("event", "state = 'published' WHERE position = 6", "event 6"),
    ("event", "kind = 'step' WHERE position = 6", "event 6"),
    ("verdict", "passed = true WHERE attempt_id = 'att-2'", "verdict att-2/0"),
    ("verdict", "rows_read = 11 WHERE attempt_id = 'att-1'", "verdict att-1/0"),
    ("check_result", "outcome = 'kept' WHERE check_id = 'carrier|allowed'", "check_result att-2/0/2"),
    ("check_result", "failed = 1 WHERE check_id = 'dest|required' AND failed = 2", "check_result att-2/0/1"),
    ("outcome", "code = NULL WHERE attempt_id = 'att-2'", "outcome att-2/0"),
    ("publication", "table_version = 7 WHERE submission_id = 'sub-3'", "publication sub-3"),
    ("waiver", "approver = 'Bob'", "waiver w-1"),
    ("chain_head", "hash = 'x'", "chain_head"),
]


@pytest.mark.parametrize(("table", "change", "place"), EDITS, ids=[f"{edit[0]}: {edit[1][:16]}" for edit in EDITS])
def test_verify_edited_row_is_found_alone(
    recorded: SqlAuditStore, tamper: Callable[[str], None], table: str, change: str, place: str
) -> None:
    tamper(f"UPDATE {table} SET {change}")
    assert found(recorded) == [("edited", place)]


@pytest.mark.parametrize("table", [table.name for table in models.metadata.sorted_tables])
def test_edits_cover_every_table(table: str) -> None:
    assert table in {edit[0] for edit in EDITS}


def test_verify_edited_dag_is_found_where_it_is_recorded_and_beside_the_state(
    recorded: SqlAuditStore, tamper: Callable[[str], None]
) -> None:
    tamper("UPDATE attempt_context SET value = 'other' WHERE name = 'dag_id'")
    assert found(recorded) == [("edited", "attempt att-1"), ("edited", "attempt_state att-1")]


def test_verify_edited_time_is_found(recorded: SqlAuditStore, tamper: Callable[[str], None]) -> None:
    tamper("UPDATE publication SET committed_at = '2026-03-01T12:00:00.123457Z' WHERE submission_id = 'sub-1'")
    assert found(recorded) == [("edited", "publication sub-1")]


@pytest.mark.parametrize(
    ("statement", "place"),
    [
        ("DELETE FROM submission WHERE submission_id = 'sub-2'", "submission sub-2"),
        ("DELETE FROM attempt_context WHERE name = 'run_id'", "attempt att-1"),
        ("DELETE FROM attempt_state WHERE attempt_id = 'att-2'", "attempt_state att-2"),
        ("DELETE FROM check_result WHERE check_id = 'dest|required'", "check_result att-2/0/1"),
        ("DELETE FROM outcome WHERE attempt_id = 'att-3'", "outcome att-3/0"),
        ("DELETE FROM publication WHERE submission_id = 'sub-3'", "publication sub-3"),
        ("DELETE FROM waiver", "waiver w-1"),
        ("DELETE FROM chain_head", "chain_head"),
    ],
)
def test_verify_removed_row_is_found(recorded: SqlAuditStore, tamper: Callable[[str], None], statement: str, place: str) -> None:
    tamper(statement)
    assert place in [finding.place for finding in recorded.verify()]


@pytest.mark.parametrize(
    ("condition", "place"),
    [("position = 6", "event 6"), ("position IN (6, 7)", "events 6 to 7"), ("position = 12", "event 12"),
     ("position = 1", "event 1")],
)  # fmt: skip
def test_verify_removed_events_are_found(
    recorded: SqlAuditStore, tamper: Callable[[str], None], condition: str, place: str
) -> None:
    tamper(f"DELETE FROM event WHERE {condition}")
    assert ("removed", place) in found(recorded)


def test_verify_removed_event_is_found_though_the_rest_was_renumbered(
    recorded: SqlAuditStore, tamper: Callable[[str], None]
) -> None:
    tamper(
        "DELETE FROM event WHERE position = 10",
        "UPDATE event SET position = position - 1 WHERE position = 11",
        "UPDATE event SET position = position - 1 WHERE position = 12",
        "UPDATE chain_head SET position = 11",
    )
    assert ("edited", "event 9") in found(recorded)


def test_verify_removed_attempt_is_found_though_nothing_of_it_is_left(
    recorded: SqlAuditStore, tamper: Callable[[str], None]
) -> None:
    of_attempt = ("check_result", "verdict", "outcome", "event", "attempt_state", "attempt")
    tamper(*(f"DELETE FROM {table} WHERE attempt_id = 'att-2'" for table in of_attempt))
    assert ("removed", "events 5 to 7") in found(recorded)


def test_verify_reordered_events_are_found(recorded: SqlAuditStore, tamper: Callable[[str], None]) -> None:
    tamper(
        "UPDATE event SET position = 100 WHERE position = 2",
        "UPDATE event SET position = 2 WHERE position = 3",
        "UPDATE event SET position = 3 WHERE position = 100",
    )
    assert ("reordered", "event 2") in found(recorded)
    assert ("reordered", "event 3") in found(recorded)
    assert not [place for kind, place in found(recorded) if kind == "edited" and place.startswith("event ")]


def test_verify_swapped_results_are_found(recorded: SqlAuditStore, tamper: Callable[[str], None]) -> None:
    of_verdict = "WHERE attempt_id = 'att-2' AND ordinal"
    tamper(
        f"UPDATE check_result SET ordinal = 9 {of_verdict} = 1",
        f"UPDATE check_result SET ordinal = 1 {of_verdict} = 2",
        f"UPDATE check_result SET ordinal = 2 {of_verdict} = 9",
    )
    assert found(recorded) == [("edited", "check_result att-2/0/1"), ("edited", "check_result att-2/0/2")]


def test_verify_replaced_event_with_its_own_right_hash_is_found(recorded: SqlAuditStore, tamper: Callable[[str], None]) -> None:
    tamper("UPDATE event SET previous = 'x', hash = 'y' WHERE position = 6")
    assert ("edited", "event 6") in found(recorded)


def test_verify_added_rows_are_found(recorded: SqlAuditStore, tamper: Callable[[str], None]) -> None:
    columns = ", ".join(column.name for column in models.check_result.columns if column.name != "ordinal")
    tamper(
        f"INSERT INTO check_result (ordinal, {columns}) SELECT 7, {columns} FROM check_result WHERE attempt_id = 'att-1'",
        "INSERT INTO waiver SELECT 'w-2', position, contract, check_id, candidate_digest, approver, reason, granted_at,"
        " expires_at FROM waiver",
        "INSERT INTO event SELECT 13, attempt_id, kind, state, at, message, detail, covers, previous, hash"
        " FROM event WHERE position = 12",
    )
    assert {("added", "check_result att-1/0/7"), ("added", "waiver w-2"), ("added", "event 13")} <= set(found(recorded))


@pytest.mark.parametrize(
    ("statement", "place"),
    [
        ("INSERT INTO event SELECT -1, attempt_id, kind, state, at, message, detail, covers, previous, hash FROM event"
         " WHERE position = 6", "event -1"),
        ("INSERT INTO event SELECT 0, attempt_id, kind, state, at, message, detail, covers, previous, hash FROM event"
         " WHERE position = 1", "event 0"),
        ("INSERT INTO check_result SELECT attempt_id, 5, ordinal, {result} FROM check_result WHERE attempt_id = 'att-1'",
         "check_result att-1/5/0"),
        ("INSERT INTO attempt_state SELECT 'att-9', 99, {state} FROM attempt_state WHERE attempt_id = 'att-1'", "attempt_state att-9"),
        ("INSERT INTO chain_head SELECT 'other', position - 1, hash FROM chain_head", "chain_head other"),
    ],
)  # fmt: skip
def test_verify_row_that_hangs_on_nothing_is_found(
    recorded: SqlAuditStore, tamper: Callable[[str], None], statement: str, place: str
) -> None:
    rest = {"result": models.check_result.columns.keys()[3:], "state": models.attempt_state.columns.keys()[2:]}
    tamper(statement.format(**{name: ", ".join(columns) for name, columns in rest.items()}))
    assert found(recorded) == [("added", place)]


@pytest.mark.parametrize("value", ["x'00ff'", "9e999", "0.5"])
def test_verify_value_of_another_type_is_found(tmp_path: Path, value: str) -> None:
    """SQLite stores any value in any column."""
    url = f"sqlite:///{tmp_path}/audit.db"
    with open_store(url) as store:
        record_published(store, 1)
        with _administrator(url) as connection:
            connection.execute(text(f"UPDATE outcome SET rows_read = {value}"))
        assert found(store) == [("edited", "outcome att-1/0")]


def test_verify_from_the_head_of_an_empty_store_finds_nothing(store: SqlAuditStore) -> None:
    noted = str(store.head())
    assert store.verify(expected_head=noted) == ()
    record_published(store, 1)
    assert store.verify(expected_head=noted) == ()
    assert [f.kind for f in store.verify(expected_head=f"0:{'0' * 64}")] == ["removed"]


def test_verify_history_rewritten_whole_is_found_by_the_head_noted_before(
    recorded: SqlAuditStore, tamper: Callable[[str], None]
) -> None:
    noted = str(recorded.head())
    tamper(
        "DELETE FROM waiver",
        "DELETE FROM event WHERE position = 12",
        "UPDATE chain_head SET position = 11, hash = (SELECT hash FROM event WHERE position = 11)",
    )
    assert recorded.verify() == ()
    assert [(each.kind, each.place) for each in recorded.verify(expected_head=noted)] == [("removed", "event 12")]


def test_verify_store_grown_since_a_head_was_noted_finds_nothing(recorded: SqlAuditStore) -> None:
    noted = str(recorded.head())
    record_published(recorded, 4)
    assert recorded.verify(expected_head=noted) == ()


def test_read_row_that_is_no_record_is_an_audit_error(recorded: SqlAuditStore, tamper: Callable[[str], None]) -> None:
    tamper("UPDATE submission SET files = 'not json' WHERE submission_id = 'sub-2'")
    with pytest.raises(AuditError, match="a row that is no record") as caught:
        recorded.attempt("att-2")
    assert caught.value.__context__ is None
    assert found(recorded) == [("edited", "submission sub-2")]


def test_append_only_tables_refuse_every_change(recorded: SqlAuditStore, store_url: str) -> None:
    engine = engine_of(store_url)
    for table in models.APPEND_ONLY:
        column = next(iter(table.columns)).name
        for statement in (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}"):
            with pytest.raises(DBAPIError, match="the audit is append-only"), engine.begin() as connection:
                connection.execute(text(statement))
    assert recorded.verify() == ()


@pytest.mark.postgres
def test_append_only_table_refuses_truncate_on_postgresql(postgres_url: str) -> None:
    open_store(postgres_url).close()
    refused = pytest.raises(DBAPIError, match="the audit is append-only")
    with refused, engine_of(postgres_url).begin() as connection:
        connection.execute(text("TRUNCATE event"))
