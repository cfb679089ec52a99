"""Checks of one field that do not fit its type or each other."""

from __future__ import annotations

import pytest

from invaract_orchestration.contract.consistency import find_problems
from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.contract.model import Contract, FieldSpec, Key
from invaract_orchestration.errors import ContractError


def problems_of(field: str) -> list[str]:
    try:
        load_contract_text(f"contract: a\nsource: {{format: json}}\nfields:\n- {{name: x, {field}}}\n")
    except ContractError as error:
        return [f"{p.path}: {p.message}" for p in error.problems]
    return []


@pytest.mark.parametrize(
    "field",
    [
        "type: string, pattern: '[A-Z]+', min_length: 1, max_length: 3, not_blank: spaces, normalize: [trim, nfc]",
        "type: int, min: -5, max: 5, allowed: [1, 2]",
        "type: double, min: 0.5, max: 1e3",
        'type: "decimal(10,2)", min: 0.01, decimal_separator: ",", group_separator: "."',
        "type: date, min: 2026-01-01, max: 2026-12-31, format: dd/MM/yyyy",
        "type: timestamp, min: '2026-01-01T00:00:00Z', format: \"yyyy-MM-dd'T'HH:mm:ssXXX\", timezone: required",
        "type: timestamp, source_timezone: Europe/Paris, format: 'd/M/yyyy H:mm'",
        "type: timestamp, timezone: any, source_timezone: UTC",
        "type: timestamp_ntz, min: '2026-01-01T00:00:00'",
        "type: boolean, allowed: [true]",
        "type: date, format: 'd MMM yyyy'",
        "type: timestamp_ntz, format: 'dd/MM/yyyy hh:mm a'",
    ],
)
def test_checks_that_fit_are_taken(field: str) -> None:
    assert problems_of(field) == []


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("type: int, pattern: '1+'", "columns"),
        ("type: int, max_length: 3", "'max_length' is for string, and 'x' is of type int"),
        ("type: date, not_blank: true", "'not_blank' is for string, and 'x' is of type date"),
        ("type: int, normalize: [trim]", "'normalize' is for string, and 'x' is of type int"),
        ("type: string, min: 1", "'min' is for numbers, dates and timestamps, and 'x' is of type string"),
        ("type: boolean, max: true", "'max' is for numbers, dates and timestamps, and 'x' is of type boolean"),
        ("type: binary, allowed: [x]", "'allowed' is for single values, and 'x' is of type binary"),
        ("type: array<int>, unique: true", "'unique' is for single values, and 'x' is of type array<int>"),
        ("type: date, timezone: any", "'timezone' is for timestamp, and 'x' is of type date"),
        ("type: timestamp_ntz, source_timezone: UTC", "'source_timezone' is for timestamp, and 'x' is of type"),
        ("type: int, format: yyyy-MM-dd", "'format' is for dates and timestamps, and 'x' is of type int"),
        ("type: double, decimal_separator: ','", "'decimal_separator' is for decimal, and 'x' is of type double"),
        ('type: "decimal(5,2)", decimal_separator: ",", group_separator: ","', "the group separator is the decimal"),
        ("type: int, min: 0.5", "expected a whole number such as 10 (int), found '0.5'"),
        ("type: int, min: 010", "expected a whole number such as 10 (int), found '010'"),
        ("type: int, max: 3000000000", "expected a whole number from -2147483648 to 2147483647 (int)"),
        ('type: "decimal(4,2)", min: 0.001', "expected at most 2 digits after the point (decimal(4,2)), found '0.001'"),
        ('type: "decimal(4,2)", max: 100', "expected at most 2 digits before the point (decimal(4,2)), found '100'"),
        ("type: double, min: NaN", "NaN is no number, so no value ever keeps this"),
        ("type: date, min: 2026-02-30", "expected a day that exists, such as 2026-01-31, found '2026-02-30'"),
        ("type: timestamp, min: 2026-01-01", "expected an instant with its zone such as 2026-01-31T10:00:00Z"),
        ("type: timestamp_ntz, min: '2026-01-01T00:00:00Z'", "expected a wall-clock time without a zone"),
        ("type: boolean, allowed: [yes]", "x.allowed[0]: expected true or false, found 'yes'"),
        ("type: int, allowed: [1, two]", "x.allowed[1]: expected a whole number such as 10 (int), found 'two'"),
        ("type: int, min: 5, max: 4", "min '5' is above max '4': no value is possible"),
        ('type: "decimal(4,2)", min: 9.5, max: 10, allowed: []', "no value is listed, so none is possible"),
        ("type: date, min: 2026-02-01, max: 2026-01-31", "min '2026-02-01' is above max '2026-01-31'"),
        ("type: string, pattern: '(a)\\1'", "a back reference is not in the RE2 subset at character 4"),
        ("type: timestamp, source_timezone: Paris", "expected a time zone of the IANA database, found 'Paris'"),
        ("type: timestamp, source_timezone: europe/paris", "expected a time zone of the IANA database"),
        ("type: timestamp, source_timezone: UTC, timezone: required", "'source_timezone' is for times without a zone"),
        ("type: date, format: YYYY-MM-dd", "format 'YYYY-MM-dd': unknown letter 'Y'"),
        ("type: date, format: yyyy-MM-dd HH", "format 'yyyy-MM-dd HH' holds a time, and 'x' is a date"),
        ("type: timestamp_ntz, format: yyyy-MM-dd HHX", "format 'yyyy-MM-dd HHX' holds a zone"),
        ("type: timestamp, format: yyyy-MM-dd, timezone: required", "format 'yyyy-MM-dd' has no zone"),
        ("type: timestamp, format: yyyy-MM-ddX, timezone: none", "format 'yyyy-MM-ddX' has a zone"),
        ("type: int, fields: [{name: y, type: int}]", "'x' is of type int, which holds no named fields"),
        ("type: 'struct<y:int>', fields: [{name: z, type: int}]", "x.fields.z.name: unknown field 'z'"),
        ("type: 'struct<y:int>', fields: [{name: y, type: bigint}]", "expected type int, as the type of 'x' says"),
        ("type: 'struct<y:int>', fields: [{name: y, type: int, unique: true}]", "'unique' is for columns, not for"),
        ("type: 'array<struct<y:int>>', fields: [{name: y, type: int, min: 1, max: 0}]", "min '1' is above max '0'"),
    ],
)  # fmt: skip
def test_check_that_does_not_fit_is_refused(field: str, message: str) -> None:
    found = problems_of(field)
    assert len(found) == 1
    assert (message if message != "columns" else "'pattern' is for string, and 'x' is of type int") in found[0]


def test_names_that_collide_are_refused() -> None:
    with pytest.raises(ContractError) as caught:
        load_contract_text("contract: a\nfields: [{name: x, type: int}, {name: x, type: int}, {name: X, type: int}]\n")
    assert [p.message for p in caught.value.problems] == [
        "field 'x' is there twice",
        "field 'X' differs from 'x' only by letter case",
    ]


def test_problems_of_a_contract_made_in_python_are_found_too() -> None:
    contract = Contract(
        contract="a",
        fields=(FieldSpec(name="x", type="int", min="x", pattern="a"),),  # type: ignore[arg-type]  # text is taken
        keys=(Key(columns=("y",)),),
    )
    assert [str(p) for p in find_problems(contract)] == [
        "fields[0].pattern: 'pattern' is for string, and 'x' is of type int",
        "fields[0].min: expected a whole number such as 10 (int), found 'x'",
        "keys[0].columns[0]: unknown column 'y'\n  Hint: columns: 'x'",
    ]


def test_keys_of_one_set_of_columns_are_one_key_and_the_strictest_wins() -> None:
    contract = load_contract_text(
        "contract: a\nfields: [{name: x, type: int, unique: true}, {name: y, type: int}]\n"
        "keys: [{columns: [x], severity: warn, nulls: ignore}, {columns: [x, y], across: target}]\n"
        "publish: {target: t, mode: merge, keys: [y, x]}\n"
    )
    assert [(k.columns, k.across, k.nulls, k.severity) for k in contract.all_keys()] == [
        (("x",), "batch", "fail", "error"),
        (("x", "y"), "target", "fail", "error"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('fields: [{name: "a.b", type: int}, {name: a, type: "struct<b:int>"}]', "two fields would be called 'a.b' in reports"),
        ('fields: [{name: a, type: "array<struct<B:int>>"}, {name: "A.b", type: int}]', "two fields would be called 'A.b' in reports"),
        ('fields: [{name: "a+b", type: int, unique: true}, {name: a, type: int}, {name: b, type: int}]\nkeys: [[a, b]]',
         "two keys would be called 'a+b|unique' in reports"),
        ("fields: [{name: a, type: int, min: 0}]\nkeys: [{columns: [a], name: a|min}]", "'a|min' is not a name here"),
        ("fields: [{name: a, type: int}]\nkeys: [{columns: [a], name: one}]\nquality: {row_rules: [{name: One, sql: a > 0}]}",
         "rule 'one' is there twice"),
    ],
)  # fmt: skip
def test_two_checks_of_one_id_are_refused(text: str, message: str) -> None:
    with pytest.raises(ContractError) as caught:
        load_contract_text(f"contract: t\nsource: {{format: json}}\n{text}\n")
    assert message in str(caught.value)


def test_names_with_dots_and_plus_signs_are_taken_where_their_ids_differ() -> None:
    fields = '{name: "a.b", type: int}, {name: a, type: "struct<c:int>"}, {name: "x+y", type: int, unique: true}, {name: x, type: int}'
    contract = load_contract_text(f"contract: t\nsource: {{format: json}}\nfields: [{fields}]\nkeys: [[x, a.b]]\n")
    assert [key.check_id for key in contract.all_keys()] == ["x+a.b|unique", "x+y|unique"]


@pytest.mark.parametrize(("first", "second"), [("straße", "STRASSE"), ("caf\u00e9", "cafe\u0301"), ("ſum", "Sum")])
def test_names_that_no_header_could_hold_together_are_refused(first: str, second: str) -> None:
    with pytest.raises(ContractError) as caught:
        load_contract_text(f"contract: a\nfields: [{{name: {first}, type: int}}, {{name: {second}, type: int}}]\n")
    (problem,) = caught.value.problems
    assert problem.message == f"field {second!r} is the same as {first!a} to many readers"
    assert problem.hint == "rename or remove one of them"
