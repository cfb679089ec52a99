"""What Spark would wrap, saturate or guess where it cannot be computed, spelled so that it is null instead.

Without ANSI mode `-` and `abs` of the smallest whole number stay negative, dates wrap around, sums wrap around, the size of
null is -1 and a list that holds a decimal is compared after rounding.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from invaract_orchestration.engines.spark import patterns
from invaract_orchestration.engines.spark import sql_text as q

_CALLED: dict[type[exp.Expr], str] = {
    exp.Add: "try_add", exp.Sub: "try_subtract", exp.Mul: "try_multiply", exp.Div: "try_divide", exp.Mod: "try_mod",
}  # fmt: skip
_SUMS: dict[type[exp.Expr], str] = {exp.Sum: "try_sum", exp.Avg: "try_avg"}
_OVERFLOWING = (exp.Add, exp.Sub, exp.Mul, exp.Sum, exp.Avg, exp.Neg, exp.Abs, exp.Round)
_MOST_LISTED = 50
_VALUE = "invaract_value"
_DATES = "BETWEEN date'0001-01-01' AND date'9999-12-31'"


def tried(tree: exp.Expr) -> exp.Expr:
    """The tree with every calculation, cast and pattern in the form that gives null where there is no value."""
    return _spelled(tree, lambda node: True)


def tried_in_query(tree: exp.Expr) -> exp.Expr:
    """A query in ANSI mode with its casts, divisions and look-ups in the form that gives null.

    What overflows stays as it is and ends the query: a null would be left out of a sum without a word. So does what reads no
    column, as LIMIT and arguments of some functions take nothing else.
    """
    return _spelled(tree, lambda node: not isinstance(node, _OVERFLOWING) and node.find(exp.Column, exp.Query) is not None)


def _spelled(tree: exp.Expr, takes: Callable[[exp.Expr], bool]) -> exp.Expr:
    root = exp.paren(tree)
    nodes = [node for node in root.walk() if node is not root and takes(node)]
    for node in reversed(nodes):  # children first: what a node's text holds is final
        if (said := _tried(node)) is not None:
            node.replace(said)
    found: exp.Expr = root.this
    return found


def _tried(node: exp.Expr) -> exp.Expr | None:
    called = _CALLED.get(type(node)) or _SUMS.get(type(node))
    if called is not None:
        return exp.Anonymous(this=called, expressions=[node.this, *([node.expression] if node.args.get("expression") else [])])
    match node:
        case exp.Cast() | exp.TryCast():
            return exp.Var(this=f"TRY_CAST({_sql(node.this)} AS {_sql(node.args['to'])})")
        case exp.RegexpLike() if isinstance(node.expression, exp.Literal):
            return exp.RegexpLike(this=node.this, expression=exp.Var(this=q.text(patterns.part(node.expression.name))))
        case exp.Neg() if not isinstance(node.this, exp.Literal):
            return _once(node.this, lambda x: f"CASE WHEN {x} < 0 AND -{x} < 0 THEN NULL ELSE -{x} END")
        case exp.Abs():
            return _once(node.this, lambda x: f"CASE WHEN abs({x}) < 0 THEN NULL ELSE abs({x}) END")
        case exp.Round() if isinstance(node.args.get("decimals"), exp.Neg):  # of whole numbers, where it may wrap around
            rounded = f"round({{0}}, {_sql(node.args['decimals'])})"
            return _once(
                node.this,
                lambda x: f"CASE WHEN sign({rounded.format(x)}) * sign({x}) < 0 THEN NULL ELSE {rounded.format(x)} END",
            )
        case exp.ArraySize():
            return exp.Var(this=f"nullif(size({_sql(node.this)}), -1)")
        case exp.Anonymous() if str(node.this).lower() == "cardinality" and len(node.expressions) == 1:
            return exp.Var(this=f"nullif(size({_sql(node.expressions[0])}), -1)")
        case exp.IntDiv():
            return _whole_quotient(node)
        case exp.TsOrDsAdd():
            days = f"try_add(CAST(unix_date(CAST({_sql(node.this)} AS DATE)) AS BIGINT), CAST({_sql(node.expression)} AS BIGINT))"
            return _dated(f"date_from_unix_date(TRY_CAST({days} AS INT))")
        case exp.AddMonths():
            return _months(node)
        case exp.Ceil() | exp.Floor():
            return _whole(node, "ceil" if isinstance(node, exp.Ceil) else "floor")
        case exp.In() if not isinstance(node.parent, exp.Pivot):
            return _listed(node)
        case exp.SplitPart():
            return exp.Var(this=f"CASE WHEN {_sql(node.args['part_index'])} <> 0 THEN {_sql(node)} END")
    return None


def _sql(node: exp.Expr) -> str:
    return str(node.sql("spark"))


def _once(value: exp.Expr, sql: Callable[[str], str]) -> exp.Expr:
    """SQL around a value that is computed once, however often it stands in it."""
    text, bare = _sql(value), value.unnest()
    is_plain = isinstance(bare, exp.Column | exp.Literal) or bare.meta.get("is_column")
    return exp.Var(this=f"({sql(text)})" if is_plain else f"transform(array({text}), {_VALUE} -> {sql(_VALUE)})[0]")


def _whole_quotient(node: exp.IntDiv) -> exp.Expr:
    pair = f"named_struct('a', {_sql(node.this)}, 'b', {_sql(node.expression)})"
    x = _VALUE
    said = f"CASE WHEN {x}.b = -1 THEN try_subtract(0L, CAST({x}.a AS BIGINT)) ELSE {x}.a div {x}.b END"
    return exp.Var(this=f"transform(array({pair}), {x} -> {said})[0]")


def _months(node: exp.AddMonths) -> exp.Expr:
    """Added where the year is one that a date can have; months that lead far out of it end the query elsewise."""
    months = f"CAST({_sql(node.expression)} AS INT)"
    return _dated(f"add_months({_sql(node.this)}, CASE WHEN {months} BETWEEN -200000 AND 200000 THEN {months} END)")


def _dated(date: str) -> exp.Expr:
    return _once(exp.Var(this=date), lambda x: f"CASE WHEN {x} {_DATES} THEN {x} END")


def _whole(node: exp.Expr, name: str) -> exp.Expr:
    def said(x: str) -> str:
        number = f"{name}({x})"
        is_far = f"typeof({x}) IN ('double', 'float') AND NOT abs(CAST({x} AS DOUBLE)) < 9.2E18D"
        return f"CASE WHEN {is_far} THEN NULL ELSE {number} END"

    return _once(node.this, said)


def _listed(node: exp.In) -> exp.Expr | None:
    """A list without texts as single comparisons: together they would be rounded to the scale of one of them."""
    values = node.expressions
    if not values or len(values) > _MOST_LISTED or any(isinstance(v, exp.Literal) and v.is_string for v in values):
        return None
    listed = [_sql(v) for v in values]
    return _once(node.this, lambda x: " OR ".join(f"{x} = {v}" for v in listed))
