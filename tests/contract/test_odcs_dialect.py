"""An Open Data Contract of one table is carried by the one model, and what cannot be is refused by its name."""

from __future__ import annotations

import pytest

from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.errors import ContractError

HEAD = "apiVersion: v3.0.2\nkind: DataContract\nid: 5358\nname: seller payments\nversion: 1.1.0\nstatus: active\n"
TABLE = """\
schema:
- name: payments
  physicalName: pay.payments
  properties:
  - {name: day, logicalType: date, partitioned: true}
  - {name: line, logicalType: integer, primaryKey: true, primaryKeyPosition: 2}
  - {name: id, logicalType: string, physicalType: varchar(18), primaryKey: true, primaryKeyPosition: 1, required: true,
     logicalTypeOptions: {maxLength: 18, pattern: '[a-z]+'}}
  - {name: amount, logicalType: number, physicalType: "decimal(10,2)", logicalTypeOptions: {minimum: 0}}
  - {name: place, logicalType: object, properties: [{name: zip, logicalType: string}]}
  quality:
  - {name: some, metric: rowCount, mustBeGreaterThan: 0}
  - {name: total, type: sql, query: "SELECT SUM(amount) FROM ${table}", mustBeBetween: [1, 5], severity: warning}
"""
COLUMN = HEAD + "schema: [{{name: a, properties: [{{name: x, {}}}]}}]\n"
RULE = HEAD + "schema: [{{name: a, properties: [{{name: x, logicalType: integer}}], quality: [{{{}}}]}}]\n"


def test_table_is_carried_with_its_meaning() -> None:
    contract = load_contract_text(HEAD + TABLE + "domain: seller\n")
    assert (contract.contract, contract.version, contract.status) == ("seller_payments", "1.1.0", "active")
    assert [(f.name, str(f.type), f.required, f.max_length, f.min) for f in contract.fields] == [
        ("day", "date", False, None, None), ("line", "bigint", False, None, None), ("id", "string", True, 18, None),
        ("amount", "decimal(10,2)", False, None, "0"), ("place", "struct<zip:string>", False, None, None),
    ]  # fmt: skip
    assert [k.columns for k in contract.keys] == [("id", "line")]
    assert contract.publish is not None
    assert (contract.publish.target, contract.publish.partition_by) == ("pay.payments", ("day",))
    assert [(r.name, r.sql, r.severity) for r in contract.quality.dataset_rules] == [
        ("some", "select count(*) from candidate", "error"), ("total", "SELECT SUM(amount) FROM candidate", "warn"),
    ]  # fmt: skip
    assert contract.extensions == {"odcs": {"domain": "seller"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD.replace("v3.0.2", "v2.2.2"), "ODCS v2.2.2 cannot be carried"),
        (HEAD + "schema: [{name: a, properties: []}, {name: b, properties: []}]\n", "this one has 2"),
        (HEAD + "schema: [{name: a, properties: [{name: x, logicalType: time}]}]\n", "logicalType time cannot be carried"),
        (HEAD + "schema: [{name: a, properties: [{name: x, logicalType: date, quality: [{type: sql}]}]}]\n",
         "'quality' cannot be carried"),
        (HEAD + "schema: [{name: a, properties: [], quality: [{type: custom, engine: soda}]}]\n", "unknown key 'engine'"),
        (HEAD + "schemas: []\n", "unknown key 'schemas'"),
        (COLUMN.format("logicalType: integer, logicalTypeOptions: {exclusiveMinimum: 0}"), "'exclusiveMinimum' cannot be carried"),
        (COLUMN.format("logicalType: array, physicalType: x, logicalTypeOptions: {maxItems: 0}, items: {logicalType: date}"),
         "'maxItems' cannot be carried"),
        (COLUMN.format("logicalType: array, items: {logicalType: string, required: true}"), "'required' cannot be carried"),
        (COLUMN.format("logicalType: object, properties: [{name: z, logicalType: date, primaryKey: true}]"), "'primaryKey' cannot be"),
        (COLUMN.format("logicalType: object, properties: [{name: z, logicalType: date, unique: true}]"), "'unique' is for columns"),
        (COLUMN.format("logicalType: object, properties: [{name: z, logicalType: date, minimum: 3}]"), "unknown key 'minimum'"),
        (RULE.format("metric: rowCount, mustBeBetween: [1]"), "expected two bounds under 'mustBeBetween'"),
        (RULE.format("metric: rowCount, mustBe: 1, mustBeBetween: {min: 1, max: 2}"), "expected two bounds under 'mustBeBetween'"),
        (RULE.format("metric: rowCount, mustBeGreaterThan: 5, unit: percent"), "unit: percent cannot be carried"),
        (RULE.format("metric: rowCount, mustBeGreaterOrEqualTo: 2, mustBeBetween: [1, 5]"), "says a bound that another key says too"),
    ],
)  # fmt: skip
def test_what_cannot_be_carried_is_refused_by_its_name(text: str, message: str) -> None:
    with pytest.raises(ContractError) as caught:
        load_contract_text(text)
    assert message in str(caught.value)


def test_what_is_asked_of_a_field_inside_of_a_column_is_carried() -> None:
    inner = "properties: [{name: zip, logicalType: string, required: true, logicalTypeOptions: {maxLength: 5}}, {name: t, logicalType: date}]"
    for column, type_ in (
        (f"logicalType: object, {inner}", "struct<zip:string,t:date>"),
        (f"logicalType: array, items: {{logicalType: object, {inner}}}", "array<struct<zip:string,t:date>>"),
    ):
        field = load_contract_text(COLUMN.format(column)).fields[0]
        assert str(field.type) == type_
        assert [(f.name, f.required, f.max_length) for f in field.fields] == [("zip", True, 5)]


def test_rule_without_a_name_is_called_by_what_it_asks() -> None:
    rules = "{metric: rowCount, mustBe: 3}, {type: sql, query: 'SELECT MAX(x) FROM ${table}', mustBe: 1}"
    said = HEAD + "schema: [{name: a, properties: [{name: x, logicalType: integer}], quality: [%s]}]\n"
    names = {r.name for r in load_contract_text(said % rules).quality.dataset_rules}
    assert names == {"row_count", "sql_5f081074"}
    assert {r.name for r in load_contract_text(said.replace("schema", "\n\nschema") % rules).quality.dataset_rules} == names


def test_inclusive_bounds_of_the_rows_are_a_row_count_and_names_are_made_ids() -> None:
    rule = load_contract_text(RULE.format("name: 'how many rows?', metric: rowCount, mustBeBetween: [1, 5]")).quality.dataset_rules[0]
    assert rule.name == "how_many_rows_"
    assert rule.row_count is not None
    assert (rule.row_count.min, rule.row_count.max) == (1, 5)
