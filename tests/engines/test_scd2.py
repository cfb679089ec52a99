"""Mode scd2: versions of rows, opened and closed in one commit."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.settings import read_settings
from invaract_orchestration.wiring import open_gate

CONTRACT = """
contract: customers
version: "1.0.0"
source: {location: "{batch}.csv"}
fields:
  - {name: id, type: int, required: true}
  - {name: tier, type: string}
  - {name: score, type: double}
publish: {target: lake.customers, mode: scd2, keys: [id]}
"""


def versions(root: Path) -> list[tuple[int, str | None, float | None, bool, bool]]:
    table = DeltaTable(str(root / "lake" / "customers"))
    found = QueryBuilder().register("t", table).execute(
        "SELECT id, tier, score, is_current, valid_to IS NULL AS is_open FROM t ORDER BY id, valid_from, is_current"
    ).read_all()  # fmt: skip
    columns = [found.column(n).to_pylist() for n in ("id", "tier", "score", "is_current", "is_open")]
    return list(zip(*columns, strict=True))


def test_scd2_closes_the_changed_row_and_leaves_the_same_one(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(CONTRACT)
    (tmp_path / "one.csv").write_text("id,tier,score\n1,free,1.5\n2,,2\n3,pro,NaN\n")
    (tmp_path / "two.csv").write_text("id,tier,score\n1,pro,1.5\n2,,2\n3,pro,NaN\n4,free,\n")
    contract = load_contract(tmp_path / "c.yaml")
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(tmp_path)})) as gate:
        first = gate.run(contract, parameters={"batch": "one"})
        second = gate.run(contract, parameters={"batch": "two"})
        again = gate.run(contract, parameters={"batch": "two"})
    assert (first.state, second.state, again.code) == ("published", "published", "publish.already_done"), second.message
    assert (second.counts.inserted, second.counts.updated) == (2, 1)
    assert [v[:2] + v[3:] for v in versions(tmp_path)] == [
        (1, "free", False, False), (1, "pro", True, True), (2, None, True, True), (3, "pro", True, True), (4, "free", True, True),
    ]  # fmt: skip


def test_scd2_batch_with_a_key_twice_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(CONTRACT)
    (tmp_path / "one.csv").write_text("id,tier,score\n1,free,1\n1,pro,2\n")
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(tmp_path)})) as gate:
        result = gate.run(load_contract(tmp_path / "c.yaml"), parameters={"batch": "one"})
    assert (result.state, [c.check for c in result.blocking]) == ("rejected", ["id|unique"])
    assert not (tmp_path / "lake" / "customers").exists()


def test_scd2_batch_that_changes_nothing_is_published_and_recorded(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(CONTRACT)
    (tmp_path / "one.csv").write_text("id,tier,score\n1,free,1.5\n2,,2\n")
    (tmp_path / "two.csv").write_text("id,tier,score\n2,,2\n")
    contract = load_contract(tmp_path / "c.yaml")
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(tmp_path)})) as gate:
        gate.run(contract, parameters={"batch": "one"})
        second = gate.run(contract, parameters={"batch": "two"})
        again = gate.run(contract, parameters={"batch": "two"})
    assert (second.state, again.code) == ("published", "publish.already_done"), second.message
    assert (second.counts.inserted, second.counts.updated) == (0, 0)
    assert [v[:2] + v[3:] for v in versions(tmp_path)] == [(1, "free", True, True), (2, None, True, True)]


DATED = CONTRACT.replace("name: score, type: double", "name: at, type: date").replace(
    "keys: [id]", "keys: [id], versions: {since: at, track: [tier]}"
)


def test_scd2_changed_row_from_before_the_current_version_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(DATED)
    (tmp_path / "one.csv").write_text("id,tier,at\n1,free,2026-01-10\n2,pro,2026-01-10\n")
    (tmp_path / "older.csv").write_text("id,tier,at\n1,pro,2026-01-05\n3,new,2026-01-05\n")
    (tmp_path / "timeless.csv").write_text("id,tier,at\n1,pro,\n")
    (tmp_path / "same.csv").write_text("id,tier,at\n1,free,2026-01-05\n")
    (tmp_path / "next.csv").write_text("id,tier,at\n1,pro,2026-01-20\n")
    contract = load_contract(tmp_path / "c.yaml")
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(tmp_path)})) as gate:
        ended = {b: gate.run(contract, parameters={"batch": b}) for b in ("one", "older", "timeless", "same", "next")}
    assert {b: (r.state, r.code) for b, r in ended.items()} == {
        "one": ("published", None), "older": ("failed", "publish.out_of_order"), "timeless": ("rejected", "at|required_for_versions"),
        "same": ("published", None), "next": ("published", None),
    }  # fmt: skip
    assert ended["older"].message == "1 changed row is older than the current version of the key"
    table = QueryBuilder().register("t", DeltaTable(str(tmp_path / "lake" / "customers")))
    found = table.execute("SELECT id, tier, CAST(valid_from AS VARCHAR) AS f, CAST(valid_to AS VARCHAR) AS u FROM t ORDER BY id, f")
    assert [tuple(row.values()) for row in pa.table(found).to_pylist()] == [
        (1, "free", "2026-01-10", "2026-01-20"), (1, "pro", "2026-01-20", None), (2, "pro", "2026-01-10", None),
    ]  # fmt: skip
