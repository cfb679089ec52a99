"""The one number that a dataset rule's query gives, and whether its bounds hold it; the number itself is never kept."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from invaract_orchestration.contract.model import MustBe
from invaract_orchestration.errors import GateError

_NUMBER = re.compile(r"-?[0-9.]+(e[+-]?[0-9]+)?|nan|-?inf")


def only_number(rows: Sequence[Sequence[Any]], rule: str) -> Any:
    """The only value of a query's rows.

    Raises:
        GateError: the query gave no row, several rows or several columns.
    """
    if len(rows) == 1 and len(rows[0]) == 1:
        return rows[0][0]
    found = "no row" if not rows else f"{len(rows[0])} columns" if len(rows) == 1 else "several rows"
    raise GateError(f"dataset rule {rule!r}: the query must give one number, it gave {found}", code="dataset.query_shape")


def is_within(value: Any, bounds: MustBe, rule: str) -> bool | None:
    """Whether a number keeps the bounds; null is neither within nor without, NaN is without.

    Raises:
        GateError: it is no number.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not _NUMBER.fullmatch(str(value).lower()):
        raise GateError(f"dataset rule {rule!r}: the query gave no number", code="dataset.query_shape")
    number = Decimal(str(value))
    if number.is_nan():
        return False
    asked: tuple[tuple[str | None, Callable[[Decimal, Decimal], bool]], ...] = (
        (bounds.equal_to, operator.eq), (bounds.greater_than, operator.gt), (bounds.at_least, operator.ge),
        (bounds.less_than, operator.lt), (bounds.at_most, operator.le),
    )  # fmt: skip
    return all(is_kept(number, Decimal(bound)) for bound, is_kept in asked if bound is not None)
