"""A store of its own for each test, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from invaract_orchestration.stores import SqlAuditStore, open_store
from tests.postgres_server import postgres_server, postgres_url  # noqa: F401


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/audit.db"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")


@pytest.fixture
def store(store_url: str) -> Iterator[SqlAuditStore]:
    with open_store(store_url) as opened:
        yield opened
