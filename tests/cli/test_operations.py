"""Waivers, release, retention, freshness, notifications and reconcile, as somebody uses them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, QueryBuilder

from invaract_orchestration.audit.freshness import judge_freshness
from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.cli.app import call
from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.settings import read_settings
from invaract_orchestration.wiring import open_audit, open_gate

CONTRACT = """
contract: orders
version: "{version}"
source: {{location: "{{batch}}.csv"}}
fields:
  - {{name: id, type: int, required: true, unique: true}}
  - {{name: v, type: int, min: {least}}}
  - {{name: note, type: string}}
quality: {{on_row_failure: {failure}}}
publish: {{target: lake.orders}}
{more}
"""


class Place:
    """A folder with a contract, batches and a lake, used from the command line."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def agree(self, *, version: str = "1.0.0", least: int = 0, failure: str = "reject", more: str = "") -> str:
        path = self.root / "orders.yaml"
        path.write_text(CONTRACT.format(version=version, least=least, failure=failure, more=more))
        return str(path)

    def land(self, name: str, text: str) -> None:
        (self.root / f"{name}.csv").write_text(text)

    def run(self, batch: str) -> GateResult:
        with open_gate(read_settings()) as gate:
            return gate.run(load_contract(self.root / "orders.yaml"), parameters={"batch": batch})

    def rows(self) -> list[tuple[Any, ...]]:
        table = DeltaTable(str(self.root / "lake" / "orders"))
        found = QueryBuilder().register("t", table).execute("SELECT id, v, note FROM t ORDER BY id, v").read_all()
        return list(zip(*(found.column(n).to_pylist() for n in ("id", "v", "note")), strict=True))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("INVARACT_LAKE_ROOT", str(tmp_path))
    monkeypatch.delenv("INVARACT_AUDIT_URL", raising=False)
    return Place(tmp_path)


def test_waiver_lets_exactly_the_same_rows_through_and_no_others(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.agree()
    place.land("twins", "id,v,note\n1,5,a\n1,6,b\n")
    rejected = place.run("twins")
    assert rejected.state == "rejected"
    words = ["waive", rejected.attempt_id, "--check", "id|unique", "--approver", "ann", "--reason", "known twins"]
    assert call(words) == 0
    place.land("twins", "id,v,note\n1,5,a\n1,7,b\n")
    assert place.run("twins").state == "rejected"
    place.land("twins", "id,v,note\n1,6,b\n1,5,a\n")
    let_through = place.run("twins")
    assert let_through.state == "published"
    assert [(c.check, c.outcome) for c in let_through.checks if c.waiver] == [("id|unique", "broken")]
    assert place.rows() == [(1, 5, "a"), (1, 6, "b")]
    with open_audit() as audit:
        assert audit.verify() == ()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--check", "v|min", "--approver", "ann", "--reason", "x"], "did not block"),
        (["--check", "id|unique", "--approver", " ", "--reason", "x"], "approver"),
        (["--check", "id|unique", "--approver", "ann", "--reason", "x", "--expires", "soon"], "--expires"),
    ],
)
def test_waiver_that_makes_no_sense_is_refused(
    place: Place, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    place.agree()
    place.land("twins", "id,v,note\n1,5,a\n1,6,b\n")
    attempt = place.run("twins").attempt_id
    assert call(["waive", attempt, *words]) == 64
    assert said in capsys.readouterr().err


def test_header_cannot_be_waived(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.agree()
    place.land("other", "id,note,v\n1,a,5\n")
    attempt = place.run("other").attempt_id
    assert call(["waive", attempt, "--check", "header|order", "--approver", "ann", "--reason", "x"]) == 64
    assert "cannot be waived" in capsys.readouterr().err


def test_quarantined_rows_are_exported_and_released_under_a_new_contract(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    contract = place.agree(failure="quarantine")
    place.land("one", 'id,v,note\n1,5,a\n2,-3,"x, ""y"""\n3,-9,\n4\n')
    result = place.run("one")
    assert (result.exit_code, result.counts.quarantined) == (2, 3)
    submission = str(result.submission_id)
    capsys.readouterr()
    assert call(["quarantine", "export", contract, "--param", "batch=one", "--submission", submission]) == 0
    assert capsys.readouterr().out == '"id","v","note"\n"2","-3","x, ""y"""\n"3","-9",\n'
    contract = place.agree(version="1.1.0", least=-5, failure="quarantine")
    words = ["quarantine", "release", contract, "--param", "batch=one", "--submission", submission]
    assert call(words) == 2
    assert place.rows() == [(1, 5, "a"), (2, -3, 'x, "y"')]
    assert call(words) == 0  # the same release again adds nothing
    assert place.rows() == [(1, 5, "a"), (2, -3, 'x, "y"')]


def test_clean_removes_what_is_over_and_nothing_else(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    keep = "quarantine: {keep: 0s}"
    text = CONTRACT.replace("publish: {{target: lake.orders}}", "publish: {{target: lake.orders, candidate: {{keep: {{passed: 0s, rejected: 30d}}}}}}")
    (place.root / "orders.yaml").write_text(text.format(version="1.0.0", least=0, failure="quarantine", more=keep))
    contract = str(place.root / "orders.yaml")
    place.land("one", "id,v,note\n1,5,a\n2,-3,b\n")
    place.land("two", "id,v,note\n7,5,a\n7,6,b\n")
    assert place.run("one").state == "published"
    rejected = place.run("two")
    folders = place.root / "lake" / "orders__candidates" / "orders"
    assert len(list(folders.iterdir())) == 2
    assert call(["clean", contract, "--param", "batch=one", "--dry-run"]) == 0
    assert len(list(folders.iterdir())) == 2
    assert call(["clean", contract, "--param", "batch=one"]) == 0
    assert [p.name for p in folders.iterdir()] == [rejected.submission_id]
    quarantine = DeltaTable(str(place.root / "lake" / "orders__quarantine"))
    assert QueryBuilder().register("q", quarantine).execute("SELECT payload FROM q").read_all().num_rows == 0
    assert list((place.root / "lake" / "orders__quarantine").glob("*.parquet")) == []  # the values are not on the disk either
    assert place.rows() == [(1, 5, "a")]


def test_clean_leaves_an_unsettled_submission_alone(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    text = CONTRACT.replace("publish: {{target: lake.orders}}", "publish: {{target: lake.orders, candidate: {{keep: {{passed: 0s, rejected: 0s}}}}}}")
    (place.root / "orders.yaml").write_text(text.format(version="1.0.0", least=0, failure="reject", more=""))
    folder = place.root / "lake" / "orders__candidates" / "orders" / "s-unknown" / "a-unknown"
    folder.mkdir(parents=True)
    (folder / "part.parquet").write_bytes(b"x")
    with open_audit():
        pass
    assert call(["clean", str(place.root / "orders.yaml"), "--param", "batch=one"]) == 0
    assert (folder / "part.parquet").exists()
    assert "left 1 candidate alone" in capsys.readouterr().out


def test_reconcile_lists_nothing_for_a_table_that_only_the_gate_writes(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    contract = place.agree()
    place.land("one", "id,v,note\n1,5,a\n")
    place.run("one")
    assert call(["reconcile", contract, "--param", "batch=one"]) == 0
    assert "0 commits by-passed the gate" in capsys.readouterr().out


EXPECTS = 'freshness: {every: 1d, expected_by: "01:00"}'


@pytest.mark.parametrize(
    ("batch", "state", "reason"),
    [
        (None, "late", "nothing delivered"),
        ("id,v,note\n1,-5,a\n", "late", "delivered and rejected"),
        ("id,v,note\n1,5,a\n", "on time", "published"),
    ],
)
def test_freshness_tells_nothing_delivered_from_delivered_and_rejected(
    place: Place, batch: str | None, state: str, reason: str
) -> None:
    place.agree(more=EXPECTS)
    if batch is not None:
        place.land("one", batch)
        place.run("one")
    contract = load_contract(place.root / "orders.yaml")
    today = datetime.now(UTC).replace(hour=23, minute=59)
    with open_audit() as audit:
        report = judge_freshness(contract, audit.attempts(contract="orders"), today)
    assert (report.state, report.reason) == (state, reason)


def test_freshness_is_no_better_for_a_batch_that_is_submitted_again(place: Place) -> None:
    place.agree(more=EXPECTS)
    place.land("one", "id,v,note\n1,5,a\n")
    assert place.run("one").state == "published"
    contract, two_days_on = load_contract(place.root / "orders.yaml"), datetime.now(UTC) + timedelta(days=2)
    with open_gate(read_settings()) as gate:
        again = replace(gate, clock=lambda: two_days_on).run(contract, parameters={"batch": "one"})
    assert again.code == "publish.already_done"
    with open_audit() as audit:
        report = judge_freshness(contract, audit.attempts(contract="orders"), two_days_on.replace(hour=23, minute=59))
    assert report.state == "late"


@pytest.mark.parametrize(("day", "code"), [("2020-01-01", 1), ("2999-01-01", 0)])
def test_freshness_by_the_age_of_the_newest_row(place: Place, day: str, code: int) -> None:
    text = CONTRACT.replace("{{name: note, type: string}}", "{{name: note, type: date}}")
    more = "freshness: {max_age: 36h, column: note}"
    (place.root / "orders.yaml").write_text(text.format(version="1.0.0", least=0, failure="reject", more=more))
    place.land("one", f"id,v,note\n1,5,2019-01-01\n2,5,{day}\n")
    assert place.run("one").state == "published"
    assert call(["freshness", str(place.root / "orders.yaml")]) == code


class Listener(HTTPServer):
    """A webhook's other end, on loopback."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []
        super().__init__(("127.0.0.1", 0), Answer)


class Answer(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heard.append(json.loads(body))  # type: ignore[attr-defined]
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def listener() -> Iterator[Listener]:
    server = Listener()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_rejected_batch_is_told_by_webhook_and_command_without_a_value(
    place: Place, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK", f"http://127.0.0.1:{listener.server_port}/hook")
    told = place.root / "told.json"
    monkeypatch.setenv("TELL", f"tee {told}")
    place.agree(more='notifications: [{on: [rejected], to: "webhook:env:HOOK"}, {on: [rejected], to: "command:env:TELL"}]')
    place.land("one", "id,v,note\n1,-7731,CANARY\n")
    result = place.run("one")
    assert [(m["occasion"], m["reasons"], m["attempt"]) for m in listener.heard] == [("rejected", ["v|min"], result.attempt_id)]
    assert json.loads(told.read_text()) == listener.heard[0]
    assert "CANARY" not in told.read_text() and "7731" not in told.read_text().replace(str(result.submission_id), "")


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/nobody", "ftp://127.0.0.1/x", None])
def test_notifier_that_fails_changes_no_verdict(place: Place, monkeypatch: pytest.MonkeyPatch, address: str | None) -> None:
    if address is None:
        monkeypatch.delenv("HOOK", raising=False)
    else:
        monkeypatch.setenv("HOOK", address)
    place.agree(more='notifications: [{on: [rejected, unknown], to: "webhook:env:HOOK"}]')
    place.land("one", "id,v,note\n1,-5,a\n")
    said: list[str] = []
    with open_gate(read_settings(), tell=said.append) as gate:
        result = gate.run(load_contract(place.root / "orders.yaml"), parameters={"batch": "one"})
    assert (result.state, result.exit_code) == ("rejected", 1)
    assert any("could not be sent" in line for line in said)
    assert not any("127.0.0.1" in line for line in said)
