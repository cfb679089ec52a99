"""Rules that other parts of a contract bring: a key to deduplicate by is not blank, and a version holds since some time."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract.expression_names import ExpressionError
from invaract_orchestration.contract.expressions import parse_condition
from invaract_orchestration.contract.model import Contract, Phase, RowRule
from invaract_orchestration.contract.step_columns import rewritten_in_post
from invaract_orchestration.contract.transformations import Deduplicate


def implied_rules(contract: Contract) -> tuple[RowRule, ...]:
    """A rule `column|required_for_dedup` for each column of a key, in the phase of its step; and one for the time of versions.

    Where another rule asks for a value already, a row is not told of twice: only a text of nothing but spaces is left to ask for.
    """
    found: dict[str, RowRule] = {}
    for at, step in enumerate(contract.transformations):
        if isinstance(step.step, Deduplicate) and step.step.blank_keys == "quarantine":
            for column in step.step.on:
                sql = _condition(contract, column, step.step.blank)
                if sql is not None:
                    name = f"{column}|required_for_dedup"
                    phase = "pre" if step.runs_in == "pre" else _late(contract, at, column)
                    found.setdefault(name, RowRule.model_construct(name=name, sql=sql, phase=phase))
    versions = contract.publish.versions if contract.publish else None
    since = contract.field(versions.since) if versions is not None and versions.since else None
    if since is not None and not since.required:
        name = f"{since.name}|required_for_versions"
        sql = "`" + since.name.replace("`", "``") + "` IS NOT NULL"
        found[name] = RowRule.model_construct(name=name, sql=sql, phase="post" if contract.is_stepped else None)
    return tuple(found.values())


def _late(contract: Contract, at: int, column: str) -> Phase | None:
    """The phase of a rule for a post step: by default that of its column, which a later step may leave out."""
    before = contract.model_copy(update={"transformations": contract.transformations[:at]})
    rewritten = rewritten_in_post(before)
    return "post" if rewritten is None or column.lower() in rewritten else None


def _condition(contract: Contract, column: str, blank: str) -> str | None:
    name = "`" + column.replace("`", "``") + "`"
    has_value = f"length(trim(CAST({name} AS STRING))) > 0" if blank == "spaces" else f"{name} IS NOT NULL"
    if column.lower() not in set(_required(contract)):
        return has_value
    if blank == "missing":
        return None
    spec = contract.field(column)
    return f"{name} IS NULL OR {has_value}" if spec is None or spec.type == ft.STRING else None


def _required(contract: Contract) -> Iterator[str]:
    """The columns, in lower case, of which a check asks that no value is null."""
    for spec in contract.fields:
        if spec.required and spec.severity == "error":
            yield spec.name.lower()
    for rule in contract.quality.row_rules:
        try:
            tree = parse_condition(rule.sql).unnest()
        except ExpressionError:
            continue
        inner = tree.this.unnest() if isinstance(tree, exp.Not) else None
        is_null = isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null) and isinstance(inner.this, exp.Column)
        if rule.severity == "error" and inner is not None and is_null:
            yield inner.this.name.lower()
