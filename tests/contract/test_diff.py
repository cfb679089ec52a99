"""What changed between two versions of a contract, told from the side of those who read the table."""

from __future__ import annotations

import pytest

from invaract_orchestration.contract.diff import differences, is_enough, needed_version
from invaract_orchestration.contract.load import load_contract_text

BASE = """\
contract: orders
version: "1.2.3"
description: all orders
source: {location: a.csv}
fields:
  - {name: id, type: bigint, required: true, sensitivity_tags: [pii]}
  - {name: amount, type: "decimal(10,2)", min: 0, max: 10.50}
  - {name: day, type: date, min: 2026-01-31}
  - {name: state, type: string, allowed: [open, closed], pattern: "[a-z]+", not_blank: whitespace}
  - {name: note, type: string, max_length: 9, severity: warn}
keys: [{columns: [id, day], across: target}]
quality:
  max_quarantined: {percent: 1}
  row_rules:
    - {name: positive, sql: "amount >= 0"}
    - {name: short, sql: "length(note) < 5", severity: warn}
  dataset_rules:
    - {name: volume, row_count: {min: 10, max: 100}}
    - {name: total, sql: select sum(amount) from candidate, must_be: {at_least: 5}}
rules: [{type: forbid_cross_join}]
publish: {target: sales.orders, mode: append}
freshness: {expected_by: "10:00", every: 1d}
"""


def changed(old: str, new: str) -> list[tuple[str, str, str]]:
    assert BASE.count(old) == 1
    found = differences(load_contract_text(BASE), load_contract_text(BASE.replace(old, new)))
    return [(c.kind, c.place, c.what) for c in found]


@pytest.mark.parametrize(
    ("old", "new", "place", "what"),
    [
        ("required: true, ", "", "fields.id.required", "removed"),
        ("sensitivity_tags: [pii]", "sensitivity_tags: [phi]", "fields.id.sensitivity_tags", "changed"),
        ("type: bigint", "type: int", "fields.id.type", "changed"),
        ("min: 0,", "min: -1,", "fields.amount.min", "changed"),
        ("max: 10.50", "max: 100", "fields.amount.max", "changed"),
        ("min: 2026-01-31", "min: 2025-12-31", "fields.day.min", "changed"),
        ("allowed: [open, closed]", "allowed: [open, shut]", "fields.state.allowed", "changed"),
        ('pattern: "[a-z]+"', 'pattern: "[a-z]*"', "fields.state.pattern", "changed"),
        ("not_blank: whitespace", "not_blank: spaces", "fields.state.not_blank", "changed"),
        (", across: target", "", "keys.day+id.across", "removed"),
        ("columns: [id, day]", "columns: [id, day], nulls: ignore", "keys.day+id.nulls", "added"),
        ("percent: 1", "percent: 1.5", "quality.max_quarantined.percent", "changed"),
        ("  max_quarantined", "  on_row_failure: quarantine\n  max_quarantined", "quality.on_row_failure", "added"),
        ('    - {name: positive, sql: "amount >= 0"}\n', "", "quality.row_rules.positive", "removed"),
        ('sql: "amount >= 0"', 'sql: "amount >= 0", severity: warn', "quality.row_rules.positive.severity", "added"),
        ('sql: "amount >= 0"', 'sql: "amount >= 0", null_is: pass', "quality.row_rules.positive.null_is", "added"),
        ("min: 10, ", "", "quality.dataset_rules.volume.row_count.min", "removed"),
        ("max: 100", "max: 101", "quality.dataset_rules.volume.row_count.max", "changed"),
        ("at_least: 5", "at_least: 4", "quality.dataset_rules.total.must_be.at_least", "changed"),
        ("target: sales.orders", "target: sales.other", "publish.target", "changed"),
        ("every: 1d", "every: 25h", "freshness.every", "changed"),
        ('expected_by: "10:00"', 'expected_by: "10:01"', "freshness.expected_by", "changed"),
        ("location: a.csv", "location: a.csv, empty: accept", "source.empty", "added"),
        ("description: all orders", "description: all orders\nstatus: retired", "status", "added"),
        ("description: all orders", "description: all orders\ntimezone: Europe/Paris", "timezone", "added"),
        ("publish:", "transformations: [{upper: {fields: [state]}}]\npublish:", "transformations", "added"),
    ],
)  # fmt: skip
def test_promise_that_is_less_is_breaking(old: str, new: str, place: str, what: str) -> None:
    assert changed(old, new) == [("breaking", place, what)]


def test_field_that_is_renamed_is_one_removed_and_one_added() -> None:
    assert changed("name: state, type: string", "name: status, type: string") == [
        ("breaking", "fields.state", "removed"), ("compatible", "fields.status", "added"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("sensitivity_tags: [pii]", "sensitivity_tags: [pii, phi]", "fields.id.sensitivity_tags"),
        ("min: 0,", "min: 0.01,", "fields.amount.min"),
        ("max: 10.50", "max: 9.75", "fields.amount.max"),
        ("allowed: [open, closed]", "allowed: [open]", "fields.state.allowed"),
        ("type: bigint", "type: bigint, unique: true", "fields.id.unique"),
        ("max_length: 9, ", "", "fields.note.max_length"),
        (", severity: warn}\nkeys", "}\nkeys", "fields.note.severity"),
        ('    - {name: short, sql: "length(note) < 5", severity: warn}\n', "", "quality.row_rules.short"),
        ("  row_rules:", "  row_rules:\n    - {name: more, sql: id > 0}", "quality.row_rules.more"),
        ("min: 10, ", "min: 11, ", "quality.dataset_rules.volume.row_count.min"),
        ("every: 1d", "every: 23h", "freshness.every"),
        ("location: a.csv", "location: b.csv", "source.location"),
        ("publish:", "schema_policy: {extra_fields: accept}\npublish:", "schema_policy.extra_fields"),
        ("publish: {", "quarantine: {keep: 3d}\npublish: {", "quarantine.keep"),
    ],
)  # fmt: skip
def test_promise_that_is_as_much_or_more_is_compatible(old: str, new: str, place: str) -> None:
    assert [(kind, at) for kind, at, _ in changed(old, new)] == [("compatible", place)]


def test_words_alone_are_documentation_and_another_spelling_is_nothing() -> None:
    assert changed("description: all orders", "description: every order") == [("documentation", "description", "changed")]
    assert changed("max: 10.50", "max: 10.5") == []
    assert changed("source: {location: a.csv}", "environments: {prod: {publish.target: x.y}}\nsource: {location: a.csv}") == []


def test_order_of_fields_and_of_rules_is_told() -> None:
    fields = "  - {name: amount, type: \"decimal(10,2)\", min: 0, max: 10.50}\n  - {name: day, type: date, min: 2026-01-31}\n"
    turned = "".join(reversed(fields.splitlines(keepends=True)))
    assert changed(fields, turned) == [("compatible", "the order of the fields", "changed")]
    assert changed("columns: [id, day]", "columns: [day, id]") == [("documentation", "the order of entries", "changed")]


@pytest.mark.parametrize(
    ("version", "new", "needed"),
    [
        ("1.2.3", BASE.replace("max: 10.50", "max: 99"), "2.0.0"),
        ("1.2.3", BASE.replace("max: 10.50", "max: 1"), "1.3.0"),
        ("1.2.3", BASE.replace("all orders", "every order"), "1.2.4"),
        ("1.2.3", BASE, "1.2.3"),
        ("0.2.3", BASE.replace("max: 10.50", "max: 99"), "0.3.0"),
    ],
)  # fmt: skip
def test_needed_version_follows_the_worst_change(version: str, new: str, needed: str) -> None:
    old = load_contract_text(BASE.replace("1.2.3", version))
    assert needed_version(old, differences(old, load_contract_text(new))) == needed


def test_whole_number_as_version_asks_for_the_next_one() -> None:
    flat = "name: parcels\nversion: 1\ncolumns: [{name: id, type: int}]\n"
    old, new = load_contract_text(flat), load_contract_text(flat.replace("type: int", "type: int, min: 0"))
    assert needed_version(old, differences(old, new)) == "2"


@pytest.mark.parametrize(
    ("version", "needed", "expected"),
    [("1.3.0", "1.3.0", True), ("2.0.0", "1.3.0", True), ("1.10.0", "1.9.0", True), ("1.2.9", "1.3.0", False), ("2", "2.0.0", True)],
)
def test_version_is_enough_where_it_is_the_needed_one_or_later(version: str, needed: str, expected: bool) -> None:
    assert is_enough(version, needed) is expected
