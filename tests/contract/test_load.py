"""Loading whole contracts: what is written is what the model holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from invaract_orchestration.contract.load import load_contract, load_contract_text
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.errors import ContractError, UsageError

EXAMPLE = """\
contract: regional_daily_cases          # stable id
version: "1.2.0"
status: active
owner: {team: surveillance, contact: surveillance@example.org}
consumers: [reporting, open-data]
source:
  format: csv
  location: landing/cases/{day}/*.csv
  options: {delimiter: ";", encoding: utf-8, null_values: [""]}
  header: exact
  empty: reject
  after: keep
fields:
  - {name: region_code, type: string, required: true, not_blank: whitespace}
  - {name: report_date, type: date, required: true}
  - {name: case_count, type: bigint, required: true, min: 0}
  - {name: status, type: string, required: true, allowed: [provisional, final]}
  - {name: amount, type: "decimal(10,2)", min: 0.01}
  - {name: note, type: string, may_be_absent: true}
  - {name: email, type: string, pattern: '[^@\\s]+@[^@\\s]+', max_length: 254, sensitivity_tags: [pii]}
keys: [[region_code, report_date]]
schema_policy: {extra_fields: reject, missing_optional: reject, type_changes: reject}
quality:
  on_row_failure: quarantine
  max_quarantined: {rows: 100, percent: 1}
  row_rules:
    - {name: not_future, sql: "report_date <= current_date()", severity: error, phase: pre}
  dataset_rules:
    - {name: every_region, covers: {column: region_code, reference: contracts/regions.csv}}
    - {name: volume, row_count: {min: 1, max: 100000}}
    - {name: known_region, references: {columns: [region_code], table: health.regions, key: [code]}}
    - {name: total, sql: "select sum(case_count) from candidate", must_be: {greater_than: 0}}
    - {name: mostly_there, null_share: {column: note, max: 0.5}}
rules:
  - {type: required_group_by, columns: [region_code]}
  - {type: forbid_cross_join}
publish:
  target: health_dev.reporting.regional_daily_cases
  mode: merge
  keys: [region_code, report_date]
  partition_by: [report_date]
  partition: {report_date: "{day}"}
  evolve: refuse
  constraints: mirror
  candidate: {location: health_dev.onboarding, keep: {passed: 7d, rejected: 30d}}
quarantine: {location: health_dev.quarantine.cases, keep: 30d}
freshness: {expected_by: "01:00", every: 1d, column: report_date, max_age: 36h}
notifications: [{on: [rejected, late, unknown], to: "webhook:env:ALERT_URL"}]
environments:
  prod: {publish.target: health.reporting.regional_daily_cases, source.location: "/mnt/cases/{day}/*.csv"}
extensions: {cost_centre: "4711"}
"""


def refused(text: str) -> str:
    with pytest.raises(ContractError) as caught:
        load_contract_text(text, file="c.yaml")
    return str(caught.value)


def test_example_with_every_part_loads() -> None:
    contract = load_contract_text(EXAMPLE)
    assert contract.contract == "regional_daily_cases"
    assert contract.version == "1.2.0"
    assert contract.owner is not None
    assert contract.owner.contact == "surveillance@example.org"
    assert contract.source is not None
    assert contract.source.location == "landing/cases/{day}/*.csv"
    assert contract.source.options.delimiter == ";"
    assert [f.name for f in contract.fields] == [
        "region_code", "report_date", "case_count", "status", "amount", "note", "email",
    ]  # fmt: skip
    assert contract.fields[4].min == "0.01"
    assert str(contract.fields[4].type) == "decimal(10,2)"
    assert contract.fields[5].may_be_absent is True
    assert contract.keys[0].columns == ("region_code", "report_date")
    assert contract.quality.max_quarantined.percent == 1.0
    assert [r.kind for r in contract.quality.dataset_rules] == [
        "covers", "row_count", "references", "sql", "null_share",
    ]  # fmt: skip
    assert [r.type for r in contract.rules] == ["required_group_by", "forbid_cross_join"]
    assert contract.publish is not None
    assert contract.publish.candidate.keep.passed == "7d"
    assert contract.notifications[0].on == ("rejected", "late", "unknown")
    assert contract.extensions == {"cost_centre": "4711"}


def test_left_out_parts_take_their_defaults() -> None:
    contract = load_contract_text("contract: a\nfields: [{name: x, type: int}]\npublish: {target: t}\nsource: {}\n")
    assert contract.source is not None
    assert contract.publish is not None
    assert contract.source.format == "csv"
    assert contract.source.header == "exact"
    assert contract.source.empty == "reject"
    assert contract.source.after == "keep"
    assert contract.source.options.delimiter == ","
    assert contract.source.options.quote == '"'
    assert contract.source.options.encoding == "utf-8"
    assert contract.source.options.null_values == ("",)
    assert contract.schema_policy.extra_fields == "reject"
    assert contract.schema_policy.missing_optional == "reject"
    assert contract.schema_policy.type_changes == "reject"
    assert contract.quality.on_row_failure == "reject"
    assert contract.publish.mode == "append"
    assert contract.publish.evolve == "refuse"
    assert contract.publish.candidate.keep.rejected == "30d"
    assert contract.quarantine.keep == "30d"
    assert contract.fields[0].severity == "error"


def test_values_that_other_readers_change_stay_the_texts_that_were_written() -> None:
    allowed = "[SE, NO, DK, 010, 12:30, on, yes, no, 2026-01-01, ~, 1_000, null, true, 0x1F, 1e3, .5, '']"
    contract = load_contract_text(f"contract: a\nfields: [{{name: v, type: string, allowed: {allowed}}}]\n")
    assert contract.fields[0].allowed == (
        "SE", "NO", "DK", "010", "12:30", "on", "yes", "no", "2026-01-01", "~", "1_000", "null", "true", "0x1F", "1e3",
        ".5", "",
    )  # fmt: skip


def test_names_that_other_readers_change_stay_the_texts_that_were_written() -> None:
    contract = load_contract_text(
        "contract: a\nfields:\n- {name: on, type: int}\n- {name: no, type: int}\n- {name: 010, type: int}\n"
        "- {name: null, type: int}\n- {name: 2026-01-01, type: int}\nkeys: [[on, no, 010, null]]\n"
    )
    assert [f.name for f in contract.fields] == ["on", "no", "010", "null", "2026-01-01"]
    assert contract.keys[0].columns == ("on", "no", "010", "null")


def test_bounds_keep_every_digit() -> None:
    contract = load_contract_text(
        "contract: a\nfields: [{name: v, type: 'decimal(38,18)', min: 0.100000000000000001, max: 19.99}]\n"
    )
    assert contract.fields[0].min == "0.100000000000000001"


@pytest.mark.parametrize("spelling", ["fields", "columns"])
def test_fields_and_columns_are_one_thing(spelling: str) -> None:
    contract = load_contract_text(f"contract: a\n{spelling}: [{{name: x, type: integer, not_blank: false}}]\n")
    assert [(f.name, str(f.type), f.not_blank) for f in contract.fields] == [("x", "int", None)]


def test_fields_under_model_are_the_fields() -> None:
    contract = load_contract_text("contract: a\nmodel: {fields: [{name: x, type: string, not_blank: true}]}\n")
    assert contract.fields[0].not_blank == "whitespace"


def test_fields_written_twice_are_refused() -> None:
    text = "contract: a\nfields: [{name: x, type: int}]\ncolumns: [{name: y, type: int}]\n"
    assert refused(text) == (
        "c.yaml:3:1: columns: the fields stand twice, as 'fields' and as 'columns'\n  Hint: keep one of them"
    )


def test_keys_are_lists_or_mappings() -> None:
    contract = load_contract_text(
        "contract: a\nfields: [{name: x, type: int}, {name: y, type: int}]\n"
        "keys: [[x], {columns: [x, y], across: target, nulls: ignore}]\n"
    )
    assert [(k.columns, k.across, k.nulls) for k in contract.keys] == [
        (("x",), "batch", "fail"),
        (("x", "y"), "target", "ignore"),
    ]


def test_nested_fields_load() -> None:
    contract = load_contract_text(
        "contract: a\nsource: {format: json}\nfields:\n"
        "- name: addr\n  type: struct<zip:string,city:string>\n  fields: [{name: zip, type: string, required: true}]\n"
        "- name: lines\n  type: array<struct<qty:int>>\n  fields: [{name: qty, type: int, min: 1}]\n"
        "- name: tags\n  type: map<string,struct<n:int>>\n  fields: [{name: n, type: int}]\n"
    )
    assert contract.fields[0].fields[0].required is True
    assert contract.fields[1].fields[0].min == "1"


def test_anchors_and_aliases_stand_for_what_they_name() -> None:
    contract = load_contract_text(
        "contract: a\nfields:\n- {name: x, type: string, allowed: &c [A, B]}\n- {name: y, type: string, allowed: *c}\n"
    )
    assert contract.fields[1].allowed == ("A", "B")


def test_file_gives_the_folder_at_which_paths_start(tmp_path: Path) -> None:
    file = tmp_path / "orders.yaml"
    file.write_bytes(b"\xef\xbb\xbfcontract: a\r\nfields:\r\n- {name: x, type: int}\r\n")
    contract = load_contract(file)
    assert contract.base == tmp_path
    assert contract == load_contract_text("contract: a\nfields: [{name: x, type: int}]\n")
    assert contract.place_of(("fields", 0, "type")) == (3, 19)


def test_environment_puts_in_its_names_and_keeps_what_was_declared(tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text(EXAMPLE)
    contract = load_contract(file, env="prod")
    assert contract.publish is not None
    assert contract.source is not None
    assert contract.publish.target == "health.reporting.regional_daily_cases"
    assert contract.publish.mode == "merge"
    assert contract.source.location == "/mnt/cases/{day}/*.csv"
    assert contract.environment == "prod"
    assert contract.base == tmp_path
    assert contract.declared.publish is not None
    assert contract.declared.publish.target == "health_dev.reporting.regional_daily_cases"
    assert load_contract(file).environment is None


def test_environment_may_give_what_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(
        "contract: a\nfields: [{name: x, type: int}]\n"
        "environments: {dev: {publish.target: out/x, publish.candidate.location: out/c, quarantine.location: out/q,"
        " source.location: in/x.csv}}\n"
    )
    contract = load_contract(file, env="dev")
    assert contract.publish is not None
    assert contract.source is not None
    assert (contract.publish.target, contract.publish.candidate.location) == ("out/x", "out/c")
    assert (contract.quarantine.location, contract.source.location) == ("out/q", "in/x.csv")


def test_unknown_environment_names_the_known_ones(tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text(EXAMPLE)
    with pytest.raises(UsageError) as caught:
        load_contract(file, env="production")
    assert str(caught.value) == ("regional_daily_cases: unknown environment 'production'\nHint: environments of it: 'prod'")


def test_environment_never_changes_a_check() -> None:
    text = "contract: a\nfields: [{name: x, type: int}]\nenvironments: {dev: {quality.on_row_failure: quarantine}}\n"
    assert "c.yaml:3:46: environments.dev.quality.on_row_failure: expected a name or a place" in refused(text)


def test_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ContractError) as caught:
        load_contract(tmp_path / "nowhere.yaml")
    assert caught.value.code == "contract.unreadable"
    assert str(caught.value).endswith("nowhere.yaml: there is no such file")


def test_folder_and_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="the file cannot be read: Is a directory"):
        load_contract(tmp_path)
    file = tmp_path / "x.yaml"
    file.write_bytes(b"contract: \xff\n")
    with pytest.raises(ContractError, match="expected UTF-8 text, found another encoding at byte 10"):
        load_contract(file)


def test_plan_shape_rules_load_and_are_closed() -> None:
    text = "contract: a\nrules: [{type: required_group_by, columns: [x], skope: any}, {type: forbid_cross_joins}]\n"
    message = refused(text)
    assert "c.yaml:2:49: rules[0]: unknown key 'skope'\n  Hint: did you mean 'scope'?" in message
    assert "c.yaml:2:69: rules[1].type: expected one of" in message
    assert "Hint: did you mean 'forbid_cross_join'?" in message


def test_sql_source_names_its_inputs() -> None:
    contract = load_contract_text(
        "contract: a\nfields: [{name: x, type: int}]\n"
        "source: {format: sql, sql: select x from orders, inputs: {orders: shop.orders}}\n"
    )
    assert contract.source is not None
    assert contract.source.inputs == {"orders": "shop.orders"}


def test_contracts_are_equal_wherever_their_files_are(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(EXAMPLE)
    assert load_contract(tmp_path / "a.yaml") == load_contract_text(EXAMPLE)
    assert isinstance(load_contract(tmp_path / "a.yaml"), Contract)


def test_environment_for_an_input_that_is_not_there_is_refused() -> None:
    sql = "source: {format: sql, sql: select a from orders, inputs: {orders: dev.orders}}\n"
    with pytest.raises(ContractError, match="unknown input 'order': the run would read what"):
        load_contract_text(f"contract: a\n{sql}environments: {{prod: {{source.inputs.order: prod.orders}}}}\n")


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("freshness: {every: 0d}", "expected a time between two publications, found '0d'"),
        ("freshness: {every: 999999999d}", "'999999999d' is longer than 365000d, and no calendar goes as far"),
        ("quarantine: {keep: 365001d}", "'365001d' is longer than 365000d"),
    ],
)  # fmt: skip
def test_duration_that_no_clock_can_use_is_refused(part: str, message: str) -> None:
    with pytest.raises(ContractError) as caught:
        load_contract_text(f"contract: a\n{part}\n")
    assert message in str(caught.value)
    load_contract_text("contract: a\nquarantine: {keep: 0d}\nfreshness: {every: 1s}\n")
