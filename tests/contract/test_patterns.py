"""Patterns of the RE2 subset."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invaract_orchestration.contract.patterns import PatternError, check_pattern, find_refusal


@pytest.mark.parametrize(
    "pattern",
    [
        "", "a|b|", r"[^@\s]+@[^@\s]+", "[A-Z]{3}[0-9]{3}", "(?:ab)+?", r"\pL\p{Lu}+", r"[\w.-]+", r"\x41\x{20AC}",
        "(?i)abc", "(?-i:x)", r"\Qa.b\E", "[a-]", "^abc$", r"\bfoo\b", "(|a)*", r"[\x41-\x5a]", r"[^\]]", "a{0}",
    ],
)  # fmt: skip
def test_pattern_of_the_subset_is_taken(pattern: str) -> None:
    check_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "offset", "what"),
    [
        ("(?=a)", 0, "a look-ahead"), ("a(?!b)", 1, "a look-ahead"), ("(?<=a)b", 0, "a look-behind"),
        ("(?<!a)b", 0, "a look-behind"), (r"(a)\1", 3, "a back reference"), (r"\k<n>", 0, "a back reference"),
        ("a++", 2, "a possessive repeat"), ("a{2}+", 4, "a possessive repeat"), ("(?>a)", 0, "an atomic group"),
        ("(?P<n>a)", 0, "a named group"), ("(?<n>a)", 0, "a named group"), ("(?x)a", 0, "'(?x'"),
        ("[[:alpha:]]", 1, "'[' inside a class"), ("[a&&b]", 2, "'&&' inside a class"), (r"\Z", 0, "the end"),
        (r"\u0041", 0, r"\u"), (r"\012", 0, "an octal escape"), (r"\h", 0, r"\h"), ("a**", 2, "nothing to repeat"),
        ("*a", 0, "nothing to repeat"), ("(a", 0, "is not closed"), ("a)", 1, "without its '('"),
        ("[a", 0, "is not closed"), ("[z-a]", 3, "a range"), (r"[a-\d]", 3, "a range"), ("a{3,2}", 1, "wrong order"),
        (r"\d{1001}", 2, "more than 1000"), ("(a{100}){100}", 8, "more than 1000"), ("a{2", 1, "'{'"),
        ("x{,3}", 1, "'{'"), ("\\", 0, "at the end"), (r"[\b]", 1, r"'\b'"), ("[]a]", 1, "start of a class"),
    ],
)  # fmt: skip
def test_pattern_outside_of_the_subset_is_refused_with_its_place(pattern: str, offset: int, what: str) -> None:
    with pytest.raises(PatternError) as caught:
        check_pattern(pattern)
    assert caught.value.offset == offset
    assert what in str(caught.value)


@pytest.fixture(scope="module")
def engine() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


@settings(max_examples=1500)
@given(pattern=st.text(alphabet="ab01()[]{}*+?|^$.\\-,:<=!&xdDwWsSbBzApPQELui é", max_size=10))
def test_every_pattern_that_is_taken_runs(engine: duckdb.DuckDBPyConnection, pattern: str) -> None:
    try:
        check_pattern(pattern)
    except PatternError:
        return
    engine.execute("select regexp_full_match('x', ?)", [pattern])


@pytest.mark.parametrize(
    ("pattern", "value", "refused"),
    [
        ("[A-Z]{3}", "ABC", False), ("[A-Z]{3}", "ABCD", True), ("a|b", "ab", True), ("abc", "abc\n", True),
        ("(a+)+", "a" * 60 + "b", None), (".*.*.*x", "a", None), (r"\pL", "a", None), ("a", "a" * 500, None),
    ],
)  # fmt: skip
def test_refusal_of_a_value_is_told_where_that_is_cheap(pattern: str, value: str, refused: bool | None) -> None:
    assert find_refusal(pattern, value) is refused
