"""The pages over what a real gate recorded, and served by the real command."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.settings import Settings
from invaract_orchestration.stores import open_store
from invaract_orchestration.ui.app import create_app
from invaract_orchestration.wiring import open_gate

CONTRACT = """
contract: demo
version: "1.0.0"
source: {format: csv, location: "landing/{day}.csv"}
fields:
  - {name: id, type: int, required: true, unique: true}
  - {name: qty, type: int, min: 0}
  - {name: name, type: string}
publish: {target: lake.demo}
quality: {on_row_failure: quarantine, max_quarantined: {percent: 40}}
"""
DAYS = {
    "good": "id,qty,name\n1,5,canary-a\n2,6,canary-b\n3,7,canary-c\n",
    "some": "id,qty,name\n4,5,canary-a\n5,-666,canary-b\n6,7,canary-c\n",
    "bad": "id,qty,name\n7,-666,canary-a\n8,-666,canary-b\n9,7,canary-c\n",
    "odd": "id,name,qty\n1,canary-a,3\n",
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real")
    (folder / "landing").mkdir()
    for day, text in DAYS.items():
        (folder / "landing" / f"{day}.csv").write_text(text)
    (folder / "demo.yaml").write_text(CONTRACT)
    settings = Settings(lake_root=folder / "lake", audit_url=f"sqlite:///{folder}/lake/audit.db")
    contract = load_contract(folder / "demo.yaml")
    with open_gate(settings) as gate:
        for day in ("good", "good", "some", "bad", "odd"):
            gate.run(contract, parameters={"day": day}, context={"dag_id": "load", "run_id": f"manual-{day}"})
    return folder


@pytest.fixture(scope="module")
def client(lake: Path) -> TestClient:
    return TestClient(create_app(open_store(f"sqlite:///{lake}/lake/audit.db", read_only=True)))


def test_real_attempts_show_how_they_ended(client: TestClient) -> None:
    runs = client.get("/api/runs").json()["runs"]
    assert [(run["parameters"]["day"], run["state_label"], run["table_version"]) for run in runs] == [
        ("odd", "Rejected", None), ("bad", "Rejected", None), ("some", "Published, rows set aside", runs[2]["table_version"]),
        ("good", "Published", runs[4]["table_version"]), ("good", "Published", runs[4]["table_version"]),
    ]  # fmt: skip
    assert runs[3]["code"] == "publish.already_done"
    assert runs[2]["counts"]["quarantined"] == 1


def test_real_submission_tried_twice_shows_the_other_attempt(client: TestClient) -> None:
    runs = client.get("/api/runs?run_id=manual-good").json()["runs"]
    second = client.get(f"/api/runs/{runs[0]['attempt_id']}").json()
    assert [other["attempt_id"] for other in second["other_attempts"]] == [runs[1]["attempt_id"]]
    assert second["publication"]["attempt_id"] == runs[1]["attempt_id"]


def test_real_run_adds_up_and_says_what_it_rests_on(client: TestClient) -> None:
    attempt = client.get("/api/runs?run_id=manual-some").json()["runs"][0]["attempt_id"]
    run = client.get(f"/api/runs/{attempt}").json()
    found = {check["check"]: check for check in run["checks"]}
    assert (found["qty|min"]["failed"], found["qty|min"]["rows"], found["qty|min"]["is_set_aside"]) == (1, 3, True)
    assert all(check["evidence"] for check in run["checks"])
    assert [step["state"] for step in run["steps"]][-2:] == ["publishing", "published"]
    assert run["files"][0]["name"] == "some.csv"


def test_real_quarantine_gives_reasons(client: TestClient) -> None:
    entries = client.get("/api/quarantine").json()["entries"]
    assert [(entry["kind"], entry["rows"], [r["check"] for r in entry["reasons"]]) for entry in entries] == [
        ("rejected", 2, ["qty|min"]), ("quarantined", 1, ["qty|min"]),
    ]  # fmt: skip


def test_no_page_shows_a_value_of_the_data(client: TestClient) -> None:
    runs = [run["attempt_id"] for run in client.get("/api/runs").json()["runs"]]
    paths = ["", "runs", "quarantine", "status", "contracts/demo", *(f"runs/{run}" for run in runs)]
    for path in paths:
        for text in (client.get(f"/{path}").text, client.get(f"/api/{path or 'overview'}").text):
            assert "canary" not in text
            assert "-666" not in text


def test_ui_serves_this_machine_alone_and_stops_on_ctrl_c(lake: Path) -> None:
    port = _free_port()
    with _served(lake, "ui", "--port", str(port)) as process:
        page = _get(port, "/runs")
        assert page.status == 200
        assert b"manual" not in page.read()
        with pytest.raises(urllib.error.HTTPError, match="421"):
            _get(port, "/runs", Host="rebound.example")
        with pytest.raises(urllib.error.HTTPError, match="405"):
            urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/", method="POST"))
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


def test_ui_with_a_token_asks_for_it(lake: Path) -> None:
    port = _free_port()
    with _served(lake, "ui", "--port", str(port), "--host", "0.0.0.0", "--token-env", "AUDIT_TOKEN") as process:
        assert _get(port, "/healthz").status == 200
        with pytest.raises(urllib.error.HTTPError, match="401"):
            _get(port, "/")
        assert _get(port, "/", Authorization="Bearer 0123456789abcdef0123").status == 200
        process.terminate()
        process.wait(20)


def test_ui_for_others_without_a_guard_is_a_usage_error(lake: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _MAIN, "ui", "--host", "0.0.0.0"], cwd=lake, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 64
    assert "nothing says who may look" in done.stderr


def test_ui_on_a_port_that_is_taken_exits_3_and_says_so(lake: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-c", _MAIN, "ui", "--port", str(port)], cwd=lake, capture_output=True, text=True, timeout=60, check=False
        )
    assert done.returncode == 3
    assert f"the audit pages cannot be served at 127.0.0.1:{port}" in done.stderr


_MAIN = "from invaract_orchestration.cli import main; main()"


class _served:  # noqa: N801  # reads as a word of the test
    def __init__(self, lake: Path, *arguments: str) -> None:
        environment = os.environ | {
            "INVARACT_AUDIT_URL": f"sqlite:///{lake}/lake/audit.db", "AUDIT_TOKEN": "0123456789abcdef0123",
        }  # fmt: skip
        self.port = int(arguments[arguments.index("--port") + 1])
        self.process = subprocess.Popen(
            [sys.executable, "-c", _MAIN, *arguments], cwd=lake, env=environment, stderr=subprocess.DEVNULL
        )

    def __enter__(self) -> subprocess.Popen[bytes]:
        for _ in range(600):
            try:
                _get(self.port, "/healthz")
            except urllib.error.URLError:
                time.sleep(0.1)
            else:
                return self.process
        raise AssertionError("the server did not start")

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def _get(port: int, path: str, **headers: str):  # type: ignore[no-untyped-def]
    return urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers), timeout=30)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
