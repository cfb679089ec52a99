"""Double quotes around the name of a column: Spark SQL reads a text there, and other databases the column."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlglot import TokenType, tokenize
from sqlglot.errors import SqlglotError

from invaract_orchestration.contract.model import Contract
from invaract_orchestration.contract.report import Path, Report, shown
from invaract_orchestration.contract.step_columns import step_columns
from invaract_orchestration.contract.transformations import Derive, Filter, Rollup


def check_quotes(contract: Contract, report: Report) -> None:
    """Report texts in double quotes that are names of columns: a rule over such a text says nothing of the column."""
    known = {f.name.lower() for f in contract.fields if isinstance(f.name, str)}
    if all(report.is_sound((part,)) for part in ("transformations", "source", "fields")):
        found = step_columns(contract)
        known |= {n.lower() for n in (*found.sources, *found.after_pre, *found.after)}
    for path, sql in _expressions(contract, report):
        if not isinstance(sql, str) or not report.is_sound(path):
            continue
        for name, offset in _quoted(sql, known):
            report.add(
                path, f'"{name}" is a text in Spark SQL, and there is a column of that name', offset=offset,
                hint=f"write `{name}` for the column, or {shown(name)} for the text", code="contract.expression",
            )  # fmt: skip


def _expressions(contract: Contract, report: Report) -> Iterator[tuple[Path, str | None]]:
    for at, rule in enumerate(contract.quality.row_rules):
        yield ("quality", "row_rules", at, "sql"), rule.sql
    for at, dataset_rule in enumerate(contract.quality.dataset_rules):
        yield ("quality", "dataset_rules", at, "sql"), dataset_rule.sql
    for at, step in enumerate(contract.transformations if report.is_sound(("transformations",)) else ()):
        path: Path = ("transformations", at, step.kind)
        match step.step:
            case Filter() | Derive():
                yield (*path, "sql"), step.step.sql
            case Rollup():
                for name, sql in step.step.aggregations.items():
                    yield (*path, "aggregations", name), sql
            case str():
                yield path, step.step
    if contract.publish is not None:
        yield ("publish", "where"), contract.publish.where


def _quoted(sql: str, known: Collection[str]) -> Iterator[tuple[str, int]]:
    try:
        tokens = tokenize(sql, read="spark")
    except SqlglotError:
        return  # it is reported where it stands
    for token in tokens:
        if token.token_type is TokenType.STRING and sql[token.start : token.start + 1] == '"' and token.text.lower() in known:
            yield token.text, token.start
