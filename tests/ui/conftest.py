"""A store with a story in it, and the pages over it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi.testclient import TestClient

from invaract_orchestration.stores import SqlAuditStore, open_store
from invaract_orchestration.ui.app import create_app
from tests.ui.story import NOW, tell

Serve = Callable[[Any], AbstractContextManager[str]]


@dataclass(frozen=True)
class Told:
    """A store that a story was told to; `ids` are attempts by what they are."""

    store: SqlAuditStore
    ids: dict[str, str]


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    folder = tmp_path_factory.mktemp("story")
    url = f"sqlite:///{folder}/audit.db"
    with open_store(url) as store:
        ids = tell(store, folder)
    with open_store(url, read_only=True) as store:
        yield Told(store, ids)


@pytest.fixture(scope="session")
def client(told: Told) -> TestClient:
    return TestClient(create_app(told.store, clock=lambda: NOW))


@pytest.fixture
def empty_store(tmp_path: Path) -> Iterator[SqlAuditStore]:
    with open_store(f"sqlite:///{tmp_path}/empty.db") as store:
        yield store


@pytest.fixture(scope="session")
def serve() -> Serve:
    @contextmanager
    def serving(app: Any) -> Iterator[str]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
            thread = threading.Thread(target=server.run, kwargs={"sockets": [free]}, daemon=True)
            thread.start()
            while not server.started:
                time.sleep(0.02)
            yield f"http://127.0.0.1:{free.getsockname()[1]}"
            server.should_exit = True
            thread.join(10)

    return serving
