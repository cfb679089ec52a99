"""Lint: what a contract says that its author hardly means."""

from __future__ import annotations

import pytest

from invaract_orchestration.contract.lint import lint
from invaract_orchestration.contract.load import load_contract_text

HEAD = "contract: a\n"


def findings(text: str) -> list[tuple[str, str, int | None]]:
    return [(f.code, f.level, f.line) for f in lint(load_contract_text(HEAD + text, file="c.yaml"))]


def with_field(field: str) -> list[tuple[str, str]]:
    return [(code, level) for code, level, _ in findings(f"fields: [{{name: x, {field}}}]\n")]


def with_rule(sql: str, field: str = "type: int") -> list[tuple[str, str]]:
    text = f'fields: [{{name: x, {field}}}]\nquality: {{row_rules: [{{name: r, sql: "{sql}"}}]}}\n'
    return [(code, level) for code, level, _ in findings(text)]


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("type: int, required: true, min: 0, max: 5", []),
        ("type: string, required: true, may_be_absent: true", [("FLD-001", "error")]),
        ("type: string, required: true, may_be_absent: true, severity: warn", []),
        ("type: int, allowed: [1, 2, 1]", [("FLD-002", "warning")]),
        ('type: "decimal(4,2)", allowed: [1, 1.0]', [("FLD-002", "warning")]),
        ("type: int, allowed: [1, 9], max: 5", [("FLD-003", "warning")]),
        ("type: int, allowed: [1, 9], min: 5", [("FLD-003", "warning")]),
        ("type: string, allowed: [AB, c], pattern: '[A-Z]+'", [("FLD-003", "warning")]),
        ("type: string, allowed: [AB, c], min_length: 2", [("FLD-003", "warning")]),
        ("type: string, allowed: [AB, ' '], not_blank: true", [("FLD-003", "warning")]),
        ("type: int, allowed: [7, 9], max: 5", [("FLD-003", "warning")] * 2 + [("FLD-004", "error")]),
        ("type: int, allowed: [1, 2], max: 5", [("FLD-005", "warning")]),
        ("type: string, allowed: [A, B], pattern: '[A-Z]'", [("FLD-005", "warning")]),
        ("type: tinyint, max: 127", [("FLD-005", "warning")]),
        ("type: string, min_length: 0", [("FLD-005", "warning")]),
        ("type: string, min_length: 1, not_blank: true", [("FLD-005", "warning")]),
    ],
)
def test_finding_about_a_field(field: str, expected: list[tuple[str, str]]) -> None:
    assert sorted(with_field(field)) == sorted(expected)


@pytest.mark.parametrize(
    ("sql", "field", "expected"),
    [
        ("x > 0", "type: int", []),
        ("1 = 1", "type: int", [("RUL-001", "warning")]),
        ("x = null", "type: int", [("RUL-002", "error")]),
        ("x > 1 or null <> x", "type: int", [("RUL-002", "error")]),
        ("x not in (1, null)", "type: int", [("RUL-002", "error")]),
        ("x in (1, null)", "type: int", []),
        ("x in (null)", "type: int", [("RUL-002", "error")]),
        ("x <=> null", "type: int", []),
        ("x is not null", "type: int, required: true", [("RUL-003", "warning")]),
        ("isnotnull(X)", "type: int, required: true", [("RUL-003", "warning")]),
        ("x is not null", "type: int", []),
        ("x is not null", "type: int, required: true, severity: warn", []),
    ],
)
def test_finding_about_a_row_rule(sql: str, field: str, expected: list[tuple[str, str]]) -> None:
    assert with_rule(sql, field) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fields: [{name: x, type: int}]\nkeys: [[x]]\n", [("KEY-001", "warning", 3)]),
        ("fields: [{name: x, type: int}]\nkeys: [{columns: [x], nulls: ignore}]\n", []),
        (
            "fields: [{name: x, type: int, required: true}, {name: y, type: int, required: true}]\nkeys: [[x], [x, y]]\n",
            [("KEY-002", "warning", 3)],
        ),
        (
            "fields: [{name: x, type: int, required: true, unique: true}]\nkeys: [[x]]\n",
            [("KEY-003", "warning", 3)],
        ),
        ("fields: [{name: x, type: int, required: true, unique: true}]\nkeys: [{columns: [x], across: target}]\n", []),
        ("fields: [{name: x, type: int, required: true, severity: warn}]\nkeys: [[x]]\n", [("KEY-001", "warning", 3)]),
        (  # the larger key asks that y is not null
            "fields: [{name: x, type: int, required: true}, {name: y, type: int}]\nkeys: [[x], [x, y]]\n",
            [("KEY-001", "warning", 3)],
        ),
        (
            "fields: [{name: x, type: int, required: true}, {name: y, type: int}]\nkeys: [[x], {columns: [x, y], nulls: ignore}]\n",
            [("KEY-002", "warning", 3)],
        ),
        (
            "fields: [{name: x, type: int}]\nquality:\n  row_rules:\n  - {name: a, sql: x > 0, severity: warn}\n  - {name: b, sql: x > 0}\n"
            "  - {name: c, sql: x > 0, null_is: pass}\n  - {name: d, sql: x > 0, phase: post}\n",
            [],
        ),
        (
            "fields: [{name: x, type: int, required: true, severity: warn}]\nquality:\n  dataset_rules:\n"
            "  - {name: b, null_share: {column: x, max: 0.1}}\n",
            [],
        ),
        (
            "fields: [{name: x, type: int}]\nquality:\n  row_rules:\n  - {name: a, sql: x > 0}\n  - {name: b, sql: X>0}\n",
            [("RUL-004", "warning", 6)],
        ),
        (
            "fields: [{name: x, type: int}]\nquality:\n  row_rules:\n  - {name: a, sql: x > 0}\n  - {name: b, sql: x>0}\n",
            [("RUL-004", "warning", 6)],
        ),
        (
            "fields: [{name: x, type: int}]\nquality:\n  dataset_rules:\n  - {name: a, row_count: {min: 0}}\n"
            "  - {name: b, null_share: {column: x, max: 1}}\n",
            [("RUL-005", "warning", 5), ("RUL-005", "warning", 6)],
        ),
        ("status: active\n", [("SET-001", "warning", 1)]),
        (
            "fields: [{name: x, type: int}]\nsource: {format: parquet, options: {delimiter: ';', shape: array}}\n",
            [("SRC-001", "warning", 3), ("SRC-001", "warning", 3)],
        ),
        ("fields: [{name: x, type: int}]\nsource: {format: json, options: {encoding: latin-1}}\n", [("SRC-001", "warning", 3)]),
        ("fields: [{name: x, type: array<int>}]\nsource: {format: csv}\n", [("SRC-002", "error", 2)]),
        (
            "fields: [{name: x, type: date, format: dd/MM/yyyy}]\nsource: {format: delta}\n",
            [("SRC-001", "warning", 2)],
        ),
        (
            "fields: [{name: x, type: date}]\npublish: {target: t, mode: replace_partitions, partition_by: [x]}\n",
            [("PUB-001", "warning", 3)],
        ),
        (
            "fields: [{name: x, type: int, required: true}]\npublish: {target: t, allow_empty_overwrite: true, keys: [x]}\n",
            [("PUB-002", "warning", 3), ("PUB-003", "warning", 3)],
        ),
        (
            "fields: [{name: x, type: int}]\nquality: {max_quarantined: {rows: 5}}\n",
            [("QUA-001", "warning", 3)],
        ),
        (
            "fields: [{name: x, type: int}]\nquality: {on_row_failure: quarantine, max_quarantined: {rows: 0}}\n",
            [("QUA-002", "warning", 3)],
        ),
        ("fields: [{name: x, type: date}]\nfreshness: {column: x}\n", [("FRS-001", "warning", 3)]),
        (
            "fields: [{name: x, type: int}]\nnotifications: [{on: [late], to: 'webhook:env:X'}]\n",
            [("FRS-002", "warning", 3)],
        ),
    ],
)
def test_finding_about_the_whole(text: str, expected: list[tuple[str, str, int | None]]) -> None:
    assert findings(text) == expected


def test_check_that_runs_before_its_column_is_made_is_found() -> None:
    contract = load_contract_text(
        "contract: a\nfields: [{name: x, type: int}]\nquality: {row_rules: [{name: r, sql: x > 0, phase: pre}]}\n"
    )
    assert [f.code for f in lint(contract, created=["x"])] == ["PHS-001"]
    assert lint(contract) == ()


def test_finding_reads_like_a_problem() -> None:
    contract = load_contract_text(HEAD + "fields: [{name: x, type: int}]\nkeys: [[x]]\n", file="c.yaml")
    assert str(lint(contract)[0]) == (
        "c.yaml:3:8: warning KEY-001: key column 'x' is not required, and a null in a key is a failure\n"
        "  Hint: write required: true on 'x', or nulls: distinct or ignore on the key"
    )
