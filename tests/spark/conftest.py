"""Sessions and lakes for the tests of the Spark engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.spark import sessions
from tests.spark.lakes import EngineLake

HERE = Path(__file__).parent
QUIET = (
    "ignore::FutureWarning", "ignore::ResourceWarning", "ignore::DeprecationWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)  # fmt: skip
"""What PySpark itself warns of: pandas 3, sockets that it leaves to the collector."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("spark")
            for quiet in QUIET:
                item.add_marker(pytest.mark.filterwarnings(quiet))


@pytest.fixture(scope="session")
def spark() -> Any:
    if not sessions.HAS_JAVA:
        pytest.skip("the Spark engine needs Java, and none was found")
    return sessions.classic()


@pytest.fixture
def lake(spark: Any, tmp_path: Path) -> EngineLake:
    return EngineLake(root=tmp_path)
