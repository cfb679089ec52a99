"""Who is let in, and what is refused before a server starts."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from invaract_orchestration.errors import UsageError
from invaract_orchestration.ui.access import access_for, is_loopback
from invaract_orchestration.ui.app import create_app
from invaract_orchestration.ui.security import OwnHost
from tests.ui.conftest import Told

TOKEN = "0123456789abcdef-token"
GUARDED = ("/", "/runs", "/runs/x", "/contracts/orders", "/quarantine", "/status", "/api/runs", "/api/openapi.json", "/api/status")


def guarded(told: Told, host: str = "0.0.0.0", **given: object) -> TestClient:
    return TestClient(create_app(told.store, authorize=access_for(host, **given)))  # type: ignore[arg-type]


@pytest.mark.parametrize("path", GUARDED)
def test_page_without_the_token_is_refused(told: Told, path: str) -> None:
    client = guarded(told, token=TOKEN)
    for headers in (
        {}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer "}, {"Authorization": "Basic !!"}, {"Authorization": "Basic Og=="},
        {"Authorization": f"Digest {TOKEN}"}, {"Authorization": b"Bearer \xe4"},
    ):  # fmt: skip
        answer = client.get(path, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Basic")
        assert "orders" not in answer.text
        assert TOKEN not in answer.text


def test_page_with_the_token_is_shown(told: Told) -> None:
    client = guarded(told, token=TOKEN)
    assert client.get("/", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert client.get("/", auth=("anyone", TOKEN)).status_code == 200


@pytest.mark.parametrize("path", ["/static/audit.css", "/healthz"])
def test_what_holds_no_data_needs_no_token(told: Told, path: str) -> None:
    assert guarded(told, token=TOKEN).get(path).status_code == 200


def test_identity_header_is_believed_from_the_proxy_alone(told: Told) -> None:
    app = create_app(told.store, authorize=access_for("0.0.0.0", identity_header="X-User", proxies=("10.0.0.7",)))
    proxy, other = TestClient(app, client=("10.0.0.7", 1)), TestClient(app, client=("10.0.0.8", 1))
    assert "ada@example.org" in proxy.get("/", headers={"X-User": "ada@example.org"}).text
    assert proxy.get("/").status_code == 401
    assert proxy.get("/", headers={"X-User": " "}).status_code == 401
    assert other.get("/", headers={"X-User": "ada@example.org"}).status_code == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "audit.example.org"])
def test_address_of_others_without_a_guard_is_refused(host: str) -> None:
    with pytest.raises(UsageError, match="nothing says who may look"):
        access_for(host)


def test_short_token_is_refused_without_showing_it() -> None:
    with pytest.raises(UsageError, match="shorter than 16 characters") as refused:
        access_for("0.0.0.0", token="short-secret")
    assert "short-secret" not in str(refused.value)


def test_token_and_header_together_are_refused() -> None:
    with pytest.raises(UsageError, match="exclude each other"):
        access_for("0.0.0.0", token=TOKEN, identity_header="X-User")


def test_loopback_is_recognised() -> None:
    assert [is_loopback(host) for host in ("localhost", "127.0.0.1", "127.8.0.1", "::1", "0.0.0.0", "localhost.example.org")] == [
        True, True, True, True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8399", 200), ("localhost", 200), ("LOCALHOST:1", 200), ("[::1]:8399", 200), ("evil.example", 421),
        ("127.0.0.1.evil.example:8399", 421), ("", 421),
    ],
)  # fmt: skip
def test_request_for_another_host_is_refused(told: Told, host: str, status: int) -> None:
    client = TestClient(OwnHost(create_app(told.store), hosts=("localhost", "127.0.0.1", "::1")))  # type: ignore[arg-type]
    assert client.get("/healthz", headers={"Host": host}).status_code == status
