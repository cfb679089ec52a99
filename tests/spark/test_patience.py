"""A Connect server that cannot be reached is given up in bounded time, with an error that says so; a busy one is waited for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.any_pb2 import Any as Packed
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status
from pyspark.sql.connect.session import SparkSession

from invaract_orchestration.engines.spark import patience
from invaract_orchestration.engines.spark.engine import SparkEngine
from invaract_orchestration.engines.spark.left_behind import let_go
from invaract_orchestration.engines.spark.publisher import SparkPublisher
from invaract_orchestration.engines.spark.session import translated, user_session
from invaract_orchestration.errors import EngineFailure, GateError
from tests.spark import sessions
from tests.spark.lakes import EngineLake

NOBODY = "sc://127.0.0.1:9"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "SECONDS", 2.0)


@pytest.fixture
def spark_of_nobody(impatient: None) -> Iterator[Any]:
    spark = SparkSession(NOBODY)
    patience.set_patience(spark)
    yield spark
    let_go(spark, is_remote=True)


def test_server_that_cannot_be_reached_is_waited_for_once(spark_of_nobody: Any) -> None:
    begun = time.monotonic()
    with pytest.raises(EngineFailure, match="asking: the connection to Spark was lost"), translated("asking"):
        spark_of_nobody.sql("select 1").collect()
    first = time.monotonic() - begun
    for call in (lambda: spark_of_nobody.version, lambda: spark_of_nobody.conf.get("a"), spark_of_nobody.cloneSession):
        with pytest.raises(EngineFailure, match="asking: the connection to Spark was lost"), translated("asking"):
            call()
    assert 1.5 < first < 30
    assert time.monotonic() - begun - first < 1.5


def test_wrong_address_is_told_in_bounded_time(impatient: None) -> None:
    begun = time.monotonic()
    with pytest.raises(GateError, match="the Spark Connect server cannot be reached"):
        user_session(NOBODY, "local[2]", None)
    assert time.monotonic() - begun < 30


class Busy(grpc.GenericRpcHandler):
    """Says that it is busy so many times, and then that what is asked for cannot be had."""

    def __init__(self, times: int) -> None:
        self.times, self.asked = times, 0

    def service(self, details: Any) -> Any:
        return grpc.unary_unary_rpc_method_handler(self._answer)

    def _answer(self, _: bytes, context: grpc.ServicerContext) -> bytes:
        self.asked += 1
        if self.asked > self.times:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no")
        info, packed = error_details_pb2.RetryInfo(), Packed()
        info.retry_delay.FromMilliseconds(10)
        packed.Pack(info)
        context.abort_with_status(rpc_status.to_status(status_pb2.Status(code=code_pb2.UNAVAILABLE, details=[packed])))
        return b""


def test_server_that_says_it_is_busy_is_waited_for_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "SECONDS", 0.0)
    busy = Busy(times=3)
    server = grpc.server(ThreadPoolExecutor(1), handlers=[busy])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    spark: Any = SparkSession(f"sc://127.0.0.1:{port}")
    try:
        patience.set_patience(spark)
        with pytest.raises(EngineFailure, match="asking: the engine failed"), translated("asking"):
            spark.version  # noqa: B018
    finally:
        let_go(spark, is_remote=True)
        server.stop(None).wait()
    assert busy.asked >= 4


@pytest.mark.slow
def test_server_that_ends_during_a_run_is_told_in_bounded_time(impatient: None, tmp_path: Path) -> None:
    if not sessions.HAS_JAVA:
        pytest.skip("the Spark engine needs Java, and none was found")
    port = sessions.free_port()
    server = sessions.start_server(port)
    engine = SparkEngine(remote=f"sc://127.0.0.1:{port}")
    lake = EngineLake(root=tmp_path, engine="duckdb")
    lake.put({"a.csv": "id\n1\n"})

    def end(line: str) -> None:
        if line == "writing the candidate":
            sessions.stop(server)

    try:
        gate = replace(lake.gate, engine=engine, publisher=SparkPublisher(engine), tell=end)
        lost = gate.run(lake.contract("{name: id, type: bigint}"))
        assert (lost.state, lost.code, lake.rows()) == ("failed", "engine.failed", [])
        assert "the connection to Spark was lost" in lost.message
    finally:
        sessions.stop(server)
