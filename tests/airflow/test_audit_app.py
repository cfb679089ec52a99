"""The audit pages inside of Airflow's API server: its login, its permissions, and no store, an empty or a broken one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

PAGES = ("/invaract/", "/invaract/runs", "/invaract/api/v1/runs")


@pytest.fixture(scope="module")
def server(airflow_home: Path) -> Any:
    """Airflow's API server, in this process."""
    from airflow.api_fastapi.app import create_app
    from fastapi.testclient import TestClient

    app = create_app(apps="core")
    return TestClient(app, raise_server_exceptions=False), app


@pytest.fixture
def ask(server: Any, lake: Any) -> Any:
    """GET as a user of a role; nobody without one."""
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser

    client, app = server

    def get(path: str, role: str | None = None) -> Any:
        token = role and app.state.auth_manager.generate_jwt(SimpleAuthManagerUser(username="somebody", role=role))
        return client.get(path, headers={"Authorization": f"Bearer {token}"} if token else {}, follow_redirects=False)

    return get


def test_every_page_refuses_an_anonymous_request(ask: Any, server: Any) -> None:
    from fastapi.routing import APIRoute

    pages = next(r.app for r in server[1].routes if getattr(r, "path", "") == "/invaract")
    paths = [r.path for r in pages.routes if isinstance(r, APIRoute) and r.path != "/healthz"]

    answers = {path: ask(f"/invaract{path}".replace("{", "").replace("}", "")).status_code for path in paths}

    assert len(paths) >= 6
    assert answers == dict.fromkeys(paths, 401)


def test_forged_token_is_refused(server: Any) -> None:
    assert server[0].get("/invaract/", headers={"Authorization": "Bearer x.y.z"}).status_code in (401, 403)


@pytest.mark.parametrize("role", ["viewer", "admin"])
def test_user_sees_the_run_of_a_dag(role: str, ask: Any, setup: Any, run_dag: Any, attempts: Any, reopened: Any) -> None:
    setup.lake.land("p.csv", "id,v", "A1,")
    run_dag("gate", conf=setup.conf("p"))

    page = ask(f"/invaract/runs/{attempts()[0].attempt.attempt_id}", role)

    assert page.status_code == 200
    assert "v|required" in page.text
    assert "frame-ancestors &#39;self&#39;" not in page.text
    assert "frame-ancestors 'self'" in page.headers["content-security-policy"]


def test_user_without_permission_for_the_dag_does_not_see_its_run(
    ask: Any, setup: Any, run_dag: Any, attempts: Any, reopened: Any, server: Any, monkeypatch: Any
) -> None:
    setup.lake.land("p.csv", "id,v", "A1,")
    run_dag("gate", conf=setup.conf("p"))
    found = attempts()[0].attempt.attempt_id
    monkeypatch.setattr(server[1].state.auth_manager, "filter_authorized_dag_ids", lambda **_: {"another"})

    assert ask(f"/invaract/runs/{found}", "viewer").status_code == 404
    assert found not in ask("/invaract/runs", "viewer").text


@pytest.mark.parametrize("path", PAGES[:2])
def test_pages_without_a_store_answer_with_a_note(path: str, ask: Any, reopened: Any) -> None:
    page = ask(path, "viewer")

    assert page.status_code in (200, 503)
    assert "audit store" in page.text


def test_pages_over_an_empty_store_say_so(ask: Any, lake: Any, reopened: Any) -> None:
    from invaract_orchestration.stores import open_store

    (lake.root / "_invaract").mkdir(parents=True)
    open_store(f"sqlite:///{lake.root}/_invaract/audit.db").close()

    page = ask("/invaract/", "viewer")

    assert page.status_code == 200
    assert "Nothing is recorded yet." in page.text
    assert ask("/invaract/api/runs", "viewer").json()["runs"] == []


def test_anything_but_reading_is_refused(server: Any) -> None:
    assert server[0].post("/invaract/runs").status_code in (401, 405)


@pytest.fixture
def reopened(server: Any) -> Any:
    """The pages with a store of this test's own: each process keeps the one that it opened."""
    from airflow_plugin.audit_app import build_app

    mount = next(r for r in server[1].routes if getattr(r, "path", "") == "/invaract")
    mount.app = build_app()
