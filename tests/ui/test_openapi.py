"""The API keeps what its OpenAPI document says, for examples that a generator makes up."""

from __future__ import annotations

import warnings

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings

from invaract_orchestration.ui.app import create_app
from tests.ui.conftest import Told
from tests.ui.story import NOW

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import schemathesis

OPERATIONS = (
    "/api/contracts/{contract}", "/api/contracts/{contract}/versions/{version}", "/api/overview", "/api/quarantine", "/api/runs",
    "/api/runs/{attempt_id}", "/api/status",
)  # fmt: skip


@pytest.mark.parametrize("path", OPERATIONS)
@pytest.mark.filterwarnings("ignore")
def test_answers_keep_the_document(told: Told, path: str) -> None:
    described = schemathesis.openapi.from_asgi("/api/openapi.json", create_app(told.store, clock=lambda: NOW))

    @settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
    @given(case=described[path]["GET"].as_strategy())
    def keeps(case: schemathesis.Case) -> None:
        case.call_and_validate()

    keeps()


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/api/runs", "limit=0"), ("/api/runs", "limit=x"), ("/api/runs", "limit=201"), ("/api/runs", "to=never"),
        ("/api/overview", "days=0"), ("/api/overview", "days=400"), ("/api/quarantine", "limit=-1"),
    ],
)  # fmt: skip
def test_query_that_makes_no_sense_is_refused_as_described(client: TestClient, path: str, query: str) -> None:
    answer = client.get(f"{path}?{query}")
    assert answer.status_code == 422
    assert set(answer.json()) == {"detail"}


def test_document_names_every_operation_and_reads_alone(client: TestClient) -> None:
    document = client.get("/api/openapi.json").json()
    assert tuple(sorted(document["paths"])) == OPERATIONS
    assert {method for path in document["paths"].values() for method in path} == {"get"}


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json"])
def test_pages_that_load_from_elsewhere_are_not_there(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404
