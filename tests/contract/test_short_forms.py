"""The three short forms that people already write load as they are."""

from __future__ import annotations

import pytest

from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.errors import ContractError

FLAT = """\
name: parcels
version: 1
owner: depot team
consumers: [reporting]
arrives: "daily by 02:30 UTC, 1 file per day: landing/parcels/<day>.csv"
columns:
  - name: parcel_id
    type: int
    required: true
    unique: true
  - name: weight_kg
    type: decimal(10,2)
    required: true
    min: 0.01
  - name: scanned_at
    type: timestamp
    required: true
"""
RULES = """\
rules:
  - type: required_group_by
    columns: [depot_id]
  - type: forbid_cross_join
  - type: required_join_columns
    columns: [parcel_id]
  - type: required_filter_columns
    columns: [is_void]
"""
MODEL = """\
model:
  fields:
    - {name: scan_date, type: date, required: true}
    - {name: contact, type: string}
quality:
  row_rules:
    - {name: contact_present, sql: "contact IS NOT NULL", phase: pre}
    - {name: recent, sql: "scan_date >= DATE'2026-01-01'", phase: post}
"""


def test_flat_file_loads_with_location_and_time_from_arrives() -> None:
    contract = load_contract_text(FLAT)
    assert (contract.contract, contract.version) == ("parcels", "1")
    assert contract.owner is not None
    assert (contract.owner.team, contract.owner.contact) == ("depot team", None)
    assert contract.arrives == "daily by 02:30 UTC, 1 file per day: landing/parcels/<day>.csv"
    assert contract.source is not None
    assert (contract.source.location, contract.source.format) == ("landing/parcels/{day}.csv", "csv")
    assert contract.freshness is not None
    assert contract.freshness.expected_by == "02:30"
    assert contract.publish is None
    assert [k.check_id for k in contract.all_keys()] == ["parcel_id|unique"]


def test_list_of_rules_loads_under_the_name_of_its_file() -> None:
    contract = load_contract_text(RULES, file="rules/customer orders.v2.yaml")
    assert contract.contract == "customer_orders"
    assert [r.type for r in contract.rules] == [
        "required_group_by", "forbid_cross_join", "required_join_columns", "required_filter_columns",
    ]  # fmt: skip
    assert contract.source is None
    assert contract.publish is None
    assert contract.fields == ()


def test_model_with_quality_loads_under_the_name_of_its_file() -> None:
    contract = load_contract_text(MODEL, file="scans.yaml")
    assert contract.contract == "scans"
    assert [(r.name, r.phase) for r in contract.quality.row_rules] == [("contact_present", "pre"), ("recent", "post")]


def test_model_with_transformations_loads_with_its_phases() -> None:
    text = MODEL + (
        "transformations:\n  - trim: {fields: [contact], side: both}\n    phase: pre\n"
        "  - sql: SELECT CAST(scanned_at AS DATE) AS scan_date, contact FROM source\n"
    )
    contract = load_contract_text(text, file="scans.yaml")
    assert [(s.kind, s.runs_in) for s in contract.transformations] == [("trim", "pre"), ("sql", "post")]


@pytest.mark.parametrize(
    ("arrives", "location", "format_", "expected_by"),
    [
        ("every Monday, s3://bucket/in/<week>/*.parquet.", "s3://bucket/in/{week}/*.parquet", "parquet", None),
        ("orders.jsonl.gz by 7:05 utc", "orders.jsonl.gz", "json", "07:05"),
        ("see docs/readme, then in/{day}/x.csv", "in/{day}/x.csv", "csv", None),
        ("by hand", None, None, None),
        ("by 09:00 CET in/x.csv", "in/x.csv", "csv", None),
    ],
)
def test_arrives_gives_what_it_says(arrives: str, location: str | None, format_: str | None, expected_by: str | None) -> None:
    contract = load_contract_text(f'name: a\narrives: "{arrives}"\ncolumns: [{{name: x, type: int}}]\n')
    assert (contract.source.location if contract.source else None) == location
    assert (contract.source.format if contract.source else None) == format_
    assert (contract.freshness.expected_by if contract.freshness else None) == expected_by
    assert contract.arrives == arrives


def test_source_that_is_written_wins_over_arrives() -> None:
    contract = load_contract_text(
        "name: a\narrives: daily in/x.csv\nsource: {location: other/y.csv}\ncolumns: [{name: x, type: int}]\n"
    )
    assert contract.source is not None
    assert contract.source.location == "other/y.csv"


def test_impossible_time_in_arrives_is_told_at_arrives() -> None:
    with pytest.raises(ContractError) as caught:
        load_contract_text("name: a\narrives: by 29:00 UTC\ncolumns: [{name: x, type: int}]\n", file="c.yaml")
    assert str(caught.value).startswith("c.yaml:2:10: arrives.expected_by: expected a time of day such as '01:30'")


def test_short_form_takes_every_native_part_too() -> None:
    contract = load_contract_text(
        "name: a\ncolumns: [{name: x, type: int}]\nquality: {on_row_failure: quarantine}\npublish: {target: out/a}\n"
    )
    assert contract.quality.on_row_failure == "quarantine"


def test_whole_number_version_is_refused_outside_of_a_short_form() -> None:
    with pytest.raises(ContractError, match=r"expected a version MAJOR\.MINOR\.PATCH, found '1'"):
        load_contract_text("contract: a\nversion: 1\n")


@pytest.mark.parametrize(("file", "name"), [("2026-orders.yaml", "contract_2026-orders"), ("é.yaml", "contract")])
def test_name_of_a_file_becomes_an_id(file: str, name: str) -> None:
    assert load_contract_text("rules: [{type: forbid_cross_join}]\n", file=file).contract == name


@pytest.mark.parametrize("zone", ["UTC", "Etc/UTC"])
def test_time_of_arrival_is_taken_where_the_zone_is_utc(zone: str) -> None:
    contract = load_contract_text(f"{FLAT}timezone: {zone}\n")
    assert contract.freshness is not None
    assert contract.freshness.expected_by == "02:30"


def test_time_of_arrival_in_utc_is_refused_beside_another_zone() -> None:
    with pytest.raises(ContractError) as caught:
        load_contract_text(f"{FLAT}timezone: Europe/Paris\n")
    (problem,) = caught.value.problems
    assert (problem.line, problem.path) == (5, "arrives")
    assert problem.message == "expected a time in the contract's timezone 'Europe/Paris', found 'by 02:30 UTC'"
    assert problem.hint == "write freshness.expected_by, which is in that zone"


def test_time_that_the_contract_says_itself_holds_beside_one_of_arrival() -> None:
    contract = load_contract_text(f'{FLAT}timezone: Europe/Paris\nfreshness: {{expected_by: "04:30"}}\n')
    assert contract.freshness is not None
    assert contract.freshness.expected_by == "04:30"
