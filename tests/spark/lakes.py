"""The same private lake on every engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from invaract_orchestration.engines.delta.publisher import DeltaPublisher
from invaract_orchestration.engines.duckdb.engine import DuckDBEngine
from invaract_orchestration.engines.spark.engine import SparkEngine
from invaract_orchestration.engines.spark.publisher import SparkPublisher
from invaract_orchestration.gate import Gate
from tests.engines.lake import Lake
from tests.spark import sessions

ENGINES = ("duckdb", "spark", "spark-connect")


def engine_of(name: str) -> Any:
    if name == "duckdb":
        return DuckDBEngine()
    if not sessions.HAS_JAVA:
        pytest.skip("the Spark engine needs Java, and none was found")
    return SparkEngine(session=sessions.classic() if name == "spark" else sessions.connected())


@dataclass
class EngineLake(Lake):
    """A lake whose gate works on the engine of that name."""

    engine: str = "spark"

    @property
    def gate(self) -> Gate:
        engine = engine_of(self.engine)
        publisher: Any = DeltaPublisher() if self.engine == "duckdb" else SparkPublisher(engine)
        return Gate(engine=engine, publisher=publisher, audit=self.audit, waivers=self.audit, lake_root=self.root)


MakeLake = Callable[[str], EngineLake]


def lakes_in(folder: Path) -> MakeLake:
    def make(engine: str) -> EngineLake:
        root = folder / engine
        root.mkdir()
        return EngineLake(root=root, engine=engine)

    return make
