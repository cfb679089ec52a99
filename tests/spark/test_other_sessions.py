"""Sessions and frames that the gate cannot work with are told by what they are, and nothing is published."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.spark import sessions
from tests.spark.lakes import EngineLake, engine_of

IDS = "{name: id, type: bigint}"
WITHOUT_DELTA = """
import os, signal, sys
from pathlib import Path
from pyspark.sql import SparkSession
from tests.spark.lakes import EngineLake, SparkEngine, SparkPublisher, Gate

class OwnLake(EngineLake):
    @property
    def gate(self):
        engine = SparkEngine(session=spark)
        return Gate(engine=engine, publisher=SparkPublisher(engine), audit=self.audit, waivers=self.audit, lake_root=self.root)

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
root = Path(sys.argv[1])
lake = OwnLake(root=root)
fields = "{name: id, type: bigint}"
lake.put({"a.csv": "id\\n1\\n"})
said = [lake.run(lake.contract(fields))]
said.append(OwnLake(root=root).run(lake.contract(fields, source="format: delta"), source=root / "source", submission_id="d"))
if sys.argv[2] == "stopped":
    spark.stop()
else:
    os.kill(spark.sparkContext._gateway.proc.pid, signal.SIGKILL)
said.append(lake.run(lake.contract(fields), submission_id="b"))
print(*(f"{r.state} {r.code} {r.message}" for r in said), sep="\\n")
os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "told"),
    [("stopped", "failed engine.stopped the Spark session was stopped"), ("killed", "failed engine.failed")],
)
def test_session_without_delta_or_that_has_ended_is_told(tmp_path: Path, end: str, told: str) -> None:
    if not sessions.HAS_JAVA:
        pytest.skip("the Spark engine needs Java, and none was found")
    write_deltalake(str(tmp_path / "source"), pa.table({"id": [1]}))
    command = [sys.executable, "-c", WITHOUT_DELTA, str(tmp_path), end]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    published, no_delta, ended = done.stdout.splitlines()[-3:]
    assert published.startswith("published")
    assert no_delta.startswith("failed engine.no_delta")
    assert "started without Delta Lake" in no_delta
    assert ended.startswith(told)
    assert end == "stopped" or "the connection to Spark was lost" in ended
    assert DeltaTable(str(tmp_path / "t")).to_pyarrow_table().num_rows == 1


@pytest.mark.parametrize("engine", ["spark", "spark-connect"])
def test_frame_that_is_none_of_the_session_is_refused(tmp_path: Path, engine: str) -> None:
    lake = EngineLake(root=tmp_path, engine=engine)
    session = engine_of(engine).session
    other = engine_of("spark" if engine == "spark-connect" else "spark-connect").session
    frames: dict[str, Any] = {
        "not of the gate's Spark session": other.range(1),
        "is a stream": session.readStream.format("rate").load(),
        "a frame of type builtins.list cannot be read": [1, 2],
    }
    for said, frame in frames.items():
        result = lake.run(lake.contract(IDS), frame=frame, submission_id="f")
        assert result.state == "failed", result
        assert said in result.message
    assert not (tmp_path / "t").exists()
