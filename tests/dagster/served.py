"""Dagster's own pages with its daemon, as `dagster dev` starts them, asked through GraphQL."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

INSTANCE = """\
telemetry: {enabled: false}
nux: {enabled: false}
freshness: {enabled: true}
concurrency: {runs: {max_concurrent_runs: 4}}
"""
_FINISHED = {"COMPLETED", "COMPLETED_SUCCESS", "COMPLETED_FAILED", "FAILED", "CANCELED"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(home: Path, **more: str) -> dict[str, str]:
    """For a process of its own with a Dagster instance in `home`."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "dagster.yaml").write_text(INSTANCE)
    return {**os.environ, "DAGSTER_HOME": str(home), "DAGSTER_DISABLE_TELEMETRY": "1", **more}


@dataclass(frozen=True)
class Served:
    """A running Dagster."""

    url: str

    def ask(self, query: str, **variables: Any) -> Any:
        answer = httpx.post(f"{self.url}/graphql", json={"query": query, "variables": variables}, timeout=60)
        answer.raise_for_status()
        body = answer.json()
        assert "errors" not in body, body["errors"]
        return body["data"]

    def backfill(self, assets: list[str], partitions: list[str], seconds: float = 300) -> str:
        """Run these partitions and say how it ended."""
        data = self.ask(
            "mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) { __typename"
            " ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }",
            p={"assetSelection": [{"path": [a]} for a in assets], "partitionNames": partitions},
        )["launchPartitionBackfill"]
        assert data["__typename"] == "LaunchBackfillSuccess", data
        return self._wait(
            lambda: self.ask(
                "query($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status } } }",
                id=data["backfillId"],
            )["partitionBackfillOrError"]["status"],
            seconds,
        )

    def _wait(self, status: Any, seconds: float) -> str:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = str(status())
            if found in _FINISHED:
                return found
            time.sleep(1)
        raise AssertionError(f"still {found} after {seconds:.0f} s")


@contextmanager
def served(definitions: Path, env: dict[str, str]) -> Iterator[Served]:
    """`dagster dev` on a file with definitions, stopped with everything it started."""
    port = free_port()
    program = Path(sys.executable).with_name("dagster")
    log = definitions.with_suffix(".log").open("w")
    process = subprocess.Popen(
        [program, "dev", "-f", definitions, "-h", "127.0.0.1", "-p", str(port)], env=env, cwd=definitions.parent,
        stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        running = Served(f"http://127.0.0.1:{port}")
        _until_ready(running, process)
        yield running
    finally:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)
        log.close()


def _until_ready(running: Served, process: subprocess.Popen[bytes]) -> None:
    def is_ready() -> bool:
        assert process.poll() is None, "dagster dev ended"
        found = running.ask("{ repositoriesOrError { __typename ... on RepositoryConnection { nodes { name } } } }")
        return bool(found["repositoriesOrError"].get("nodes"))

    until(is_ready, "dagster dev")


def until(is_ready: Callable[[], bool], what: str, seconds: float = 180) -> None:
    """Wait for a server that is starting."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(httpx.HTTPError):
            if is_ready():
                return
        time.sleep(1)
    raise AssertionError(f"{what} did not get ready")
