"""Another writer while the gate prepares a table: what was judged on the version before is judged again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Field, Schema, write_deltalake
from deltalake.schema import PrimitiveType

from invaract_orchestration.engines.delta import schema_changes
from tests.engines.lake import Lake, broken

FIELDS = "{name: id, type: int, required: true}\n{name: p, type: string}"
WIDER = f"{FIELDS}\n{{name: q, type: string}}"
ACROSS = "keys: [{columns: [id], across: target}]"
SCHEMA = pa.schema([("id", pa.int32()), ("p", pa.string())])


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def seed(lake: Lake, *ids: int) -> None:
    rows = pa.Table.from_pylist([{"id": number, "p": "of another"} for number in ids], SCHEMA)
    write_deltalake(lake.target, rows, mode="append", schema_mode="merge")


@pytest.fixture
def comes_in_between(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Another writer appends id 1, once, right before or right after the gate's first change of the table."""
    change_table, left = schema_changes._alter, [True]

    def arrange(when: str) -> None:
        def alter(change: Callable[[], Any]) -> Any:
            is_first, left[0] = left[0], False
            if is_first and when == "before":
                seed(lake, 1)
            changed = change_table(change)
            if is_first and when == "after":
                seed(lake, 1)
            return changed

        monkeypatch.setattr(schema_changes, "_alter", alter)

    return arrange


@pytest.mark.parametrize("when", ["before", "after"])
def test_key_taken_while_a_column_is_added_is_rejected(
    lake: Lake, comes_in_between: Callable[[str], None], when: str
) -> None:
    seed(lake, 0)
    lake.put({"x.csv": "id,p,q\n1,a,b\n"})
    comes_in_between(when)
    result = lake.run(lake.contract(WIDER, publish="evolve: add_columns", more=ACROSS))
    assert (result.state, broken(result)) == ("rejected", {"id|unique": 1})
    assert [row["id"] for row in lake.rows()] == [0, 1]


def test_key_taken_after_the_table_was_created_is_rejected(lake: Lake, comes_in_between: Callable[[str], None]) -> None:
    lake.put({"x.csv": "id,p\n1,a\n"})
    comes_in_between("after")
    result = lake.run(lake.contract(FIELDS, more=ACROSS))
    assert (result.state, broken(result)) == ("rejected", {"id|unique": 1})
    assert lake.rows() == [{"id": 1, "p": "of another"}]


def test_row_that_came_while_a_column_was_added_is_counted_as_replaced(
    lake: Lake, comes_in_between: Callable[[str], None]
) -> None:
    seed(lake, 0)
    lake.put({"x.csv": "id,p,q\n5,a,b\n"})
    comes_in_between("after")
    result = lake.run(lake.contract(WIDER, publish="mode: overwrite, evolve: add_columns"))
    assert (result.state, result.counts.deleted, lake.rows()) == ("published", 2, [{"id": 5, "p": "a", "q": "b"}])


def test_constraints_that_an_interrupted_creation_left_out_are_made_up_for(lake: Lake) -> None:
    lake.put({"x.csv": "id,p\n1,a\n"})
    fields = "{name: id, type: int, required: true, min: 0, max: 9}"
    contract = lake.contract(f"{fields}\n{{name: p, type: string}}", publish="constraints: mirror")
    DeltaTable.create(lake.target, SCHEMA, description="published by invaract under contract demo")
    assert lake.run(contract).state == "published"
    assert {k: v for k, v in DeltaTable(lake.target).metadata().configuration.items() if "constraints" in k} == {
        "delta.constraints.id_min": "id >= 0", "delta.constraints.id_max": "id <= 9",
    }  # fmt: skip


def test_constraint_over_a_column_that_the_contract_does_not_know_is_named(lake: Lake) -> None:
    write_deltalake(lake.target, pa.table({"id": pa.array([0], pa.int32()), "p": ["a"], "z": pa.array([1], pa.int32())}))
    DeltaTable(lake.target).alter.add_constraint({"has_z": "z > 0"})
    lake.put({"x.csv": "id,p\n1,a\n"})
    result = lake.run(lake.contract(FIELDS))
    assert (result.state, result.code, result.message) == (
        "failed", "publish.target_schema", "the target's constraint 'has_z' reads 'z', and the contract has no such field",
    )  # fmt: skip


def test_length_of_a_text_that_the_contract_does_not_know_asks_nothing(lake: Lake) -> None:
    text = Field("z", PrimitiveType("string"), metadata={"__CHAR_VARCHAR_TYPE_STRING": "varchar(2)"})
    DeltaTable.create(lake.target, Schema([Field("id", PrimitiveType("integer")), Field("p", PrimitiveType("string")), text]))
    lake.put({"x.csv": "id,p\n1,a\n"})
    assert lake.run(lake.contract(FIELDS)).state == "published"
    assert lake.rows() == [{"id": 1, "p": "a", "z": None}]
