"""One classic session and one Connect server for a whole test run; both are started when they are first asked for."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import pyspark

from invaract_orchestration.engines.spark.jars import fetched_once, jar_options, java_version
from invaract_orchestration.engines.spark.session import user_session

# A process can hold a classic and a remote session when PySpark does not switch its functions by the environment.
os.environ.setdefault("PYSPARK_NO_NAMESPACE_SHARE", "1")
HAS_JAVA = java_version() is not None
JARS = os.environ.get("INVARACT_SPARK_JARS") or None
_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "3g",
    "spark.sql.ui.retainedExecutions": "50",
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
}


@cache
def classic() -> Any:
    """The classic session; it is active in this process from then on."""
    # One session serves thousands of tests: 1 GB is full after two thousand runs, not least of plans kept for Spark's own page.
    memory = "--driver-memory 4g --conf spark.sql.ui.retainedExecutions=50"
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", f"{memory} pyspark-shell")
    session = user_session(None, "local[2]", JARS)
    session.conf.set("spark.sql.shuffle.partitions", "2")
    atexit.register(session.stop)
    return session


@cache
def connect_url() -> str:
    """A Connect server in a process of its own, on a free port of the loopback."""
    port = free_port()
    atexit.register(stop, start_server(port))
    return f"sc://127.0.0.1:{port}"


def start_server(port: int) -> subprocess.Popen[bytes]:
    """A Connect server that listens at a port of the loopback; it ends with the tests."""
    options = _DELTA | jar_options(JARS) | {
        "spark.connect.grpc.binding.port": str(port), "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.sql.warehouse.dir": tempfile.mkdtemp(prefix="warehouse-"),
    }  # fmt: skip
    home = Path(pyspark.__file__).parent
    command = [str(home / "bin" / "spark-submit"), "--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    command += ["--master", "local[2]", *(part for k, v in options.items() for part in ("--conf", f"{k}={v}")), "spark-internal"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYSPARK_SUBMIT")} | {"SPARK_HOME": str(home)}
    log = tempfile.NamedTemporaryFile(prefix="connect-", suffix=".log", delete=False)  # noqa: SIM115  # lives as long as the server
    with fetched_once(JARS):
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env=environment, start_new_session=True, preexec_fn=_end_with_the_tests  # noqa: PLW1509
        )  # fmt: skip
        wait_for_port(port, process, Path(log.name))
    return process


def _end_with_the_tests() -> None:
    """A test run that is killed cannot end its server: Linux does it then."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


@cache
def connected() -> Any:
    """A remote session."""
    return user_session(connect_url(), "local[2]", None)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_port(port: int, process: subprocess.Popen[bytes], log: Path, seconds: float = 240) -> None:
    """Until something listens there; the log's end is told when it does not come to that."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        if process.poll() is not None:
            break
        time.sleep(0.5)
    raise RuntimeError(f"nothing listens on port {port}: {log.read_text(errors='replace')[-3000:]}")


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a server, which may have ended by itself."""
    with contextlib.suppress(OSError):
        process.terminate()
        process.wait(timeout=20)
