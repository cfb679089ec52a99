"""A waiver lets through what it was given for, and nothing else: not what the table refuses, not another rule, target or finding."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from invaract_orchestration.audit.log import WAIVABLE
from invaract_orchestration.audit.records import Waiver
from invaract_orchestration.audit.result import GateResult
from tests.engines.lake import Lake

FIELDS = "{{name: id, type: int, required: true}}\n{{name: v, type: int, min: {least}}}"
SCHEMA = pa.schema([("id", pa.int32()), ("v", pa.int32())])


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def fields(least: int = 0) -> str:
    return FIELDS.format(least=least)


def seed(lake: Lake, *ids: int) -> None:
    write_deltalake(lake.target, pa.Table.from_pylist([{"id": i, "v": 1} for i in ids], SCHEMA), mode="append")


def grant(lake: Lake, rejected: GateResult, *checks: str, **given: Any) -> None:
    view = lake.audit.attempt(rejected.attempt_id)
    assert view is not None
    now = datetime.now(UTC)
    for check in checks:
        waiver: dict[str, Any] = {
            "waiver_id": f"w-{check}", "contract": "demo", "check": check, "approver": "ann", "reason": "known", "granted_at": now,
            "expires_at": now + timedelta(days=1),
            "candidate_digest": next(str(e.detail[WAIVABLE]) for e in reversed(view.events) if WAIVABLE in e.detail),
        }  # fmt: skip
        lake.audit.grant(Waiver(**waiver | given))


def is_waivable(lake: Lake, rejected: GateResult) -> bool:
    view = lake.audit.attempt(rejected.attempt_id)
    return view is not None and any(WAIVABLE in e.detail for e in view.events)


def test_waived_rows_are_published_as_they_are(lake: Lake) -> None:
    lake.put({"x.csv": "id,v\n1,-5\n"})
    contract = lake.contract(fields())
    grant(lake, lake.run(contract), "v|min")
    assert (lake.run(contract).state, lake.rows()) == ("published", [{"id": 1, "v": -5}])


def test_waiver_that_has_run_out_holds_no_more(lake: Lake) -> None:
    lake.put({"x.csv": "id,v\n1,-5\n"})
    contract = lake.contract(fields())
    grant(lake, lake.run(contract), "v|min", expires_at=datetime.now(UTC))
    assert lake.run(contract).state == "rejected"


@pytest.mark.parametrize(
    ("batch", "check", "refusal"),
    [("id,v\n1,-5\n", "v|min", "positive|target_check: 1 row"), ("id,v\n,5\n", "id|required", "id|target_not_null: 1 row")],
)
def test_constraint_of_the_table_cannot_be_waived(lake: Lake, batch: str, check: str, refusal: str) -> None:
    DeltaTable.create(lake.target, pa.schema([pa.field("id", pa.int32(), nullable=False), ("v", pa.int32())]))
    DeltaTable(lake.target).alter.add_constraint({"positive": "v > 0"})
    lake.put({"x.csv": batch})
    contract = lake.contract(fields())
    grant(lake, lake.run(contract), check)
    result = lake.run(contract)
    assert (result.state, result.code) == ("failed", "publish.rejected_by_target")
    assert refusal in result.message
    assert (lake.rows(), DeltaTable(lake.target).version()) == ([], 1)


def test_rule_that_the_new_table_is_to_hold_itself_cannot_be_waived(lake: Lake) -> None:
    lake.put({"x.csv": "id,v\n1,-5\n"})
    assert not is_waivable(lake, lake.run(lake.contract(fields(), publish="constraints: mirror")))
    assert is_waivable(lake, lake.run(lake.contract(fields(), more='version: "2.0.0"')))


@pytest.mark.parametrize(("publish", "expected"), [("mode: merge, keys: [id]", False), ("mode: overwrite", True)])
def test_key_that_rows_are_found_by_cannot_be_waived(lake: Lake, publish: str, expected: bool) -> None:
    lake.put({"x.csv": "id,v\n1,5\n1,6\n"})
    keys = "keys: [{columns: [id]}]"
    assert is_waivable(lake, lake.run(lake.contract(fields(), publish=publish, more=keys))) is expected


def test_other_key_of_a_merge_can_be_waived(lake: Lake) -> None:
    lake.put({"x.csv": "id,v\n1,5\n2,5\n"})
    contract = lake.contract(fields(), publish="mode: merge, keys: [id]", more="keys: [{columns: [v]}]")
    assert is_waivable(lake, lake.run(contract))


def test_rule_that_was_changed_since_is_another_one(lake: Lake) -> None:
    lake.put({"x.csv": "id,v\n1,-5\n2,50\n"})
    grant(lake, lake.run(lake.contract(fields())), "v|min")
    other = lake.contract(fields(least=100), more='version: "2.0.0"')
    assert [c.check for c in lake.run(other).blocking] == ["v|min"]
    assert lake.run(lake.contract(fields())).state == "published"


def test_other_target_needs_a_waiver_of_its_own(lake: Lake) -> None:
    lake.put({"x.csv": "id,v\n1,-5\n"})
    contract = lake.contract(fields())
    grant(lake, lake.run(contract, target=str(lake.root / "tried")), "v|min")
    assert lake.run(contract).state == "rejected"


def test_more_keys_that_the_target_has_since_are_another_finding(lake: Lake) -> None:
    seed(lake, 1)
    lake.put({"x.csv": "id,v\n1,5\n2,5\n3,5\n"})
    contract = lake.contract(fields(), more="keys: [{columns: [id], across: target}]")
    grant(lake, lake.run(contract), "id|unique")
    seed(lake, 2)
    again = lake.run(contract)
    assert (again.state, [(c.check, c.failed) for c in again.blocking]) == ("rejected", [("id|unique", 2)])
    grant(lake, again, "id|unique", waiver_id="w-2")
    assert lake.run(contract).state == "published"


def test_check_that_fails_beside_the_waived_one_still_blocks(lake: Lake) -> None:
    lake.put({"x.csv": "id,v\n1,-5\n,5\n"})
    contract = lake.contract(fields())
    rejected = lake.run(contract)
    grant(lake, rejected, "v|min")
    assert [c.check for c in lake.run(contract).blocking] == ["id|required"]
    grant(lake, rejected, "id|required")
    assert lake.run(contract).state == "published"
