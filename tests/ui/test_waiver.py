"""A waiver is seen on the page of the run that it let through."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from fastapi.testclient import TestClient

from invaract_orchestration.audit.log import WAIVABLE
from invaract_orchestration.audit.records import Waiver
from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.settings import read_settings
from invaract_orchestration.ui.app import create_app
from invaract_orchestration.wiring import open_audit, open_gate

CONTRACT = """
contract: twins
version: "1.0.0"
source: {location: twins.csv}
fields: [{name: id, type: int, unique: true}, {name: v, type: int}]
publish: {target: lake.twins}
"""


def test_run_page_and_answer_name_the_waiver(tmp_path: Path) -> None:
    (tmp_path / "twins.csv").write_text("id,v\n1,5\n1,6\n")
    (tmp_path / "twins.yaml").write_text(CONTRACT)
    settings, contract = read_settings({"INVARACT_LAKE_ROOT": str(tmp_path)}), load_contract(tmp_path / "twins.yaml")
    with open_gate(settings) as gate, open_audit(settings) as audit:
        view = audit.attempt(gate.run(contract).attempt_id)
        digest = next(str(e.detail[WAIVABLE]) for e in view.events if WAIVABLE in e.detail)
        now = datetime.now(UTC)
        audit.grant(
            Waiver(
                waiver_id="w-77", contract="twins", check="id|unique", candidate_digest=digest, approver="ann", reason="known",
                granted_at=now, expires_at=now + timedelta(days=1),
            )
        )  # fmt: skip
        let_through = gate.run(contract)
        assert let_through.state == "published"
        with TestClient(create_app(audit), base_url="http://127.0.0.1") as client:
            page = client.get(f"/runs/{let_through.attempt_id}")
            answer = client.get(f"/api/runs/{let_through.attempt_id}")
    assert "w-77" in page.text and "waived" in page.text
    assert [c["waiver"] for c in answer.json()["checks"] if c["check"] == "id|unique"] == ["w-77"]
