"""Names that somebody chose to do harm: they show as text, and do nothing."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from invaract_orchestration.audit.records import Counts
from invaract_orchestration.stores import SqlAuditStore
from invaract_orchestration.testing.audit_records import (
    START,
    build_attempt,
    build_event,
    build_outcome,
    build_result,
    build_submission,
    build_verdict,
    build_version,
)
from invaract_orchestration.ui.app import create_app

HOSTILE = """<script>alert(1)</script>"'><img src=x onerror=alert(2)>{{7*7}}</title>"""
PATHS = ("/", "/runs", "/quarantine", "/status", f"/contracts/{quote(HOSTILE, safe='')}", "/runs/att-1")


def record_hostile(store: SqlAuditStore, dag_id: str | None = None, name: str = HOSTILE) -> None:
    document = (
        '{"contract": "x", "description": "%s", "fields": [{"name": "%s", "type": "%s", "pattern": "%s"}], "keys": [{"columns": ["%s"]}],'
        '"publish": {"target": "%s"}, "quality": {"row_rules": [{"name": "%s", "sql": "%s"}]}}' % ((name.replace('"', '\\"'),) * 8)
    )
    version = build_version(name, name, digest=name, document=document)
    submission = build_submission(contract=name, target=f"/lake/a/{name}", parameters={name: name})
    context = {name: name, "dag_id": dag_id or name, "run_id": name, "asset": name}
    attempt = build_attempt(contract_version=version, context=context, environment=name, host=name, engine=name)
    plan = {"plan": f"Read({name})\n└─ WHERE {name}\n", "lineage": '{"%s": {"kind": "%s"}}' % (("<img src=x onerror=alert(3)>",) * 2)}
    store.open_attempt(submission, attempt, build_event(message=name, detail={name: name, **plan}))
    texts = ("check", "expected", "found", "hint", "place")
    result = build_result(**dict.fromkeys(texts, name), outcome="broken", failed=2)
    verdict = build_verdict(passed=False, reasons=(name,), results=(result,), counts=Counts(read=10, failing=2))
    store.record_verdict(verdict, build_event(state="judged", message=name))
    outcome = build_outcome(state="rejected", code=name, message=name, counts=Counts(read=10, failing=2), at=START)
    store.record_outcome(outcome, build_event(state="rejected", message=name))


@pytest.fixture
def hostile(empty_store: SqlAuditStore) -> TestClient:
    record_hostile(empty_store)
    return TestClient(create_app(empty_store, clock=lambda: START))


@pytest.mark.parametrize("path", PATHS)
def test_hostile_names_are_escaped(hostile: TestClient, path: str) -> None:
    answer = hostile.get(path)
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    assert "<img" not in answer.text
    assert '"\'>' not in answer.text
    assert "{{7*7}}" in answer.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in answer.text


@pytest.mark.parametrize("query", ["search", "contract", "environment", "dag_id", "from", "state", "before", "map_index"])
def test_hostile_query_is_escaped(hostile: TestClient, query: str) -> None:
    answer = hostile.get("/runs", params={query: HOSTILE})
    assert answer.status_code == (422 if query == "from" else 200)  # longer than any time
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "<script>alert" not in answer.text
    assert "<img" not in answer.text


def test_hostile_address_is_not_repeated(hostile: TestClient) -> None:
    answer = hostile.get(f"/runs/{quote(HOSTILE, safe='')}")
    assert answer.status_code == 404
    assert "alert" not in answer.text
