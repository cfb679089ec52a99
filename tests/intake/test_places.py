"""Names and paths of tables: one folder has one spelling, and one identity."""

from __future__ import annotations

from pathlib import Path

import pytest

from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.errors import GateError, NotSupported, UsageError
from invaract_orchestration.intake.places import (
    candidates_place,
    find_named_places,
    place_identity,
    quarantine_place,
    table_place,
)  # fmt: skip

LAKE, BASE = Path("/data/lake"), Path("/work/contracts")


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("a.b.c", "/data/lake/a/b/c"),
        ("orders", "/data/lake/orders"),
        ("./out/t", "/work/contracts/out/t"),
        ("../lake/./t/", "/work/lake/t"),
        ("/data/lake/a/../b", "/data/lake/b"),
        ("file:///data//t/", "/data/t"),
    ],
)
def test_place_of_a_table_is_its_folder_spelled_one_way(name: str, place: str) -> None:
    assert table_place(name, base=BASE, lake_root=LAKE) == place


@pytest.mark.parametrize("name", ["a..b", "a.b.", "orders.", ""])
def test_name_with_an_empty_part_is_no_table(name: str) -> None:
    with pytest.raises(UsageError, match="no table name"):
        table_place(name, base=BASE, lake_root=LAKE)


def test_object_store_is_refused_by_its_scheme() -> None:
    with pytest.raises(NotSupported, match="s3://"):
        table_place("s3://bucket/t", base=BASE, lake_root=LAKE)


def test_catalog_is_asked_for_names_alone() -> None:
    asked: list[str] = []

    def locate(name: str) -> str | None:
        asked.append(name)
        return "/warehouse/db.db/t" if name == "db.t" else None

    places = [table_place(n, base=BASE, lake_root=LAKE, locate=locate) for n in ("db.t", "./t", "/x/t", "lake.t")]
    assert places == ["/warehouse/db.db/t", "/work/contracts/t", "/x/t", "/data/lake/lake/t"]
    assert asked == ["db.t", "lake.t"]


@pytest.mark.parametrize(
    ("place", "identity"),
    [
        ("/data/lake/a/b/c", "a.b.c"),
        ("/data/lake/a.b/c", "a.b/c"),
        ("/work/contracts/out/t", "./out/t"),
        ("/warehouse/db.db/t", "/warehouse/db.db/t"),
        ("/data/lakes/t", "/data/lakes/t"),
    ],
)
def test_identity_of_a_place_does_not_depend_on_where_the_lake_is(place: str, identity: str) -> None:
    assert place_identity(place, base=BASE, lake_root=LAKE) == identity


def test_lake_inside_of_the_contracts_folder_comes_first() -> None:
    assert place_identity("/work/contracts/lake/a/t", base=BASE, lake_root=BASE / "lake") == "a.t"


def test_every_name_that_is_used_late_is_asked_for() -> None:
    contract = load_contract_text(
        "contract: c\nfields: [{name: id, type: int}]\npublish: {target: a.t, candidate: {location: a.candidates}}\n"
        "quarantine: {location: a.aside}\n"
        "quality: {dataset_rules: [{name: r, references: {columns: [id], table: a.known, key: [id]}}]}"
    )
    asked: list[str] = []

    def place(name: str) -> str:
        asked.append(name)
        return name

    find_named_places(contract, place)
    assert asked == ["a.aside", "a.known"]
    assert quarantine_place(contract, "/t", lake_root=LAKE) == "/data/lake/a/aside"
    assert candidates_place(contract, "/t", lake_root=LAKE) == "/data/lake/a/candidates"


def test_place_that_the_catalog_refuses_is_refused() -> None:
    def locate(name: str) -> str | None:
        raise GateError(f"table {name!r}: found a view", code="table.no_delta")

    with pytest.raises(GateError, match="found a view"):
        table_place("db.v", base=BASE, lake_root=LAKE, locate=locate)
