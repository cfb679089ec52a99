"""Patterns of the RE2 subset mean the same for Java's matcher."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from invaract_orchestration.contract.patterns import PatternError, check_pattern
from invaract_orchestration.engines.spark import patterns
from invaract_orchestration.engines.spark import sql_text as q

TEXTS = ["", "a", "A", "a\n", "\n", "a b", "\x0b", "é", "É", "ab", "a-b", "_", "a\r", "\u2028", "ß", "a1", "1", "x.y", "😀"]
PATTERNS = [
    "a", "a$", "^a$", r"\s", r"\S", r"\s*", ".", ".*", r"\w+", r"\bab\b", r"a\b.*", r"(?i)é", r"(?i)A", r"[\s]", r"[^\s]", r"[^a-z]",
    r"\d", "(?s).*", r"\Qx.y\E", r"a|1", r"\pL+", r"a\Bb", r"(?m)^a$", r"[a-z]{1,2}",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_pattern_matches_whole_texts_as_on_the_embedded_engine(spark: Any, pattern: str) -> None:
    check_pattern(pattern)
    assert matched(spark, pattern, TEXTS) == expected(pattern, TEXTS)


ATOMS = st.sampled_from(["a", "b", ".", r"\s", r"\S", r"\w", r"\d", "[a-c]", "[^a]", r"[\s1]", "é", r"\.", "(a|b)", "(?:1)", "$", "^"])
PIECES = st.tuples(ATOMS, st.sampled_from(["", "*", "+", "?", "{1,2}"])).map("".join)


@given(pattern=st.lists(PIECES, min_size=1, max_size=4).map("".join), texts=st.lists(st.text("ab1 \n\x0b\ré._", max_size=5), max_size=8))
def test_any_pattern_means_the_same(spark: Any, pattern: str, texts: list[str]) -> None:
    try:
        check_pattern(pattern)
    except PatternError:
        return
    assert matched(spark, pattern, texts) == expected(pattern, texts)


def matched(spark: Any, pattern: str, texts: list[str]) -> list[bool]:
    if not texts:
        return []
    columns = [f"{q.text(t)} RLIKE {q.text(patterns.whole(pattern))} AS c{i}" for i, t in enumerate(texts)]
    return list(spark.sql(f"SELECT {', '.join(columns)}").collect()[0])


def expected(pattern: str, texts: list[str]) -> list[bool]:
    with duckdb.connect() as own:
        return [own.execute("SELECT regexp_full_match(?, ?)", [t, pattern]).fetchall()[0][0] for t in texts]
