from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.errors import UsageError
from invaract_orchestration.intake.parameters import (
    UnfitValue,
    UnsafeName,
    check_identifier,
    check_parameters,
    check_partition,
    fill,
    placeholders,
)


def test_fill_every_placeholder_given_replaces_all() -> None:
    assert (
        fill("in/{region}/{day}/{day}.csv", {"day": "2026-01-02", "region": "eu"}) == "in/eu/2026-01-02/2026-01-02.csv"
    )


def test_fill_unused_parameter_is_left_alone() -> None:
    assert fill("in/*.csv", {"day": "2026-01-02"}) == "in/*.csv"


def test_fill_missing_parameters_names_all_of_them() -> None:
    with pytest.raises(UsageError) as raised:
        fill("in/{region}/{day}.csv", {"dya": "x"})
    assert str(raised.value) == ("parameter 'region', 'day' is needed and not given\nHint: given: 'dya'")
    assert raised.value.code == "usage"


def test_fill_misspelt_parameter_says_the_close_name() -> None:
    with pytest.raises(UsageError, match="did you mean 'day' for 'dya'"):
        fill("in/{day}.csv", {"dya": "x"})


@pytest.mark.parametrize("location", ["in/{day", "in/day}", "in/{a b}.csv", "in/{}.csv", "in/{{day}}.csv"])
def test_fill_brace_without_a_name_is_refused(location: str) -> None:
    with pytest.raises(UsageError, match="brace"):
        fill(location, {"day": "1"})


def test_fill_value_with_braces_is_never_filled_again() -> None:
    with pytest.raises(UnsafeName):
        fill("in/{a}.csv", {"a": "{b}", "b": "x"})


@pytest.mark.parametrize(
    "value",
    [
        "../../outside", "/tmp/outside", "..", ".", "a/b", "a\\b", "a..b", "", "x" * 201, "a b", "a\nb", "a\0b", "*",
        "a?b", "[ab]", "<b>", "a'b", 'a"b', "`x`", "a;b", "a--b", "1 OR 1=1", "%2e%2e%2f", "a\u202eb", "a\u200bb",
        "$HOME", "~/x", "e\u0301", "\ud800", "\u2215etc", "\uff0e\uff0e\uff0f",
    ],
)  # fmt: skip
def test_identifier_that_could_leave_its_place_is_unsafe(value: str) -> None:
    with pytest.raises(UnsafeName) as raised:
        check_identifier("submission id", value)
    assert raised.value.code == "input.unsafe_name"
    assert all(line.isprintable() for line in str(raised.value).split("\n"))
    assert "<" not in str(raised.value)


@pytest.mark.parametrize(
    "value",
    ["2026-01-02", "2026-01-02T00:00:00+00:00", "manual__1", "a.b-c", "a@b", "day=1", "us|2026", "Zürich", "東京"],
)
def test_identifier_of_letters_digits_and_marks_is_itself(value: str) -> None:
    assert check_identifier("submission id", value) == value


def test_identifier_message_says_the_place_and_the_way_out() -> None:
    with pytest.raises(UnsafeName) as raised:
        check_identifier("submission id", "../../outside")
    assert str(raised.value) == (
        "submission id '../../outside' is not allowed: character 3 (U+002F) is not one of the allowed ones\n"
        "Hint: use letters, digits and + , - . : = @ _ | ~, at most 200 characters, without '..' and '--'"
    )


@settings(deadline=None)
@given(st.text(max_size=30))
def test_identifier_any_text_is_itself_or_unsafe(value: str) -> None:
    try:
        assert check_identifier("id", value) == value
    except UnsafeName:
        return
    assert not set(value) & set("/\\<>'\"`*?[]{};\0\n %$")
    assert ".." not in value


def test_parameters_unknown_name_is_refused_with_the_known() -> None:
    with pytest.raises(UsageError) as raised:
        check_parameters({"day": "1", "month": "2"}, "in/{day}", "{day}")
    assert str(raised.value) == "parameter 'month' is used nowhere in the contract\nHint: known: 'day'"


def test_parameters_used_in_any_text_are_fine() -> None:
    check_parameters({"day": "1", "region": "eu"}, "in/{day}", "{region}")


def test_parameter_name_with_markup_is_unsafe() -> None:
    with pytest.raises(UnsafeName):
        check_parameters({"<b>": "1"}, "x")


def test_placeholders_each_once_in_order() -> None:
    assert placeholders("{b}/{a}/{b}") == ("b", "a")


@pytest.mark.parametrize(("value", "kind"), [(5, "int"), (None, "NoneType"), (True, "bool"), (["a"], "list")])
def test_value_that_is_no_text_is_misuse_and_not_shown(value: object, kind: str) -> None:
    with pytest.raises(UsageError) as raised:
        check_parameters({"day": value}, "in/{day}.csv")  # type: ignore[dict-item]
    assert str(raised.value) == (
        f"the value of parameter 'day' is of type {kind}, and only a text is taken\nHint: give it as a text, such as '2026'"
    )
    assert not isinstance(raised.value, UnsafeName)


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        ("date", "2026-02-30", "a day that exists"), ("date", "2026", "a date such as"), ("date", "2026-2-1", "a date such as"),
        ("int", "007", "a whole number"), ("int", "7.0", "a whole number"), ("boolean", "True", "true or false"),
    ],
)  # fmt: skip
def test_partition_of_a_value_that_no_row_can_have_is_refused(type_: str, value: str, expected: str) -> None:
    contract = load_contract_text(
        f"contract: a\nfields: [{{name: p, type: {type_}}}]\npublish: {{target: x.y, partition: {{p: '{{v}}'}}}}\n"
    )
    with pytest.raises(UnfitValue, match=expected):
        check_partition(contract.filled(lambda text: fill(text, {"v": value}), datetime(2026, 1, 1, tzinfo=UTC)))


def test_partition_in_the_form_of_its_type_is_taken() -> None:
    contract = load_contract_text("contract: a\nfields: [{name: p, type: date}]\npublish: {target: x.y, partition: {p: '{v}'}}\n")
    check_partition(contract.filled(lambda text: fill(text, {"v": "2024-02-29"}), datetime(2026, 1, 1, tzinfo=UTC)))
    check_partition(load_contract_text("contract: a\n"))
