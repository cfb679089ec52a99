from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invaract_orchestration.checks.header import check_headers, match_columns
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.intake.csv_header import FileHeader, HeaderProblem
from invaract_orchestration.intake.listing import ListedFile, partition_of

ORDERS = ("order_id string required", "item_cost decimal(10,2)", "ship_cost decimal(10,2)")
CITIES = ("id int required", "amount decimal(10,2) required", "city string required")


def agreed(*fields: str, header: str = "exact", delimiter: str = ",", **policy: str) -> Contract:
    specs: list[dict[str, Any]] = []
    for field in fields:
        name, type_, *flags = field.split(" ")
        specs.append({"name": name.replace("~", " "), "type": type_, **dict.fromkeys(flags, True)})
    source = {"location": "in", "header": header, "options": {"delimiter": delimiter}}
    return Contract.model_validate({"contract": "c", "source": source, "fields": specs, "schema_policy": policy})


def file(*names: str, name: str = "x.csv", problem: HeaderProblem | None = None) -> FileHeader:
    listed = ListedFile(path=Path(name), name=name, size=1, modified_ns=0, partition=partition_of(name.split("/")[:-1]))
    return FileHeader(file=listed, names=names, problems=(problem,) if problem else ())


def only(results: tuple[CheckResult, ...]) -> CheckResult:
    assert [result.check for result in results] == [results[0].check]
    return results[0]


def ids(results: tuple[CheckResult, ...]) -> list[str]:
    return [result.check for result in results]


def test_header_as_agreed_is_kept_once_for_all_files() -> None:
    names = ("order_id", "item_cost", "ship_cost")
    result = only(check_headers(agreed(*ORDERS), [file(*names), file(*names, name="y.csv")]))
    assert result == CheckResult(
        check="header|columns",
        stage="header",
        outcome="kept",
        expected="3 columns in this order: 'order_id', 'item_cost', 'ship_cost'",
        found="as agreed in 2 files",
        evidence="header",
    )


def test_header_with_swapped_columns_names_both_positions() -> None:
    result = only(check_headers(agreed(*ORDERS), [file("order_id", "ship_cost", "item_cost", name="orders.csv")]))
    assert result == CheckResult(
        check="header|order",
        stage="header",
        outcome="broken",
        expected="the columns in the order of the contract: 3 columns in this order: 'order_id', 'item_cost', "
        "'ship_cost'",
        found="orders.csv: 'ship_cost' at position 2 where 'item_cost' is expected, which stands at position 3, "
        "'item_cost' at position 3 where 'ship_cost' is expected, which stands at position 2",
        evidence="header",
        hint="restore the order, or declare source.header: names when the order is free",
        place="orders.csv",
    )
    assert result.is_blocking


def test_header_in_another_order_is_kept_when_only_names_count() -> None:
    contract = agreed(*ORDERS, header="names")
    headers = file("ship_cost", "order_id", "item_cost")
    assert only(check_headers(contract, [headers])).outcome == "kept"
    assert match_columns(contract, headers) == ("ship_cost", "order_id", "item_cost")


def test_header_of_every_file_is_judged_and_the_wrong_one_named() -> None:
    good, bad = ("id", "amount", "city"), ("amount", "id", "city")
    headers = [file(*good, name=f"part-{i}.csv") for i in range(4)] + [file(*bad, name="part-4.csv")]
    result = only(check_headers(agreed(*CITIES), headers))
    assert (result.check, result.place) == ("header|order", "part-4.csv")
    assert result.found.startswith("in 1 of 5 files: part-4.csv: 'amount' at position 1 where 'id' is expected")


def test_header_broken_in_many_files_shows_the_first_and_counts_the_rest() -> None:
    headers = [file("id", "amount", "city", "extra", name=f"p{i}.csv") for i in range(9)]
    result = only(check_headers(agreed(*CITIES), headers))
    assert result.found == (
        "in 9 of 9 files: p0.csv: 'extra' at position 4; p1.csv: 'extra' at position 4; p2.csv: 'extra' at position 4; "
        "and 6 more files"
    )


def test_header_with_a_column_in_the_middle_is_unexpected_at_its_position() -> None:
    result = only(check_headers(agreed(*CITIES), [file("id", "discount", "amount", "city")]))
    assert (result.check, result.found) == ("header|unexpected_column", "x.csv: 'discount' at position 2")


def test_header_with_an_extra_column_is_kept_and_feeds_nothing_when_accepted() -> None:
    contract = agreed(*CITIES, extra_fields="accept")
    header = file("id", "discount", "amount", "city")
    result = only(check_headers(contract, [header]))
    assert (result.outcome, result.found) == ("kept", "as agreed in 1 file; 1 other column ignored")
    assert match_columns(contract, header) == ("id", None, "amount", "city")


def test_header_with_a_name_that_is_sql_shows_it_escaped() -> None:
    result = only(check_headers(agreed("id int", "v int"), [file("id", "v", "`x` IS NULL OR 1=1 --")]))
    assert result.found == r"x.csv: '\x60x\x60 IS NULL OR 1=1 --' at position 3"


def test_header_with_a_name_that_is_markup_shows_it_escaped() -> None:
    result = only(check_headers(agreed("id int", "v int"), [file("id", "v", "<img src=x onerror=alert(1)>")]))
    assert result.found == r"x.csv: '\x3cimg src=x onerror=alert(1)\x3e' at position 3"


def test_header_with_control_characters_and_long_names_stays_one_short_line() -> None:
    result = only(check_headers(agreed("id int"), [file("id", "a\x1b[2Jb\r\n\u202e", "x" * 500)]))
    assert result.found == rf"x.csv: 'a\u001b[2Jb\r\n\u202e' at position 2, '{'x' * 64}...' at position 3"


def test_header_with_many_unexpected_columns_names_ten() -> None:
    result = only(check_headers(agreed("id int"), [file("id", *(f"c_{i}" for i in range(30)))]))
    assert result.found.endswith("'c_9' at position 11 and 20 more")


def test_header_without_a_column_says_where_it_is_expected_and_what_is_near() -> None:
    results = check_headers(agreed(*CITIES), [file("id", "amout", "city")])
    assert ids(results) == ["header|missing_column", "header|unexpected_column"]
    assert results[0].found == "x.csv: 'amount' (expected at position 2, the nearest found is 'amout')"


@pytest.mark.parametrize(
    ("field", "policy", "check"),
    [
        ("note string", {}, "header|missing_column"),
        ("note string may_be_absent", {}, "header|columns"),
        ("note string", {"missing_optional": "accept"}, "header|columns"),
        ("note string required", {"missing_optional": "accept"}, "header|missing_column"),
        ("note string", {"extra_fields": "accept"}, "header|missing_column"),
    ],
)
def test_header_without_an_optional_column_follows_the_contract(field: str, policy: dict[str, str], check: str) -> None:
    assert ids(check_headers(agreed("id int", field, **policy), [file("id")])) == [check]


def test_header_without_an_absent_column_keeps_the_order_of_the_rest() -> None:
    contract = agreed("id int", "note string may_be_absent", "city string")
    result = only(check_headers(contract, [file("id", "city"), file("id", "note", "city")]))
    assert (result.outcome, result.found) == ("kept", "as agreed in 2 files; 'note' absent where allowed")
    assert ids(check_headers(contract, [file("city", "id")])) == ["header|order"]


def test_header_misspelt_absent_column_is_not_taken_for_absence() -> None:
    contract = agreed("id int", "note string may_be_absent")
    assert ids(check_headers(contract, [file("id", "Note")])) == ["header|case"]
    assert ids(check_headers(contract, [file("id", "notes")])) == ["header|unexpected_column"]


@pytest.mark.parametrize("header", ["exact", "names"])
def test_header_with_names_that_differ_only_in_case_is_a_duplicate_even_if_extra_is_fine(header: str) -> None:
    contract = agreed("id int", "name string", header=header, extra_fields="accept")
    result = only(check_headers(contract, [file("id", "Name", "name")]))
    assert (result.check, result.found) == ("header|duplicate", "x.csv: 'Name' at position 2 and 'name' at position 3")


def test_header_with_a_name_twice_is_a_duplicate_and_feeds_once() -> None:
    contract = agreed("id int", "name string", extra_fields="accept")
    header = file("id", "name", "name")
    assert ids(check_headers(contract, [header])) == ["header|duplicate"]
    assert match_columns(contract, header) == ("id", "name", None)
    assert ids(check_headers(contract, [file("id", "name", "x", "X")])) == ["header|duplicate"]


def test_header_in_another_letter_case_is_broken_by_case_alone() -> None:
    result = only(check_headers(agreed("order_id string", "amount int"), [file("Order_ID", "Amount")]))
    assert (result.check, result.found) == (
        "header|case",
        "x.csv: 'Order_ID' at position 1 where 'order_id' is expected, 'Amount' at position 2 where 'amount' is "
        "expected",
    )
    assert match_columns(agreed("order_id string"), file("Order_ID")) == (None,)


def test_header_with_blanks_around_names_quotes_them() -> None:
    result = only(check_headers(agreed(*CITIES), [file("id", " amount", "city ")]))
    assert (result.check, result.found) == (
        "header|whitespace",
        "x.csv: ' amount' at position 2 where 'amount' is expected, 'city ' at position 3 where 'city' is expected",
    )


def test_header_with_stray_quotes_around_names_is_broken_by_them() -> None:
    assert ids(check_headers(agreed(*CITIES), [file("id", ' "amount"', "'city'")])) == ["header|whitespace"]


def test_header_with_look_alike_letters_shows_code_points() -> None:
    result = only(check_headers(agreed(*CITIES), [file("id", "\u0430mount", "city\u00a0")]))
    assert (result.check, result.found) == (
        "header|mismatch",
        "x.csv: '\u0430mount' at position 2 where 'amount' is expected (looks the same: U+0430 at character 1), "
        r"'city\u00a0' at position 3 where 'city' is expected (looks the same: U+00A0 at character 5)",
    )


@pytest.mark.parametrize(
    "name",
    ["ci\u200bty", "\ufeffcity", "c\u0456ty", "\uff43ity", "ci\u00adty", "\u03f2ity", "ci\u202ety", "city\u3000"],
)
def test_header_with_an_invisible_difference_is_a_mismatch_with_code_points(name: str) -> None:
    result = only(check_headers(agreed(*CITIES, extra_fields="accept"), [file("id", "amount", name)]))
    assert result.check == "header|mismatch"
    assert "U+" in result.found


def test_header_with_a_decomposed_name_is_no_same_name() -> None:
    result = only(check_headers(agreed("id int", "caf\u00e9 string"), [file("id", "cafe\u0301")]))
    assert result.check == "header|mismatch"
    assert "(looks the same: U+0301 at character 5)" in result.found


def test_header_with_a_look_alike_beside_the_true_column_is_broken_even_if_extra_is_fine() -> None:
    contract = agreed(*CITIES, extra_fields="accept")
    assert ids(check_headers(contract, [file("id", "amount", "city", "\u0430mount")])) == ["header|mismatch"]


def test_header_with_names_of_the_contract_in_other_scripts_is_fine() -> None:
    contract = agreed("\u0446\u0435\u043d\u0430 int", "\u5099\u8003 string")
    assert only(check_headers(contract, [file("\u0446\u0435\u043d\u0430", "\u5099\u8003")])).outcome == "kept"


def test_header_with_literal_names_is_compared_to_the_letter() -> None:
    contract = agreed("order~no. string", "a`b string")
    assert only(check_headers(contract, [file("order no.", "a`b")])).outcome == "kept"


def test_header_with_a_blank_name_says_the_column() -> None:
    result = only(check_headers(agreed("id int", "amount int"), [file("id", "amount", "")]))
    assert (result.check, result.found) == (
        "header|blank_name",
        "x.csv: column 3 has no name: the line ends with a delimiter",
    )


def test_header_with_a_blank_name_in_the_middle_is_broken_even_if_extra_is_fine() -> None:
    result = only(
        check_headers(agreed("id int", "amount int", extra_fields="accept"), [file("id", "\u00a0", "amount")])
    )
    assert (result.check, result.found) == ("header|blank_name", "x.csv: column 2 has no name")


@pytest.mark.parametrize(
    ("line", "declared", "found"),
    [
        ("id;amount;city", ",", ";"),
        ("id\tamount\tcity", ",", r"\t"),
        ("id|amount|city", ",", "|"),
        ("id,amount,city", ";", ","),
        ("ID; Amount; City", ",", ";"),
    ],
)
def test_header_written_with_another_delimiter_is_said_to_be(line: str, declared: str, found: str) -> None:
    result = only(check_headers(agreed(*CITIES, delimiter=declared), [file(line)]))
    assert result.check == "header|mismatch"
    assert f"split by '{found}' it holds 3 of the contract's 3 names: the delimiter looks wrong" in result.found


def test_header_wrong_delimiter_is_seen_where_a_name_holds_the_declared_one() -> None:
    result = only(check_headers(agreed(*CITIES), [file("id;amount", " EUR;city")]))
    assert "the delimiter looks wrong" in result.found


def test_header_of_a_spreadsheet_sep_line_is_told() -> None:
    result = only(check_headers(agreed(*CITIES, delimiter=";"), [file("sep=", "")]))
    assert (result.check, result.found) == (
        "header|mismatch",
        "x.csv: the first line is a spreadsheet's 'sep=' line, not a header",
    )


@pytest.mark.parametrize("header", ["exact", "names"])
def test_header_that_is_a_line_of_data_shows_no_cell(header: str) -> None:
    result = only(
        check_headers(agreed(*CITIES, header=header, extra_fields="accept"), [file("CANARY", "7.50", "Rome")])
    )
    assert (result.check, result.found) == (
        "header|missing",
        "x.csv: none of the 3 names of the first line is in the contract: the line looks like data, or like the header "
        "of another table (its names are not shown, as they may be data)",
    )


def test_header_with_few_known_names_hides_what_looks_like_a_value() -> None:
    contract = agreed("status string", "a int", "b int", "c int", "d int")
    result = check_headers(contract, [file("status", "2026-01-02", "a@b.org", "+49 30 1234", "x")])[1]
    assert result.check == "header|unexpected_column"
    assert result.found == (
        "x.csv: a name that looks like a value (not shown) at position 2, a name that looks like a value (not shown) "
        "at position 3, a name that looks like a value (not shown) at position 4, 'x' at position 5"
    )


@pytest.mark.parametrize(
    ("code", "check"),
    [
        ("header.missing", "header|missing"),
        ("header.malformed", "header|mismatch"),
        ("input.encoding", "header|encoding"),
    ],
)
def test_header_that_could_not_be_read_is_broken_with_the_reason(code: Any, check: str) -> None:
    problem = HeaderProblem(code=code, sentence="the file is empty (0 bytes)")
    result = only(check_headers(agreed(*CITIES), [file("id", "amount", "city"), file(name="e.csv", problem=problem)]))
    assert (result.check, result.place) == (check, "e.csv")
    assert result.found == "in 1 of 2 files: e.csv: the file is empty (0 bytes)"


def test_header_columns_from_folders_are_there_outside_of_the_order() -> None:
    contract = agreed("id int", "store string required", "city string")
    header = file("id", "city", name="store=007/p.csv")
    assert only(check_headers(contract, [header])).outcome == "kept"
    assert match_columns(contract, header) == ("id", "city")


def test_header_columns_from_folders_in_another_case_or_not_agreed_are_told() -> None:
    contract = agreed("id int", "store string required")
    assert ids(check_headers(contract, [file("id", name="Store=007/p.csv")])) == [
        "header|missing_column",
        "header|unexpected_column",
    ]
    result = only(check_headers(agreed("id int"), [file("id", name="run=7/p.csv")]))
    assert result.found == "run=7/p.csv: 'run' in a folder's name"
    assert (
        only(check_headers(agreed("id int", extra_fields="accept"), [file("id", name="run=7/p.csv")])).outcome == "kept"
    )


def test_header_column_in_the_file_and_in_its_folder_is_a_duplicate() -> None:
    contract = agreed("id int", "store string")
    result = only(check_headers(contract, [file("id", "store", name="store=007/p.csv")]))
    assert (result.check, result.found) == (
        "header|duplicate",
        "store=007/p.csv: 'store' in a folder's name and 'store' at position 2",
    )


def test_header_column_that_only_some_folders_say_is_missing_in_the_others() -> None:
    contract = agreed("id int", "store string")
    headers = [file("id", name="p.csv"), file("id", name="store=1/p.csv")]
    result = only(check_headers(contract, headers))
    assert (result.check, result.place) == ("header|missing_column", "p.csv")


def test_header_folder_of_the_location_gives_way_to_the_files_own_column() -> None:
    listed = ListedFile(path=Path("p.csv"), name="p.csv", size=1, modified_ns=0, partition=(("day", "2026-01-02"),))
    contract = agreed("id int", "day date")
    inside = FileHeader(file=listed, names=("id", "day"))
    assert only(check_headers(contract, [inside])).outcome == "kept"
    assert match_columns(contract, inside) == ("id", "day")
    assert only(check_headers(contract, [FileHeader(file=listed, names=("id",))])).outcome == "kept"
    assert only(check_headers(agreed("id int"), [FileHeader(file=listed, names=("id",))])).outcome == "kept"


def test_header_by_position_feeds_fields_whatever_the_names() -> None:
    contract = agreed(*CITIES, header="positional")
    header = file("Nr.", "Betrag", "")
    assert only(check_headers(contract, [header])).outcome == "kept"
    assert match_columns(contract, header) == ("id", "amount", "city")


@pytest.mark.parametrize(
    ("names", "check", "found"),
    [
        (("a", "b", "c", "d"), "header|unexpected_column", "x.csv: 4 columns found, expected 3"),
        (("a", "b"), "header|missing_column", "x.csv: 'city' (expected at position 3, 2 found)"),
        (
            ("7", "CANARY", "CANARY"),
            "header|missing",
            "x.csv: the first line looks like data: a value in place of a name at position 1",
        ),
    ],
)
def test_header_by_position_counts_columns_and_wants_a_header_line(
    names: tuple[str, ...], check: str, found: str
) -> None:
    result = only(check_headers(agreed(*CITIES, header="positional"), [file(*names)]))
    assert (result.check, result.found) == (check, found)


def test_header_without_any_file_or_field_is_unverifiable() -> None:
    assert only(check_headers(agreed(*CITIES), [])).outcome == "unverifiable"
    assert only(check_headers(agreed(), [file("id")])).outcome == "unverifiable"


def test_header_of_a_thousand_files_with_a_thousand_columns_is_quick() -> None:
    names = [f"column_{i}" for i in range(1000)]
    contract = agreed(*(f"{name} int" for name in names))
    headers = [file(*names[1:], "other", name=f"p{i}.csv") for i in range(1000)]
    assert ids(check_headers(contract, headers)) == ["header|missing_column", "header|unexpected_column"]


ALPHABET = st.sampled_from(
    ["id", "amount", "city", "ID", " id", "c\u0456ty", "", "other", "7", "id;amount;city", "<b>\n"]
)


@settings(max_examples=400, deadline=None)
@given(names=st.lists(ALPHABET, min_size=1, max_size=5).map(tuple))
def test_header_is_kept_exactly_when_its_names_are_those_of_the_contract(names: tuple[str, ...]) -> None:
    results = check_headers(agreed(*CITIES), [file(*names)])
    assert all(result.outcome == ("kept" if names == ("id", "amount", "city") else "broken") for result in results)
    assert all(result.found.isprintable() and "<" not in result.found for result in results)


@settings(max_examples=400, deadline=None)
@given(names=st.lists(ALPHABET, min_size=1, max_size=5).map(tuple))
def test_header_by_names_is_kept_only_when_each_field_is_fed_once(names: tuple[str, ...]) -> None:
    contract = agreed(*CITIES, header="names", extra_fields="accept")
    results = check_headers(contract, [file(*names)])
    if results[0].outcome == "kept":
        assert sorted(filter(None, match_columns(contract, file(*names)))) == ["amount", "city", "id"]
        assert set(names) <= {"id", "amount", "city", "other", "7", "id;amount;city", "<b>\n"}
