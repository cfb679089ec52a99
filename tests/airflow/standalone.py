"""A whole Airflow as processes: API server, scheduler with LocalExecutor, DAG processor and triggerer."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psutil

FINAL = ("success", "failed")
Seen = TypeVar("Seen")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standalone:
    """A running one, asked through its API as its admin."""

    home: Path
    environment: Mapping[str, str]
    url: str
    client: httpx.Client

    def start_run(self, dag_id: str, conf: Mapping[str, Any], logical_date: str | None = None) -> str:
        body = {"conf": conf, "logical_date": logical_date}
        return str(self.post(f"dags/{dag_id}/dagRuns", body)["dag_run_id"])

    def finish_run(self, dag_id: str, run_id: str, seconds: float = 300) -> dict[str, tuple[str, int]]:
        """State and number of tries of each task, `id[0]` for a mapped one, when the run has ended."""
        run = f"dags/{dag_id}/dagRuns/{run_id}"
        wait_until(lambda: self.get(run)["state"], lambda state: state in FINAL, seconds, f"{run} to end")
        found = self.get(f"{run}/taskInstances")["task_instances"]
        return {
            ti["task_id"] if ti["map_index"] < 0 else f"{ti['task_id']}[{ti['map_index']}]": (ti["state"], ti["try_number"])
            for ti in found
        }

    def run(self, dag_id: str, conf: Mapping[str, Any]) -> dict[str, tuple[str, int]]:
        return self.finish_run(dag_id, self.start_run(dag_id, conf))

    def clear(self, dag_id: str, run_id: str, task_id: str, map_index: int) -> None:
        body = {
            "dry_run": False, "dag_run_id": run_id, "task_ids": [[task_id, map_index]], "only_failed": True,
            "include_downstream": True, "reset_dag_runs": True,
        }  # fmt: skip
        self.post(f"dags/{dag_id}/clearTaskInstances", body)

    def finish_runs(self, dag_id: str, count: int, seconds: float = 300) -> list[str]:
        """The states of a DAG's runs when so many have ended."""
        return wait_until(
            lambda: [str(run["state"]) for run in self.runs(dag_id)],
            lambda states: len(states) == count and set(states) <= set(FINAL), seconds, f"{count} runs of {dag_id} to end",
        )  # fmt: skip

    def runs(self, dag_id: str) -> list[dict[str, Any]]:
        return list(self.get(f"dags/{dag_id}/dagRuns")["dag_runs"])

    def get(self, path: str) -> dict[str, Any]:
        answer = self.client.get(f"/api/v2/{path}")
        answer.raise_for_status()
        return dict(answer.json())

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        answer = wait_until(
            lambda: self.client.post(f"/api/v2/{path}", json=body),
            lambda answer: answer.status_code != httpx.codes.SERVICE_UNAVAILABLE,  # SQLite was locked: nothing was done
            60, f"{path} to be taken",
        )  # fmt: skip
        assert answer.is_success, answer.text
        return dict(answer.json())


@contextmanager
def run_standalone(home: Path, environment: Mapping[str, str]) -> Iterator[Standalone]:
    """Start one and stop it with everything that it started."""
    port = free_port()
    url, ports = f"http://127.0.0.1:{port}", _ports(port)
    with (home / "standalone.log").open("wb") as log:
        process = subprocess.Popen(
            [Path(sys.executable).with_name("airflow"), "standalone"], env=os.environ | environment | ports, stdout=log,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            with httpx.Client(base_url=url, timeout=30) as client:
                wait_for(lambda: process.poll() is not None or _is_healthy(client), 400, f"Airflow to start: {home / 'standalone.log'}")
                assert process.poll() is None, (home / "standalone.log").read_text()[-3000:]
                _log_in(client)
                yield Standalone(home=home, environment=dict(environment) | ports, url=url, client=client)
        finally:
            stop(process)


def wait_for(is_done: Callable[[], bool], seconds: float, what: str) -> None:
    wait_until(is_done, bool, seconds, what)


def wait_until(look: Callable[[], Seen], is_done: Callable[[Seen], bool], seconds: float, what: str) -> Seen:
    """Look until it is done; what was seen last is in the failure."""
    end = time.monotonic() + seconds
    while not is_done(seen := look()):
        assert time.monotonic() < end, f"waited {seconds} s for {what}, last seen: {seen}"
        time.sleep(0.25)
    return seen


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _ports(port: int) -> dict[str, str]:
    return {
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(free_port()),
        "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": str(free_port()),
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__CORE__PARALLELISM": "2",
        "AIRFLOW__DAG_PROCESSOR__PARSING_PROCESSES": "1",
        "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "20",
        "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "5",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",  # it starts `airflow` by that name
        "PYTHONWARNINGS": "ignore",
    }


def _is_healthy(client: httpx.Client) -> bool:
    try:
        found = client.get("/api/v2/monitor/health").json()
    except (httpx.TransportError, ValueError):
        return False
    parts = ("metadatabase", "scheduler", "dag_processor", "triggerer")
    return all((found.get(part) or {}).get("status") == "healthy" for part in parts)


def _log_in(client: httpx.Client) -> None:
    answer = client.post("/auth/token", json={"username": "admin", "password": "admin"})
    answer.raise_for_status()
    client.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process and everything of its session at once; how services stop by themselves is tested with compose and `make up`."""
    while members := [pid for pid in psutil.pids() if _is_alive_in(pid, process.pid)]:
        for pid in members:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    process.wait()


def _is_alive_in(pid: int, session: int) -> bool:
    try:
        return os.getsid(pid) == session and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False
