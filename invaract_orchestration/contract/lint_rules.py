"""Findings about keys, row rules and dataset rules."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from invaract_orchestration.contract.expressions import ExpressionError, columns_read, parse_condition
from invaract_orchestration.contract.lint_finding import LintFinding, Path
from invaract_orchestration.contract.model import Contract, Key, RowRule

_NEVER_TRUE_WITH_NULL = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like)


def lint_rules(contract: Contract) -> Iterator[LintFinding]:
    """Findings about keys and rules."""
    yield from _keys(contract)
    yield from _row_rules(contract)
    yield from _dataset_rules(contract)


def _required(contract: Contract) -> set[str]:
    """The columns without a null in anything that is published: a warning only says that there are some."""
    return {f.name for f in contract.fields if f.required and f.severity == "error"}


def _keys(contract: Contract) -> Iterator[LintFinding]:
    required = _required(contract)
    unique = {f.name: Key(columns=(f.name,), severity=f.severity) for f in contract.fields if f.unique}
    all_keys = contract.all_keys()
    for at, key in enumerate(contract.keys):
        path: Path = ("keys", at)
        for name in key.columns:
            if name not in required and key.nulls == "fail" and contract.field(name) is not None:
                yield LintFinding(
                    code="KEY-001", level="warning", path=path,
                    message=f"key column {name!r} is not required, and a null in a key is a failure",
                    hint=f"write required: true on {name!r}, or nulls: distinct or ignore on the key",
                )  # fmt: skip
        smaller = [k for k in all_keys if set(k.columns) < set(key.columns) and k.severity == "error"]
        asked = set(key.columns) - required if key.nulls == "fail" else set()  # of these it also asks that they are not null
        within = next(
            (k for k in smaller if k.nulls == "fail" and key.across in ("batch", k.across) and asked <= set(k.columns)), None
        )
        if within is not None:
            yield LintFinding(
                code="KEY-002", level="warning", path=path,
                message=f"key {', '.join(key.columns)} adds nothing: {', '.join(within.columns)} is unique already",
            )  # fmt: skip
        if unique.get(key.columns[0]) == key.model_copy(update={"name": None}):
            yield LintFinding(
                code="KEY-003", level="warning", path=path,
                message=f"key {key.columns[0]} says the same as 'unique' on the field", hint="keep one of them",
            )  # fmt: skip


def _row_rules(contract: Contract) -> Iterator[LintFinding]:
    columns = [f.name for f in contract.fields]
    required = _required(contract)
    seen: dict[tuple[str, ...], str] = {}
    for at, rule in enumerate(contract.quality.row_rules):
        path: Path = ("quality", "row_rules", at, "sql")
        try:
            tree = parse_condition(rule.sql)
        except ExpressionError:
            continue  # `find_problems` tells it
        yield from _row_rule(rule, tree, path, columns, required)
        said = (tree.sql(dialect="spark", normalize=True, comments=False), rule.severity, rule.null_is, rule.phase or "")
        if said in seen:
            yield LintFinding(
                code="RUL-004", level="warning", path=path, message=f"{rule.name}: says the same as rule {seen[said]!r}"
            )
        seen.setdefault(said, rule.name)


def _row_rule(
    rule: RowRule, tree: exp.Expr, path: Path, columns: list[str], required: set[str]
) -> Iterator[LintFinding]:  # fmt: skip
    if not columns_read(tree, columns):
        yield LintFinding(
            code="RUL-001", level="warning", path=path,
            message=f"{rule.name}: the condition reads no column, so it is the same for every row",
        )  # fmt: skip
    if any(_compares_with_null(node) for node in tree.walk()):
        yield LintFinding(
            code="RUL-002", level="error", path=path, message=f"{rule.name}: a comparison with NULL is never true",
            hint="write IS NULL or IS NOT NULL",
        )  # fmt: skip
    name = _not_null_column(tree, columns)
    if name is not None and name in required:
        yield LintFinding(
            code="RUL-003", level="warning", path=path,
            message=f"{rule.name}: adds nothing: {name!r} is required already",
        )  # fmt: skip


def _compares_with_null(node: exp.Expr) -> bool:
    if isinstance(node, _NEVER_TRUE_WITH_NULL):
        return any(isinstance(side.unnest(), exp.Null) for side in (node.this, node.expression))
    if isinstance(node, exp.In) and node.expressions:
        return all(isinstance(v, exp.Null) for v in node.expressions)
    is_refusal = isinstance(node, exp.Not) and isinstance(node.this.unnest(), exp.In)
    return is_refusal and any(isinstance(v, exp.Null) for v in node.this.unnest().expressions)


def _not_null_column(tree: exp.Expr, columns: list[str]) -> str | None:
    node = tree.unnest()
    inner = node.this.unnest() if isinstance(node, exp.Not) else None
    if not isinstance(inner, exp.Is) or not isinstance(inner.expression, exp.Null):
        return None
    column = inner.this.unnest()
    if not isinstance(column, exp.Column) or len(column.parts) != 1:
        return None
    return next(iter(columns_read(column, columns)), None)


def _dataset_rules(contract: Contract) -> Iterator[LintFinding]:
    required = _required(contract)
    for at, rule in enumerate(contract.quality.dataset_rules):
        path: Path = ("quality", "dataset_rules", at)
        share, count = rule.null_share, rule.row_count
        if share is not None and (share.max == 1 or share.column in required):
            why = "every share is at most 1" if share.max == 1 else f"{share.column!r} is required already"
            yield _adds_nothing(rule.name, (*path, "null_share"), why)
        if count is not None and count.min == 0 and count.max is None:
            yield _adds_nothing(rule.name, (*path, "row_count"), "every batch has 0 or more rows")


def _adds_nothing(name: str, path: Path, why: str) -> LintFinding:
    return LintFinding(code="RUL-005", level="warning", path=path, message=f"{name}: adds nothing: {why}")
