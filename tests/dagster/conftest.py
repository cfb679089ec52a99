"""A project for each test, in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from tests.dagster.project import CONTRACT, FILES, Project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    (tmp_path / "in").mkdir()
    (tmp_path / "dagster").mkdir()
    (tmp_path / "orders.yaml").write_text(CONTRACT)
    with dg.DagsterInstance.ephemeral(str(tmp_path / "dagster")) as instance:
        made = Project(tmp_path, instance)
        for month, text in FILES.items():
            made.write(month, text)
        yield made
