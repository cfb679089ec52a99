"""Whatever the text: a contract, or problems with their places; never anything else."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from invaract_orchestration.contract.digest import contract_digest
from invaract_orchestration.contract.lint import lint
from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.errors import ContractError

VALID = """\
contract: orders
version: "1.0.0"
owner: {team: t, contact: c}
timezone: Europe/Paris
source: {format: csv, location: "in/{day}/*.csv", options: {delimiter: ";", null_values: ["", NA]}}
fields:
- {name: id, type: int, required: true, unique: true, min: 1, max: 5}
- {name: amount, type: "decimal(10,2)", min: 0.1, allowed: [1.00, 2]}
- {name: note, type: string, pattern: '[a-z]+', max_length: 5, not_blank: true, normalize: [trim]}
- {name: day, type: date, format: dd/MM/yyyy, may_be_absent: true, severity: warn}
- {name: at, type: timestamp, source_timezone: Europe/Paris}
- {name: addr, type: "struct<zip:string>", fields: [{name: zip, type: string, required: true}]}
keys: [[id, day], {columns: [note], across: target, nulls: distinct}]
quality:
  on_row_failure: quarantine
  max_quarantined: {rows: 5, percent: 1.5}
  row_rules: [{name: a, sql: "amount > 0 and length(note) < 5", null_is: pass}]
  dataset_rules:
  - {name: b, row_count: {min: 1}}
  - {name: c, sql: select sum(amount) from candidate, must_be: {at_least: 0, less_than: 1e6}}
  - {name: d, references: {columns: [id], table: t, key: [id]}}
  - {name: e, covers: {column: id, reference: r.csv}}
  - {name: f, null_share: {column: note, max: 0.5}}
rules: [{type: required_group_by, columns: [id], scope: final}, {type: forbid_cross_join}]
publish: {target: t, mode: merge, keys: [id], partition_by: [day], partition: {day: "{day}"}}
freshness: {expected_by: "01:00", every: 1d, column: day, max_age: 36h}
notifications: [{on: [late], to: "webhook:env:X"}]
environments: {prod: {publish.target: p}}
extensions: {a: {b: [1, ~]}}
"""
STEPS = """\
contract: steps
version: "1.0.0"
source: {format: json, location: in.json, fields: [{name: id, type: int}, {name: note, type: string}]}
links: [{name: codes, location: codes.csv, fields: {code: int}, filter: code > 1}]
fields: [{name: id, type: int, required: true}, {name: note, type: string}, {name: label, type: string}]
transformations:
- {trim: {fields: [note]}, phase: pre}
- {deduplicate: {on: [id], sort_by: [note]}, phase: pre}
- lookup: {field: label, reference: codes, on: id, key: code, value: text}
- sql: SELECT id, note, label FROM source
quality: {row_rules: [{name: known, sql: label IS NOT NULL}]}
publish: {target: t, mode: scd2, keys: [id]}
"""
OLC = """\
version: 1.0.0
info: {title: Orders, table_name: orders, owner: a, contact: b}
model: {fields: [{name: id, type: integer, required: true, min: 1}, {name: tier, type: string, accepted_values: [a], rules: [{name: r, sql: tier > 'a'}]}]}
links: [{name: codes, path: codes.csv, columns: [code], filter: code > 1}]
primary_key: [id]
extraction: {provider: regex, text_column: tier, patterns: {x: 'a(b)'}}
transformations:
- {phase: pre, deduplicate: {on: [id], sort_by: [tier], blank_keys: quarantine}}
- {rename: {from: a, to: b}}
- {bucket: {field: c, source: id, bins: [{label: x, lt: 5}], default: y}}
- {pivot: {id_vars: [id], pivot_col: c, value_col: b, values: [x]}}
- {join: {reference: codes, on: id, key: code, fields: [label], prefix: p_}}
quality:
  row_rules:
  - {referential_integrity: {field: id, reference: codes, key: code}}
  - {not_null: {fields: [id, tier]}}
  - {range: {field: id, min: 1, max: 5, inclusive: false, severity: warning}}
  dataset_rules: [{unique: [id]}, {null_ratio: {field: tier, max: 0.5}}, {name: q, sql: SELECT COUNT(*) FROM source, must_be_between: [1, 5]}]
materialization: {strategy: scd2, format: delta, scd2: {timestamp_field: tier, track_columns: [tier], end_date_default: 2200-01-01}}
service_levels: {freshness: 6h, row_count: {min_rows: 1}}
quarantine: {enabled: true}
"""
ODCS = """\
apiVersion: v3.0.2
kind: DataContract
id: orders
version: 1.0.0
status: active
schema:
- name: orders
  properties:
  - {name: id, logicalType: integer, required: true, primaryKey: true, logicalTypeOptions: {minimum: 1}}
  - {name: note, logicalType: string, logicalTypeOptions: {maxLength: 5, pattern: a+}}
  quality: [{type: sql, query: 'SELECT COUNT(*) FROM ${table}', mustBe: 3}, {rule: rowCount, mustBeGreaterThan: 1}]
"""
FLAT = """\
name: parcels
version: 1
arrives: "daily by 02:30 UTC: landing/<day>.csv"
columns: [{name: id, type: int, required: true, unique: true, min: 1}]
"""
EVERY = (VALID, STEPS, OLC, ODCS, FLAT)
PIECES = [
    "~", "null", "[]", "{}", "''", "- ", ": ", "\n", "\t", "'", '"', "[", "]", "{", "}", "&a", "*a", "!!x", "|", ">",
    "true", "0", "-1", "1e999", "x", "name", "type", "fields", "struct<", "array<", "decimal(", "(?=", "select",
    "\u2028", "\ufeff", "\x85", "é", "#", "%", "@", "`", ",", "9" * 30, "sql", "pattern", "allowed", "yes",
]  # fmt: skip


def load(text: str) -> None:
    try:
        contract = load_contract_text(text)
    except ContractError as error:
        assert error.problems
        for problem in error.problems:
            assert problem.message
            assert problem.line is None or problem.line >= 1
            assert "Input should be" not in problem.message
            assert "validation error" not in problem.message
        return
    contract_digest(contract)
    lint(contract)


@pytest.mark.parametrize("text", EVERY)
def test_the_valid_contract_loads(text: str) -> None:
    assert load_contract_text(text).contract


@given(st.text(max_size=200))
@example("a: &a [*a]")
@example("? ? ?")
@example("%YAML 1.1\n---\na: 1")
@example("%YAML 9" + "9" * 5000 + ".1\n---\na: 1")
@example("contract: a\nfields: [{name: x, type: '" + "array<" * 3000 + "'}]")
@example("contract: a\nfields: [{name: x, type: 'decimal(" + "9" * 6000 + ")'}]")
@example("contract: a\nfields: [{name: x, type: int, min: " + "9" * 6000 + "}]")
@example("contract: a\nquality: {max_quarantined: {percent: " + "9" * 6000 + "}}")
@example("contract: a\nkeys: [x]\nquality: {dataset_rules: [{name: a, must_be: {equal_to: x}}]}")
@example("contract: a\nquality: {dataset_rules: [{name: a, sql: x, must_be: 5}], row_rules: {}}\npublish: []")
@example("contract: a\nlinks: [{name: 'a b', location: x}]\ntransformations: [{lookup: {field: q, reference: a, on: n, key: k, value: v}}]")
@example("contract: a\nsource: {fields: [{type: int}]}\nfields: [{name: n, type: int}]\ntransformations: [{drop: {columns: [n]}}]")
@example("contract: a\ntransformations: [{sql: NaN}]")
def test_any_text_is_a_contract_or_problems(text: str) -> None:
    load(text)


@given(st.text(alphabet="abcdef:-{}[],'\"#&*!|>%@ \n\t0123~", max_size=120))
def test_any_yaml_like_text_is_a_contract_or_problems(text: str) -> None:
    load(text)


@settings(max_examples=600)
@given(st.integers(min_value=0, max_value=2**32), st.integers(min_value=1, max_value=4))
def test_a_changed_contract_is_a_contract_or_problems(seed: int, changes: int) -> None:
    choose = random.Random(seed)
    text = choose.choice(EVERY)
    for _ in range(changes):
        start = choose.randrange(len(text))
        end = start + choose.choice([0, 1, 2, 5, 20])
        text = text[:start] + choose.choice(PIECES) + text[end:]
    load(text)


@settings(max_examples=400)
@given(st.integers(min_value=0, max_value=2**32))
def test_a_contract_with_changed_words_is_a_contract_or_problems(seed: int) -> None:
    choose = random.Random(seed)
    words = choose.choice(EVERY).split(" ")
    for _ in range(choose.randint(1, 6)):
        words[choose.randrange(len(words))] = choose.choice([*PIECES, choose.choice(words)])
    load(" ".join(words))
