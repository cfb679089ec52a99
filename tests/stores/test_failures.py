"""A store that is down, hanging, locked or full: an error in time, in our own words, that gives no secret away."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection, make_url

from invaract_orchestration.audit.browse import EVERYTHING
from invaract_orchestration.errors import AuditError, AuditUnavailable
from invaract_orchestration.stores import SqlAuditStore, open_store
from invaract_orchestration.stores.address import parse_address
from invaract_orchestration.stores.database import Database
from invaract_orchestration.stores.engine import build_engine
from invaract_orchestration.testing.audit_records import build_attempt, build_event, build_submission, record_published
from tests.postgres_server import PASSWORD, PostgresServer

pytestmark = pytest.mark.filterwarnings("error")


def failure_of(work: Callable[[], object], seconds: float = 6) -> AuditUnavailable:
    """The error, which must come in time and lead to no other exception."""
    started = time.monotonic()
    with pytest.raises(AuditUnavailable) as caught:
        work()
    assert time.monotonic() - started < seconds
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))
    assert caught.value.hint
    return caught.value


def test_write_sqlite_locked_fails_in_time_and_works_after(sqlite_url: str) -> None:
    with open_store(sqlite_url, timeout=0.3) as store:
        record_published(store, 1)
        other = sqlite3.connect(make_url(sqlite_url).database or "", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        error = failure_of(lambda: store.append(build_event(state="published", message="more")))
        assert error.sentence == f"The audit store {store.place} was locked by another process for more than 0.3 s"
        assert [view.state for view in store.attempts()] == ["published"]
        other.execute("ROLLBACK")
        other.close()
        store.append(build_event(state="published", message="more"))


def test_write_sqlite_waits_for_a_short_lock(sqlite_url: str) -> None:
    with open_store(sqlite_url, timeout=20) as store:
        record_published(store, 1)
        code = (
            "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
            "c.execute('BEGIN IMMEDIATE'); print('locked', flush=True); time.sleep(0.5); c.execute('COMMIT')"
        )
        command = [sys.executable, "-c", code, make_url(sqlite_url).database or ""]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "locked\n"
            record_published(store, 2)
        assert store.verify() == ()


def test_write_sqlite_full_fails_and_leaves_what_was(sqlite_url: str) -> None:
    with open_store(sqlite_url) as store:
        record_published(store, 1)

        def fill() -> None:
            for number in range(2, 200):
                record_published(store, number)

        def limit(connection: object) -> None:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 2}")

        store._database.read(limit)
        assert "is out of disk space" in failure_of(fill, 30).sentence
        assert store.verify() == ()


def test_write_sqlite_damaged_fails(sqlite_url: str) -> None:
    path = Path(make_url(sqlite_url).database or "")
    with open_store(sqlite_url) as store:
        for number in range(1, 30):
            record_published(store, number)
    content = bytearray(path.read_bytes())
    content[4096:] = b"\x13" * (len(content) - 4096)
    path.write_bytes(content)
    assert failure_of(lambda: open_store(sqlite_url)).sentence.endswith("is damaged")


def test_write_sqlite_removed_under_an_open_store_fails(sqlite_url: str, tmp_path: Path) -> None:
    store = open_store(sqlite_url)
    store.close()
    for file in tmp_path.iterdir():
        file.unlink()
    tmp_path.rmdir()
    assert "cannot be opened" in failure_of(lambda: record_published(store, 1)).sentence
    tmp_path.mkdir()


def test_write_text_that_no_database_stores_is_escaped(store: SqlAuditStore) -> None:
    name = os.fsdecode(b"caf\xe9.csv")
    attempt = build_attempt(host=f"h\0st {name}", context={"asset": f"a/{name}"})
    for _ in range(2):
        store.open_attempt(build_submission(parameters={"file": name}), attempt, build_event(message=f"read {name}"))
    view = store.attempt("att-1")
    assert view is not None
    assert view.attempt.host == r"h\x00st caf\udce9.csv"
    assert view.events[0].message == r"read caf\udce9.csv"
    assert view.submission.parameters == {"file": "caf\udce9.csv"}
    assert store.verify() == ()


def test_write_time_without_zone_is_refused(store: SqlAuditStore) -> None:
    naive = build_attempt().started_at.replace(tzinfo=None)
    with pytest.raises(AuditError, match="A time without a zone"):
        store.open_attempt(build_submission(), build_attempt(started_at=naive), build_event())
    with pytest.raises(AuditError, match="A time without a zone"):
        store.rejections(EVERYTHING, since=naive)
    assert store.attempts() == []


def test_read_unreachable_host_fails_in_time(sqlite_url: str) -> None:
    url = f"postgresql://user:{PASSWORD}@127.0.0.1:1/db"
    error = failure_of(lambda: open_store(url, timeout=2))
    assert error.sentence == "The audit store postgresql://127.0.0.1:1/db cannot be reached or failed"


@pytest.fixture
def postgres_store(postgres_url: str) -> Iterator[SqlAuditStore]:
    with open_store(postgres_url, timeout=1) as store:
        record_published(store, 1)
        yield store


@pytest.mark.postgres
def test_open_postgresql_refused_login_tells_neither_user_nor_password(postgres_server: PostgresServer) -> None:
    url = postgres_server.url("postgres", password=f"{PASSWORD}-wrong")
    error = failure_of(lambda: open_store(url, timeout=2))
    assert error.sentence.endswith("/postgres refuses the login")
    assert "invaract:" not in error.sentence


@pytest.mark.postgres
def test_open_postgresql_without_database_says_so(postgres_server: PostgresServer) -> None:
    error = failure_of(lambda: open_store(postgres_server.url("nowhere"), timeout=2))
    assert error.sentence.endswith("/nowhere does not know the database or the user")


@pytest.mark.postgres
def test_write_postgresql_locked_fails_in_time_and_works_after(postgres_store: SqlAuditStore, postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as other:
        other.execute("SELECT * FROM chain_head FOR UPDATE")
        error = failure_of(lambda: record_published(postgres_store, 2))
        assert error.sentence.endswith("was locked by another process for more than 1 s")
        assert len(postgres_store.attempts()) == 1
    record_published(postgres_store, 2)
    assert postgres_store.verify() == ()


@pytest.mark.postgres
def test_long_work_on_postgresql_is_not_held_to_the_time_of_a_statement(postgres_url: str) -> None:
    """As a look at the whole chain, or the tables of a new version: its statements, and the pauses between them, may be long."""
    database = Database(build_engine(parse_address(postgres_url), access="write", timeout=0.2), "the store", 0.2)

    def work(connection: Connection) -> int:
        connection.exec_driver_sql("SELECT pg_sleep(1)")
        time.sleep(1)
        return int(connection.exec_driver_sql("SELECT 7").scalar_one())

    assert database.read(work, is_bounded=False) == database.write(work, is_bounded=False) == 7
    assert "did not answer within" in failure_of(lambda: database.read(work)).sentence
    database.close()


@pytest.mark.postgres
def test_write_postgresql_slow_statement_fails_in_time(postgres_store: SqlAuditStore, postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as other:
        other.execute(
            "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(30); RETURN NEW; END $$"
        )
        other.execute("CREATE TRIGGER slow BEFORE INSERT ON submission FOR EACH ROW EXECUTE FUNCTION slow()")
    error = failure_of(lambda: record_published(postgres_store, 2))
    assert error.sentence.endswith("did not answer within 1 s")


@pytest.mark.postgres
def test_use_postgresql_hanging_fails_in_time_and_works_after(
    postgres_server: PostgresServer, postgres_store: SqlAuditStore
) -> None:
    postgres_server.freeze()
    try:
        failure_of(lambda: record_published(postgres_store, 2))
        failure_of(postgres_store.statuses)
    finally:
        postgres_server.thaw()
    record_published(postgres_store, 2)
    assert postgres_store.verify() == ()


@pytest.mark.postgres
def test_write_postgresql_hanging_in_the_middle_is_cut(postgres_store: SqlAuditStore) -> None:
    def hang(connection: object) -> None:
        backend = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
        os.kill(backend, signal.SIGSTOP)
        try:
            connection.exec_driver_sql("SELECT 1")
        finally:
            os.kill(backend, signal.SIGCONT)

    error = failure_of(lambda: postgres_store._database.write(hang))
    assert error.sentence.endswith("did not answer within 1 s")


@pytest.mark.postgres
def test_use_postgresql_down_fails_and_works_when_it_is_back(
    postgres_server: PostgresServer, postgres_store: SqlAuditStore
) -> None:
    postgres_server.shut_down()
    try:
        failure_of(lambda: record_published(postgres_store, 2))
    finally:
        postgres_server.start()
    record_published(postgres_store, 2)
    assert postgres_store.verify() == ()


@pytest.mark.postgres
def test_write_postgresql_connection_killed_in_the_middle_leaves_nothing(
    postgres_store: SqlAuditStore, postgres_url: str
) -> None:
    before = postgres_store.head()

    def kill(connection: object) -> None:
        connection.exec_driver_sql("INSERT INTO waiver SELECT 'w', 1, 'c', 'x', 'd', 'a', 'r', now(), now()")
        backend = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
        with psycopg.connect(postgres_url, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", (backend,))

    error = failure_of(lambda: postgres_store._database.write(kill))
    assert error.sentence.endswith("is shutting down or has cut the connection")
    assert postgres_store.head() == before
    assert postgres_store.verify() == ()


@pytest.mark.postgres
def test_write_postgresql_without_permission_names_no_row(
    postgres_server: PostgresServer, postgres_store: SqlAuditStore, postgres_url: str
) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as owner:
        owner.execute("DROP ROLE IF EXISTS reader")
        owner.execute(f"CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'")
        owner.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    url = postgres_url.replace("invaract:", "reader:")
    with open_store(url, read_only=True) as reader:
        assert len(reader.attempts()) == 1
    with open_store(url, migrate=False) as reader:
        assert failure_of(lambda: record_published(reader, 2)).sentence.endswith("refuses its user a permission")
    with psycopg.connect(postgres_url, autocommit=True) as owner:
        owner.execute("DROP OWNED BY reader")
        owner.execute("DROP ROLE reader")


@pytest.mark.postgres
def test_write_postgresql_restarted_between_two_writes_is_not_noticed(
    postgres_server: PostgresServer, postgres_store: SqlAuditStore
) -> None:
    postgres_server.shut_down()
    postgres_server.start()
    record_published(postgres_store, 2)
    assert postgres_store.verify() == ()
