"""An exception for callers that want one: whatever did not end well raises, and nothing else does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from invaract_orchestration.audit.records import State
from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.errors import ContractBlocked, GateError, OutcomeUnknown, PublishConflict
from invaract_orchestration.settings import read_settings
from invaract_orchestration.wiring import open_gate

CONTRACT = """
contract: orders
version: "1.0.0"
source: {location: "{day}.csv"}
fields: [{name: id, type: int, min: 1}]
publish: {target: lake.orders}
"""


def run(root: Path, text: str | None, *, kind: str = "run") -> GateResult:
    (root / "orders.yaml").write_text(CONTRACT)
    if text is not None:
        (root / "d1.csv").write_text(text)
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(root)})) as gate:
        result: GateResult = getattr(gate, kind)(load_contract(root / "orders.yaml"), parameters={"day": "d1"})
    return result


@pytest.mark.parametrize("kind", ["run", "check"])
def test_batch_that_is_kept_raises_nothing(tmp_path: Path, kind: str) -> None:
    result = run(tmp_path, "id\n1\n", kind=kind)
    result.raise_if_blocked()
    assert result.exit_code == 0


@pytest.mark.parametrize("kind", ["run", "check"])
def test_rejected_batch_raises_with_its_result(tmp_path: Path, kind: str) -> None:
    result = run(tmp_path, "id\n0\n", kind=kind)
    with pytest.raises(ContractBlocked, match=r"contract orders: the batch was rejected: id\|min") as raised:
        result.raise_if_blocked()
    assert raised.value.result is result


@pytest.mark.parametrize("kind", ["run", "check"])
def test_batch_that_could_not_be_judged_raises_its_code_and_hint(tmp_path: Path, kind: str) -> None:
    result = run(tmp_path, None, kind=kind)
    assert (result.state, result.exit_code) == ("failed", 3)
    with pytest.raises(GateError) as raised:
        result.raise_if_blocked()
    assert (raised.value.code, raised.value.hint) == (result.code, result.hint)
    assert raised.value.sentence == f"contract orders: {result.message}"


@pytest.mark.parametrize("text", ["id\n1\n", "id\n0\n", None])
def test_result_has_no_truth(tmp_path: Path, text: str | None) -> None:
    with pytest.raises(TypeError, match="compare its state"):
        bool(run(tmp_path, text))


def test_every_state_that_is_no_success_raises(tmp_path: Path) -> None:
    published = run(tmp_path, "id\n1\n")
    raised: dict[str, type[Exception]] = {}
    for state in get_args(State):
        try:
            replace(published, state=state, verdict=None).raise_if_blocked()
        except (ContractBlocked, GateError) as error:
            raised[state] = type(error)
    assert set(get_args(State)) - set(raised) == {"published", "no_op"}
    assert {s: raised[s] for s in ("rejected", "conflict", "unknown", "failed")} == {
        "rejected": ContractBlocked, "conflict": PublishConflict, "unknown": OutcomeUnknown, "failed": GateError,
    }  # fmt: skip
