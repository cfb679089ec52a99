"""Expressions of a contract: row rules, the predicate of replaced rows, queries of dataset rules and their bounds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from invaract_orchestration.contract.dataset_queries import check_query
from invaract_orchestration.contract.expressions import ExpressionError, check_condition
from invaract_orchestration.contract.field_types import FieldType
from invaract_orchestration.contract.model import Contract, MustBe
from invaract_orchestration.contract.reference_checks import declared_columns
from invaract_orchestration.contract.report import Path, Report, shown
from invaract_orchestration.contract.step_columns import step_columns

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?\Z", re.ASCII)


def check_sql(contract: Contract, report: Report) -> None:
    """Report expressions that cannot be parsed, read unknown columns or call what engines evaluate differently."""
    columns = _column_types(contract, report)
    in_rows = _row_columns(contract, columns, report)
    for at, rule in enumerate(contract.quality.row_rules):
        path: Path = ("quality", "row_rules", at, "sql")
        if isinstance(rule.sql, str) and report.is_sound(path):
            _report(check_condition(rule.sql, in_rows), path, report)
    for at, dataset_rule in enumerate(contract.quality.dataset_rules):
        path = ("quality", "dataset_rules", at, "sql")
        if isinstance(dataset_rule.sql, str) and report.is_sound(path):
            _report(check_query(dataset_rule.sql, columns), path, report)
    if contract.publish is not None and contract.publish.where and report.is_sound(("publish", "where")):
        _report(check_condition(contract.publish.where, columns), ("publish", "where"), report)


def check_bounds(contract: Contract, report: Report) -> None:
    """Report bounds of dataset rules that are no numbers or that no number keeps."""
    for at, rule in enumerate(contract.quality.dataset_rules):
        path: Path = ("quality", "dataset_rules", at)
        count = rule.row_count
        if count is not None and count.min is not None and count.max is not None and count.min > count.max:
            message = f"min {count.min} is above max {count.max}: no number of rows is possible"
            report.add((*path, "row_count"), message)
        if rule.must_be is not None and report.is_sound((*path, "must_be")):
            _check_must_be((*path, "must_be"), rule.must_be, report)
        references = rule.references
        if references is not None and report.is_sound((*path, "references")):
            here, there = len(references.columns), len(references.key)
            if here != there:
                message = f"expected as many columns in 'key' as in 'columns', found {there} and {here}"
                report.add((*path, "references", "key"), message)


def _column_types(contract: Contract, report: Report) -> dict[str, FieldType | None] | None:
    """The type of each column, none where it is not known; none at all where the names are not known."""
    if declared_columns(contract, report) is None:
        return None
    fields = enumerate(contract.fields)
    return {f.name: f.type if report.is_sound(("fields", at, "type")) else None for at, f in fields}


def _row_columns(
    contract: Contract, columns: dict[str, FieldType | None] | None, report: Report
) -> dict[str, FieldType | None] | None:
    """What a row rule may read: with steps also the columns that only arrive, or only stand between the phases."""
    if columns is None or not contract.transformations or not report.is_sound(("transformations",)):
        return columns
    if not report.is_sound(("source",)):
        return None
    if not contract.source or not contract.source.fields:
        return None  # the columns that arrive are known at the run only, and it looks at the rules again
    found = step_columns(contract)
    every = (*columns, *found.sources, *found.after_pre, *found.after)
    rows: dict[str, FieldType | None] = dict.fromkeys({n.lower(): n for n in reversed(every)}.values())
    return rows


def _report(errors: list[ExpressionError], path: Path, report: Report) -> None:
    for error in errors:
        report.add(path, str(error), hint=error.hint, offset=error.offset, code="contract.expression")


def _check_must_be(path: Path, bounds: MustBe, report: Report) -> None:
    values: Mapping[str, str] = bounds.model_dump(exclude_none=True)
    for key, text in values.items():
        if not _NUMBER.match(text):
            report.add((*path, key), f"expected a number, found {shown(text)}")
    if not report.is_sound(path):
        return
    numbers = {key: Decimal(text) for key, text in values.items()}
    if "equal_to" in numbers and len(numbers) > 1:
        report.add(path, "'equal_to' stands alone: another bound adds nothing or contradicts it")
        return
    lows = [(numbers[k], k) for k in ("greater_than", "at_least") if k in numbers]
    highs = [(numbers[k], k) for k in ("less_than", "at_most") if k in numbers]
    for low, low_key in lows:
        for high, high_key in highs:
            is_strict = (low_key, high_key) != ("at_least", "at_most")
            if low > high or (low == high and is_strict):
                pair = f"'{low_key}' {shown(values[low_key])} and '{high_key}' {shown(values[high_key])}"
                message = f"{pair} leave no number"
                report.add((*path, low_key), message)
