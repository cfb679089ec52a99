"""The gate on a standalone cluster of the loopback: a master and two workers, each a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from deltalake import DeltaTable

from tests.spark import sessions

HOME = Path(pyspark.__file__).parent
pytestmark = pytest.mark.slow
CONTRACT = """
contract: demo
source: {format: csv, location: in}
fields:
- {name: id, type: bigint, required: true, min: 0}
- {name: note, type: string}
keys: [[id]]
quality: {on_row_failure: quarantine}
publish: {target: ./t}
"""


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    if not sessions.HAS_JAVA:
        pytest.skip("the Spark engine needs Java, and none was found")
    port, page = sessions.free_port(), sessions.free_port()
    started = []

    def start(name: str, *arguments: str) -> tuple[subprocess.Popen[bytes], Path]:
        log = tmp_path / f"{name}.log"
        command = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{arguments[0]}", *arguments[1:]]
        with log.open("wb") as out:
            environment = os.environ | {"SPARK_HOME": str(HOME), "SPARK_WORKER_DIR": str(tmp_path / name)}
            process = subprocess.Popen(command, stdout=out, stderr=out, env=environment)
        started.append(process)
        return process, log

    url = f"spark://127.0.0.1:{port}"
    process, log = start("master", "master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page))
    sessions.wait_for_port(port, process, log)
    logs = [
        start(f"worker-{i}", "worker.Worker", "--host", "127.0.0.1", "-c", "1", "-m", "1g", "--webui-port", str(sessions.free_port()), url)[1]
        for i in (1, 2)
    ]  # fmt: skip
    end = time.monotonic() + 60
    while time.monotonic() < end and not all("registered with master" in one.read_text(errors="replace") for one in logs):
        time.sleep(0.5)
    yield url
    for process in reversed(started):
        process.terminate()
        process.wait(timeout=30)


def test_command_line_publishes_through_a_cluster(master: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for part in range(4):
        rows = "".join(f"{part * 1000 + i},n{i}\n" for i in range(1000)) + ("x,bad\n" if part == 2 else "")
        (tmp_path / "in" / f"{part}.csv").write_text("id,note\n" + rows)
    (tmp_path / "contract.yaml").write_text(CONTRACT)
    environment = os.environ | {
        "INVARACT_SPARK_MASTER": master, "INVARACT_LAKE_ROOT": str(tmp_path / "lake"),
        "PYSPARK_SUBMIT_ARGS": "--driver-memory 1g --conf spark.driver.host=127.0.0.1 --conf spark.executor.memory=900m pyspark-shell",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "invaract_orchestration", "run", str(tmp_path / "contract.yaml"), "--engine", "spark", "--output", "json"],
        capture_output=True, text=True, env=environment, timeout=400, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stdout[-2000:] + done.stderr[-3000:]
    assert json.loads(done.stdout)["counts"]["quarantined"] == 1
    assert DeltaTable(str(tmp_path / "t")).count() == 4000
