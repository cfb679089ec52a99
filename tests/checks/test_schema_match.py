from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.checks.schema_match import ObservedColumn, ObservedSchema, check_schema, schema_digest
from invaract_orchestration.contract.field_types import parse_type
from invaract_orchestration.contract.model import Contract, FieldSpec

SALES = ("id int required", "amount decimal(10,2) required", "city string")


def agreed(*fields: str, nested: tuple[dict[str, Any], ...] = (), **policy: str) -> Contract:
    specs: list[dict[str, Any]] = list(nested)
    for field in fields:
        name, type_, *flags = field.split(" ")
        specs.append({"name": name, "type": type_, **dict.fromkeys(flags, True)})
    return Contract.model_validate({"contract": "c", "fields": specs, "schema_policy": policy})


def typed(*columns: str, place: str = "x.parquet") -> ObservedSchema:
    pairs = [column.split(" ", 1) for column in columns]
    return ObservedSchema(
        place=place, columns=tuple(ObservedColumn(name=name, type=parse_type(type_)) for name, type_ in pairs)
    )


def keys(records: int | None = None, /, **rows: int) -> ObservedSchema:
    columns = tuple(ObservedColumn(name=name, rows=count) for name, count in rows.items())
    return ObservedSchema(place="x.jsonl", columns=columns, records=records)


def only(results: tuple[CheckResult, ...]) -> CheckResult:
    assert len(results) == 1, [result.check for result in results]
    return results[0]


def said(results: tuple[CheckResult, ...]) -> list[tuple[str, str]]:
    return [(result.check, result.found) for result in results]


def test_schema_as_agreed_is_kept_in_any_order_of_columns() -> None:
    observed = [
        typed("id int", "amount decimal(10,2)", "city string"),
        typed("city string", "amount decimal(10,2)", "id int"),
    ]
    assert only(check_schema(agreed(*SALES), observed)) == CheckResult(
        check="schema|columns",
        stage="schema",
        outcome="kept",
        expected="3 fields: 'id' int, 'amount' decimal(10,2), 'city' string",
        found="as agreed in 2 sources",
        evidence="header",
    )


def test_schema_with_another_type_in_one_file_names_it() -> None:
    contract = agreed("id int required", "qty int required")
    observed = [
        typed("id int", "qty int", place="part-1.parquet"),
        typed("id int", "qty string", place="part-2.parquet"),
    ]
    result = only(check_schema(contract, observed))
    assert (result.check, result.outcome, result.place) == ("schema|type", "broken", "part-2.parquet")
    assert result.found == "in 1 of 2 sources: part-2.parquet: 'qty' is string, expected int"
    assert result.hint is not None


def test_schema_without_a_required_column_in_one_file_says_missing_column() -> None:
    contract = agreed("id int required", "amount decimal(10,2) required")
    observed = [
        typed("id int", "amount decimal(10,2)", place="part-1.parquet"),
        typed("id int", place="part-2.parquet"),
    ]
    result = only(check_schema(contract, observed))
    assert (result.check, result.place) == ("schema|missing_field", "part-2.parquet")
    assert result.found == "in 1 of 2 sources: part-2.parquet: missing column 'amount'"


def test_schema_date_for_a_decimal_is_a_type() -> None:
    result = only(check_schema(agreed("amount decimal(10,0)"), [typed("amount date")]))
    assert (result.check, result.found) == ("schema|type", "x.parquet: 'amount' is date, expected decimal(10,0)")


def test_schema_with_a_type_no_contract_can_name_is_told_by_its_own_name() -> None:
    observed = ObservedSchema(place="x.parquet", columns=(ObservedColumn(name="id", type="uint64 <b>\n"),))
    for policy in ({}, {"type_changes": "accept"}):
        result = only(check_schema(agreed("id bigint", **policy), [observed]))
        assert result.found == r"x.parquet: 'id' is uint64 \x3cb\x3e\n, expected bigint"


@pytest.mark.parametrize(
    ("found", "expected", "is_kept"),
    [
        ("timestamp in nanoseconds", "timestamp", True), ("timestamp_ntz in nanoseconds", "timestamp_ntz", True),
        ("timestamp in nanoseconds", "timestamp_ntz", False), ("timestamp_ntz in nanoseconds", "timestamp", False),
        ("timestamp_ntz in nanoseconds", "date", False), ("timestamp_ntz in nanoseconds", "bigint", False),
        ("timestamp_ntz in nanoseconds", "string", False),
    ],
)  # fmt: skip
def test_schema_with_nanoseconds_is_let_through_for_its_own_kind_of_timestamp(found: str, expected: str, is_kept: bool) -> None:
    observed = ObservedSchema(place="x.parquet", columns=(ObservedColumn(name="v", type=found),))
    rejected = only(check_schema(agreed(f"v {expected}"), [observed]))
    assert rejected.found == f"x.parquet: 'v' is {found}, expected {expected}"
    assert (rejected.hint is not None and "coerce_timestamps" in rejected.hint) == is_kept
    accepted = only(check_schema(agreed(f"v {expected}", type_changes="accept"), [observed]))
    assert accepted.outcome == ("kept" if is_kept else "broken")


def test_schema_of_folder_columns_without_a_type_is_not_compared_by_type() -> None:
    observed = ObservedSchema(
        place="x.parquet", columns=(ObservedColumn(name="id", type=parse_type("int")), ObservedColumn(name="day"))
    )
    assert only(check_schema(agreed("id int", "day date"), [observed])).outcome == "kept"


@pytest.mark.parametrize(
    ("found", "expected", "is_kept"),
    [
        ("int", "bigint", True), ("bigint", "int", True), ("tinyint", "smallint", True), ("int", "decimal(12,0)", True),
        ("decimal(5,2)", "decimal(10,2)", True), ("decimal(10,2)", "decimal(5,1)", True), ("float", "double", True),
        ("array<int>", "array<bigint>", True), ("map<string,int>", "map<string,bigint>", True),
        ("struct<a:int>", "struct<a:bigint>", True), ("struct<b:int,a:int>", "struct<a:int,b:int>", True),
        ("double", "float", False), ("double", "decimal(10,2)", False), ("decimal(5,0)", "int", False),
        ("date", "timestamp", False), ("timestamp_ntz", "timestamp", False), ("string", "int", False),
        ("int", "string", False), ("int", "double", False), ("boolean", "int", False), ("binary", "string", False),
        ("int", "array<int>", False), ("array<string>", "array<int>", False), ("struct<a:string>", "struct<a:int>",
        False), ("map<int,int>", "map<string,int>", False), ("struct<a:int>", "map<string,int>", False),
    ],
)  # fmt: skip
def test_schema_with_another_type_is_let_through_only_in_its_family_and_when_accepted(
    found: str, expected: str, is_kept: bool
) -> None:
    assert only(check_schema(agreed(f"v {expected}"), [typed(f"v {found}")])).check == "schema|type"
    accepted = only(check_schema(agreed(f"v {expected}", type_changes="accept"), [typed(f"v {found}")]))
    assert accepted.outcome == ("kept" if is_kept else "broken")


@pytest.mark.parametrize(
    ("expected", "found", "differences"),
    [
        (
            "struct<zip:string,geo:struct<x:double>>", "struct<zip:int,geo:struct<x:string>>",
            [("schema|type", "x.parquet: 'v.zip' is int, expected string, 'v.geo.x' is string, expected double")],
        ),
        (
            "array<struct<zip:string>>", "array<struct<zip:int>>",
            [("schema|type", "x.parquet: 'v.zip' is int, expected string")],
        ),
        ("array<int>", "array<string>", [("schema|type", "x.parquet: 'v.element' is string, expected int")]),
        (
            "map<string,int>", "map<int,string>",
            [("schema|type", "x.parquet: 'v.key' is int, expected string, 'v.value' is string, expected int")],
        ),
        (
            "struct<a:int,b:int>", "struct<b:int,a:int>",
            [("schema|type", "x.parquet: 'v' has its fields in the order b, a, expected a, b")],
        ),
        (
            "struct<a:int,b:int>", "struct<a:int,c:int>",
            [
                ("schema|missing_field", "x.parquet: 'v.b' is a missing field of the struct"),
                ("schema|unexpected_field", "x.parquet: 'v.c'"),
            ],
        ),
    ],
)  # fmt: skip
def test_schema_with_a_nested_difference_names_its_path(
    expected: str, found: str, differences: list[tuple[str, str]]
) -> None:
    assert said(check_schema(agreed(f"v {expected}"), [typed(f"v {found}")])) == differences


def test_schema_nested_fields_follow_the_policies_like_columns() -> None:
    spec = {
        "name": "addr", "type": "array<struct<zip:string,note:string,city:string>>",
        "fields": [
            {"name": "zip", "type": "string", "required": True},
            {"name": "note", "type": "string", "may_be_absent": True},
        ],
    }  # fmt: skip
    observed = [typed("addr array<struct<city:string,more:int>>")]
    assert said(check_schema(agreed(nested=(spec,), extra_fields="accept"), observed)) == [
        ("schema|missing_field", "x.parquet: 'addr.zip' is a missing field of the struct")
    ]


@pytest.mark.parametrize(
    ("field", "policy", "outcome"),
    [
        ("note string", {}, "broken"),
        ("note string may_be_absent", {}, "kept"),
        ("note string", {"missing_optional": "accept"}, "kept"),
        ("note string required", {"missing_optional": "accept"}, "broken"),
    ],
)
def test_schema_without_an_optional_column_follows_the_contract(
    field: str, policy: dict[str, str], outcome: str
) -> None:
    contract = agreed("id int", field, **policy)
    assert only(check_schema(contract, [typed("id int")])).outcome == outcome
    assert only(check_schema(contract, [keys(3, id=3)])).outcome == outcome
    assert only(check_schema(contract, [keys(3, id=3, note=0)])).outcome == outcome


def test_schema_kept_says_what_is_absent_and_ignored() -> None:
    contract = agreed("id int", "note string may_be_absent", extra_fields="accept")
    result = only(check_schema(contract, [typed("id int", "other int")]))
    assert result.found == "as agreed in 1 source; 1 other field ignored; 'note' absent where allowed"


def test_schema_with_a_column_not_agreed_is_unexpected_unless_accepted() -> None:
    observed = [typed("id int", "<img\x00> string")]
    assert said(check_schema(agreed("id int"), observed)) == [
        ("schema|unexpected_field", r"x.parquet: '\x3cimg\u0000\x3e'")
    ]
    assert only(check_schema(agreed("id int", extra_fields="accept"), observed)).outcome == "kept"


@pytest.mark.parametrize("extra", ["reject", "accept"])
def test_schema_in_another_letter_case_is_never_the_same_name(extra: str) -> None:
    contract = agreed("order_id string required", "amount decimal(10,2)", extra_fields=extra, missing_optional="accept")
    for observed in (keys(1, order_id=1, Amount=1), typed("order_id string", "Amount decimal(10,2)", place="x.jsonl")):
        assert said(check_schema(contract, [observed])) == [
            ("schema|case", "x.jsonl: 'Amount' where 'amount' is expected")
        ]


def test_schema_with_names_that_differ_only_in_case_is_a_duplicate() -> None:
    contract = agreed("id int", "name string", extra_fields="accept")
    assert said(check_schema(contract, [typed("id int", "name string", "Name string")])) == [
        ("schema|duplicate", "x.parquet: 'name' and 'Name'")
    ]
    assert said(check_schema(contract, [keys(9, id=9, name=4, NAME=5)])) == [
        ("schema|duplicate", "x.jsonl: 'name' and 'NAME'")
    ]


def test_schema_with_a_look_alike_name_shows_code_points() -> None:
    results = check_schema(agreed("amount int", extra_fields="accept"), [typed("\u0430mount int")])
    assert said(results) == [
        (
            "schema|missing_field",
            "x.parquet: missing column 'amount' (nearest found: '\u0430mount', U+0430 at character 1)",
        ),
        ("schema|unexpected_field", "x.parquet: '\u0430mount', which looks like 'amount' (U+0430 at character 1)"),
    ]


def test_schema_key_that_no_record_has_is_missing_with_the_nearest() -> None:
    result = check_schema(agreed("order_id string", "amount int required"), [keys(2, order_id=2, amuont=2)])[0]
    assert (result.check, result.found) == (
        "schema|missing_field",
        "x.jsonl: missing column 'amount' (nearest found: 'amuont')",
    )
    assert result.evidence == "scan"


def test_schema_key_that_looks_like_a_value_is_not_shown() -> None:
    observed = ObservedSchema(
        place="x.jsonl", columns=(ObservedColumn(name="id", rows=1), ObservedColumn(name="jo@example.org", rows=1))
    )
    assert said(check_schema(agreed("id int"), [observed])) == [
        ("schema|unexpected_field", "x.jsonl: a name that looks like a value (not shown)")
    ]


def test_schema_of_a_json_file_without_records_misses_nothing() -> None:
    assert only(check_schema(agreed("id int required"), [keys(0)])).outcome == "kept"
    assert only(check_schema(agreed("id int required"), [keys(2)])).check == "schema|missing_field"
    assert only(check_schema(agreed("id int required"), [typed()])).check == "schema|missing_field"


def test_schema_without_anything_to_compare_is_unverifiable() -> None:
    assert only(check_schema(agreed("id int"), [])).outcome == "unverifiable"
    assert only(check_schema(agreed(), [typed("id int")])).outcome == "unverifiable"


def test_schema_digest_follows_names_types_order_and_null() -> None:
    one = FieldSpec.model_validate({"name": "a", "type": "int"})
    two = FieldSpec.model_validate({"name": "b", "type": "string", "required": True})
    assert schema_digest((one, two)) == "e2911e4b03d57b312bb43315040e0989f7b316373696212cbe3ca3dd3c2a5b5f"
    assert (
        len(
            {
                schema_digest(f)
                for f in [(one, two), (two, one), (one,), (one.model_copy(update={"required": True}), two)]
            }
        )
        == 4
    )
    assert schema_digest((one,)) == schema_digest((one.model_copy(update={"description": "x", "min": "1"}),))


TYPES = st.sampled_from(["int", "bigint", "string", "decimal(10,2)", "struct<a:int>", "struct<a:bigint>", "array<int>"])


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["id", "amount", "city", "ID", "x"]), TYPES), max_size=4))
def test_schema_is_kept_exactly_when_names_and_types_are_those_of_the_contract(columns: list[tuple[str, str]]) -> None:
    observed = typed(*(f"{name} {type_}" for name, type_ in columns))
    results = check_schema(agreed(*SALES), [observed])
    is_agreed = sorted(columns) == [("amount", "decimal(10,2)"), ("city", "string"), ("id", "int")]
    assert all(result.outcome == ("kept" if is_agreed else "broken") for result in results)
