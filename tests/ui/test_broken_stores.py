"""A store that is missing, empty, or changed by hand: the pages say so, and show the rest."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from invaract_orchestration.audit.records import Counts
from invaract_orchestration.stores import SqlAuditStore, open_store
from invaract_orchestration.stores.models import APPEND_ONLY
from invaract_orchestration.testing.audit_records import (
    build_attempt,
    build_event,
    build_outcome,
    build_submission,
    record_published,
    record_rejected,
)
from invaract_orchestration.ui.app import create_app
from invaract_orchestration.ui.late_reader import LateReader

PAGES = ("/", "/runs", "/quarantine", "/status", "/contracts/flights", "/runs/att-1")
ANSWERS = ("/api/overview", "/api/runs", "/api/quarantine", "/api/status")


def late(file: Path) -> TestClient:
    app = create_app(LateReader(lambda: open_store(f"sqlite:///{file}", read_only=True)))
    return TestClient(app, raise_server_exceptions=False)


@pytest.mark.parametrize("path", PAGES)
def test_page_without_a_store_shows_a_note(tmp_path: Path, path: str) -> None:
    answer = late(tmp_path / "none.db").get(path)
    assert answer.status_code == 200
    assert "There is no audit store at" in answer.text


@pytest.mark.parametrize("path", ANSWERS)
def test_api_without_a_store_is_unavailable(tmp_path: Path, path: str) -> None:
    answer = late(tmp_path / "none.db").get(path)
    assert answer.status_code == 503
    assert answer.json()["hint"] == "check the path; the first run of a gate creates it"


def test_store_that_appears_later_is_found(tmp_path: Path) -> None:
    client = late(tmp_path / "audit.db")
    assert client.get("/api/runs").status_code == 503
    with open_store(f"sqlite:///{tmp_path}/audit.db") as store:
        record_published(store, 1)
    assert client.get("/api/runs").json()["total"] == 1


def test_file_that_is_no_store_shows_a_note(tmp_path: Path) -> None:
    (tmp_path / "audit.db").write_bytes(b"nothing of the kind" * 100)
    client = late(tmp_path / "audit.db")
    assert [client.get(path).status_code for path in PAGES] == [200] * 6
    assert "cannot be read just now" in client.get("/").text
    assert [client.get(path).status_code for path in ANSWERS] == [503] * 4


def test_store_that_went_away_shows_a_note(tmp_path: Path) -> None:
    file = tmp_path / "audit.db"
    with open_store(f"sqlite:///{file}") as store:
        record_published(store, 1)
    client = late(file)
    assert client.get("/api/runs").json()["total"] == 1
    for each in tmp_path.iterdir():
        each.unlink()
    assert [client.get(path).status_code for path in PAGES] == [200] * 6


@pytest.mark.parametrize("path", ["/", "/runs", "/quarantine", "/status"])
def test_empty_store_shows_a_note(empty_store: SqlAuditStore, path: str) -> None:
    answer = TestClient(create_app(empty_store)).get(path)
    assert answer.status_code == 200
    assert "recorded" in answer.text


BROKEN = [
    "UPDATE submission SET files = '{' WHERE submission_id = 'sub-2'",
    "UPDATE submission SET parameters = 'x' WHERE submission_id = 'sub-2'",
    "UPDATE attempt SET started_at = 'long ago' WHERE attempt_id = 'att-2'",
    "UPDATE event SET detail = 'x' WHERE attempt_id = 'att-2'",
    "UPDATE event SET at = 'x' WHERE attempt_id = 'att-2'",
    "UPDATE verdict SET reasons = 'x' WHERE attempt_id = 'att-2'",
    "UPDATE outcome SET at = 'x' WHERE attempt_id = 'att-2'",
    "UPDATE publication SET committed_at = 'x' WHERE submission_id = 'sub-2'",
    "UPDATE check_result SET outcome = 'broken', failed = 99 WHERE attempt_id = 'att-2'",
    "UPDATE check_result SET failed = 3 WHERE attempt_id = 'att-2'",
    "DELETE FROM submission WHERE submission_id = 'sub-2'",
    "DELETE FROM publication WHERE submission_id = 'sub-2'",
    "DELETE FROM attempt WHERE attempt_id = 'att-2'",
    "DELETE FROM event WHERE attempt_id = 'att-2'",
    "DELETE FROM verdict WHERE attempt_id = 'att-2'",
    "DELETE FROM attempt_state WHERE attempt_id = 'att-2'",
    "UPDATE attempt_state SET started_at = 'x' WHERE attempt_id = 'att-2'",
    "UPDATE attempt_state SET state = '<b>odd</b>' WHERE attempt_id = 'att-2'",
    "UPDATE contract_version SET document = 'x'",
    "UPDATE contract_version SET document = '[1]'",
    """UPDATE contract_version SET document = '{"fields": {"a": 1}, "keys": [1], "quality": [], "owner": 3, "rules": "x"}'""",
    "DELETE FROM contract_version",
]


@pytest.mark.parametrize("statement", BROKEN)
def test_one_broken_record_leaves_the_rest_on_the_pages(tmp_path: Path, statement: str) -> None:
    file = tmp_path / "audit.db"
    with open_store(f"sqlite:///{file}") as store:
        record_rejected(store, 1, "dest|required")
        record_published(store, 2)
        record_published(store, 3, contract="other")
    change(file, statement)
    client = late(file)
    for path in (*PAGES, "/runs/att-2", "/runs/att-3", "/contracts/other"):
        assert client.get(path).status_code in (200, 404), path
    for path in ANSWERS:
        assert client.get(path).status_code == 200, path
    shown = client.get("/runs").text
    assert statement.endswith("contract_version") or "att-3" in shown
    assert "<b>odd" not in shown


def test_broken_record_is_named(tmp_path: Path) -> None:
    file = tmp_path / "audit.db"
    with open_store(f"sqlite:///{file}") as store:
        record_published(store, 1)
        record_published(store, 2)
    change(file, "UPDATE submission SET files = '{' WHERE submission_id = 'sub-2'")
    answer = late(file).get("/api/runs").json()
    assert answer["unreadable"] == ["att-2"]
    assert [run["attempt_id"] for run in answer["runs"]] == ["att-1"]
    page = late(file).get("/runs").text
    assert "1 record cannot be read." in page
    assert "<code>att-2</code>" in page


@pytest.mark.parametrize("path", ["/runs", "/quarantine"])
def test_page_of_broken_records_alone_claims_nothing_and_leads_on(tmp_path: Path, path: str) -> None:
    file = tmp_path / "audit.db"
    with open_store(f"sqlite:///{file}") as store:
        for number in range(60):
            attempt_id, submission_id = f"att-{number}", f"sub-{number}"
            store.open_attempt(build_submission(submission_id), build_attempt(attempt_id, submission_id), build_event(attempt_id))
            outcome = build_outcome(attempt_id, "rejected", counts=Counts(read=10, failing=2))
            store.record_outcome(outcome, build_event(attempt_id, "rejected"))
    change(file, "UPDATE submission SET files = '{' WHERE submission_id NOT IN ('sub-0', 'sub-1')")
    page = late(file).get(path).text
    assert "50 records cannot be read." in page
    assert "recorded" not in page.partition("cannot be read.")[2].partition("<footer")[0]
    older = re.search(r'href="([^"]*before=[^"]*)"', page)
    assert older is not None
    assert "att-0" in late(file).get(older[1].replace("&amp;", "&")).text


def change(file: Path, statement: str) -> None:
    with sqlite3.connect(file) as connection:
        for table in APPEND_ONLY:
            for action in ("update", "delete"):
                connection.execute(f"DROP TRIGGER IF EXISTS {table.name}_no_{action}")
        connection.execute(statement)
    connection.close()
