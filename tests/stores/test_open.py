"""Opening a store: addresses, what is created and what is refused, and what a message may say."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import inspect, make_url, text

from invaract_orchestration.errors import AuditUnavailable, UsageError
from invaract_orchestration.stores import open_store
from invaract_orchestration.stores.frozen import frozen_sqlite
from invaract_orchestration.testing.audit_records import build_attempt, build_event, build_submission, record_published
from tests.postgres_server import engine_of

SECRET = "s3cret-canary"


@pytest.mark.parametrize(
    "url",
    [
        "", "audit.db", f"mysql://user:{SECRET}@host/db", f"postgresql+psycopg2://user:{SECRET}@host/db",
        f"postgresql+asyncpg://user:{SECRET}@host/db", f"postgres://user:{SECRET}@host/db", "sqlite://",
        "sqlite:///:memory:", "sqlite:///file:x?mode=memory&uri=true", f"sqlite:///x.db?key={SECRET}",
        f"postgresql://user:{SECRET}@host:port/db", "sqlite+aiosqlite:///x.db",
    ],
)  # fmt: skip
def test_open_store_address_of_no_store_is_refused_without_quoting_it(url: str) -> None:
    with pytest.raises(UsageError, match="audit store") as caught:
        open_store(url)
    assert SECRET not in str(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.hint == "write sqlite:///folder/audit.db or postgresql://user@host/database"


@pytest.mark.parametrize("url", [f"postgresql://user:p@{SECRET}@host/db", f"postgresql://dom/user:{SECRET}@host/db"])
def test_open_store_address_whose_password_ends_early_is_refused_without_quoting_it(url: str) -> None:
    with pytest.raises(UsageError, match="cannot be read") as caught:
        open_store(url)
    assert SECRET not in str(caught.value)
    assert caught.value.hint == "write it with a percent sign, such as %40 for @ and %2F for /"


def test_open_store_creates_folder_and_file_in_wal_mode(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/new folder/50%/audit.db") as store:
        record_published(store, 1)
        assert store.place == f"{tmp_path}/new folder/50%/audit.db"
    connection = sqlite3.connect(tmp_path / "new folder" / "50%" / "audit.db")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("SELECT count(*) FROM event").fetchone() == (4,)
    connection.close()


def test_open_store_sqlite_is_durable_and_checks_references(sqlite_url: str) -> None:
    with open_store(sqlite_url) as store:
        settings = store._database.read(
            lambda connection: [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("synchronous", "foreign_keys")]
        )
    assert settings == [2, 1]


def test_open_store_again_keeps_what_was_recorded(store_url: str) -> None:
    with open_store(store_url) as store:
        record_published(store, 1)
        head = store.head()
    with open_store(store_url) as store:
        assert store.head() == head
        record_published(store, 2)
        assert [view.attempt.attempt_id for view in store.attempts()] == ["att-2", "att-1"]
        assert store.verify() == ()


def test_open_store_missing_is_refused_read_only_and_without_migrating(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/none/audit.db"
    for options in ({"read_only": True}, {"migrate": False}):
        with pytest.raises(AuditUnavailable, match="There is no audit store at"):
            open_store(url, **options)
    assert list(tmp_path.iterdir()) == []


def test_open_store_empty_is_refused_read_only_and_without_migrating(store_url: str) -> None:
    if store_url.startswith("sqlite"):
        Path(make_url(store_url).database or "").touch()
    for options in ({"read_only": True}, {"migrate": False}):
        with pytest.raises(AuditUnavailable, match=r"has no audit tables\nHint: open it once for writing"):
            open_store(store_url, **options)
    engine = engine_of(store_url)
    assert inspect(engine).get_table_names() == []


def test_open_store_read_only_reads_and_refuses_to_write(store_url: str) -> None:
    with open_store(store_url) as writer, open_store(store_url, read_only=True) as reader:
        record_published(writer, 1)
        assert [view.state for view in reader.attempts()] == ["published"]
        with pytest.raises(AuditUnavailable, match="is open read-only"):
            reader.append(build_event(state="published", message="more"))
        with pytest.raises(AuditUnavailable, match="is open read-only"):
            reader.open_attempt(build_submission("sub-2"), build_attempt("att-2", "sub-2"), build_event("att-2"))
        assert reader.verify() == ()


def test_open_store_read_only_needs_no_writer_nearby(sqlite_url: str) -> None:
    with open_store(sqlite_url) as store:
        record_published(store, 1)
    with open_store(sqlite_url, read_only=True) as reader:
        assert len(reader.attempts()) == 1


@pytest.fixture
def own_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own; where none can be mounted the test is left out, with the reason."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(place)], capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def remount(place: Path, how: str) -> None:
    if subprocess.run(["mount", "-o", f"remount,{how}", str(place)], capture_output=True, check=False).returncode:
        pytest.skip("the file system cannot be mounted in another way here")


def test_open_store_read_only_reads_a_file_of_a_read_only_file_system(own_disk: Path) -> None:
    url = f"sqlite:///{own_disk}/audit.db"
    with open_store(url) as store:
        record_published(store, 1)
    remount(own_disk, "ro")
    with open_store(url, read_only=True) as reader:
        assert [view.attempt.attempt_id for view in reader.attempts()] == ["att-1"]
        assert reader.verify() == ()
        remount(own_disk, "rw")
        with open_store(url) as store:
            record_published(store, 2)
        remount(own_disk, "ro")
        assert [view.attempt.attempt_id for view in reader.attempts()] == ["att-2", "att-1"]


def test_open_store_read_only_does_not_take_a_part_of_a_store_for_the_whole(own_disk: Path) -> None:
    """A writer that died left a log, without which the file is older than the store."""
    url = f"sqlite:///{own_disk}/audit.db"
    with open_store(url) as store:
        record_published(store, 1)
        left = {name: (own_disk / name).read_bytes() for name in ("audit.db", "audit.db-wal")}
    for name, content in left.items():
        (own_disk / name).write_bytes(content)
    remount(own_disk, "ro")
    with pytest.raises(AuditUnavailable, match=r"cannot be opened|is read-only"):
        open_store(url, read_only=True).attempts()


def test_read_of_a_file_that_was_written_to_meanwhile_is_an_error(own_disk: Path) -> None:
    url = f"sqlite:///{own_disk}/audit.db"
    with open_store(url) as store:
        record_published(store, 1)
    remount(own_disk, "ro")
    engine = frozen_sqlite(own_disk / "audit.db", 1.0)
    changed = pytest.raises(AuditUnavailable, match="was written to while it was read")
    with engine.connect() as connection, changed, connection.begin():
        assert connection.scalar(text("SELECT count(*) FROM attempt")) == 1
        remount(own_disk, "rw")
        with open_store(url) as store:
            record_published(store, 2)


def test_open_store_of_newer_schema_is_refused(store_url: str) -> None:
    open_store(store_url).close()
    _set_revision(store_url, "9999")
    for options in ({}, {"read_only": True}, {"migrate": False}):
        with pytest.raises(AuditUnavailable, match=r"schema revision '9999', which this version .* does not know"):
            open_store(store_url, **options)


def _set_revision(url: str, revision: str) -> None:
    engine = engine_of(url)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE invaract_revision SET version_num = '{revision}'"))


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to be a page" * 100, b"SQLite format 3\0" * 99])
def test_open_store_other_file_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "audit.db"
    path.write_bytes(content)
    with pytest.raises(AuditUnavailable, match=r"is not a SQLite database|is damaged"):
        open_store(f"sqlite:///{path}")
    assert path.read_bytes() == content


def test_open_store_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(AuditUnavailable, match=r"folder of the audit store .* cannot be created"):
        open_store(f"sqlite:///{tmp_path}/file/audit.db")
    with pytest.raises(AuditUnavailable, match="cannot be opened"):
        open_store(f"sqlite:///{tmp_path}")


def test_repr_names_place_alone(sqlite_url: str) -> None:
    with open_store(sqlite_url) as store:
        assert repr(store) == f"SqlAuditStore('{store.place}')"


@pytest.mark.postgres
def test_repr_of_postgresql_shows_no_user_and_no_parameter(postgres_url: str) -> None:
    url = make_url(postgres_url)
    with open_store(f"{postgres_url}?application_name={SECRET}") as store:
        assert repr(store) == f"SqlAuditStore('postgresql://127.0.0.1:{url.port}/{url.database}')"
        assert url.password not in repr(vars(store))
        assert url.password not in repr(vars(store._database))
