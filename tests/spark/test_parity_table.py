"""The page on engines says what the tests say."""

from __future__ import annotations

from tests.spark.parity_table import PAGE, page


def test_parity_table_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.spark.parity_table --write"
