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
    ],
)  # fmt: skip
def test_what_cannot_be_carried_is_refused_by_its_name(text: str, message: str) -> None:
    with pytest.raises(ContractError) as caught:
        load_contract_text(text)
    assert message in str(caught.value)
