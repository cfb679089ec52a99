"""A contract as an Open Data Contract: what both can say reads back as it was, and the rest is told."""

from __future__ import annotations

import pytest
import yaml

from invaract_orchestration.contract.digest import canonical_json
from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.contract.odcs_export import to_odcs
from invaract_orchestration.errors import NotSupported

BOTH = """\
contract: payments
version: "1.2.0"
status: deprecated
description: what sellers are paid
fields:
  - {name: "the day", type: date, description: of the payment, min: 2026-01-01}
  - {name: id, type: string, required: true, unique: true, min_length: 1, max_length: 18, pattern: "[a-z]+"}
  - {name: line, type: int, required: true}
  - {name: amount, type: "decimal(10,2)", min: 0.10, max: 99999999.99}
  - {name: place, type: "struct<zip:string,town:string>", fields: [{name: zip, type: string, required: true}]}
  - {name: tags, type: "array<string>"}
  - {name: at, type: timestamp, format: "dd/MM/yyyy HH:mm"}
keys: [[id, line]]
quality:
  dataset_rules:
    - {name: volume, row_count: {min: 1, max: 5}}
    - {name: candidates, sql: "select sum(amount) from candidate c", must_be: {greater_than: 0.5, at_most: 9}, severity: warn}
publish: {target: pay.payments, partition_by: [the day]}
"""


def test_what_both_can_say_reads_back_as_it_was() -> None:
    contract = load_contract_text(BOTH)
    text, left_out = to_odcs(contract)
    assert left_out == ()
    again = load_contract_text(text)
    assert (again.contract, again.version, again.status) == ("payments", "1.2.0", "deprecated")
    assert canonical_json(again) == canonical_json(contract)
    assert again.fields[4].fields[0].required


def test_file_is_one_that_others_read() -> None:
    document = yaml.safe_load(to_odcs(load_contract_text(BOTH))[0])
    assert (document["apiVersion"], document["kind"], document["id"]) == ("v3.0.2", "DataContract", "payments")
    table = document["schema"][0]
    assert table["physicalName"] == "pay.payments"
    assert table["properties"][3] == {
        "name": "amount", "logicalType": "number", "physicalType": "decimal(10,2)",
        "logicalTypeOptions": {"minimum": 0.1, "maximum": 99999999.99},
    }  # fmt: skip
    assert table["properties"][1]["primaryKeyPosition"] == 1
    assert table["quality"][1]["query"] == "select sum(amount) from ${table} c"


def test_what_it_cannot_say_is_told_by_its_place() -> None:
    more = BOTH.replace("description: what", "timezone: Europe/Paris\ndescription: what").replace(
        "quality:\n", "quality:\n  row_rules: [{name: positive, sql: amount > 0}]\n"
    )
    more = more.replace("required: true}\n  - {name: amount", "required: true, severity: warn}\n  - {name: amount")
    _, left_out = to_odcs(load_contract_text(more))
    assert left_out == ("quality.row_rules.positive", "timezone", "fields.line.required", "fields.line.severity")


def test_contract_without_fields_is_refused() -> None:
    with pytest.raises(NotSupported, match="has no fields"):
        to_odcs(load_contract_text("contract: a\nrules: [{type: forbid_cross_join}]\n"))


def test_what_the_contract_does_not_say_is_not_left_out() -> None:
    text, left_out = to_odcs(load_contract_text("contract: a\nfields: [{name: id, type: int}]\n"))
    assert left_out == ()
    assert yaml.safe_load(text)["schema"][0]["physicalName"] == "a"
