"""Spark SQL rewritten where a plain translation would mean something else on another engine."""

from __future__ import annotations

from sqlglot import exp

from invaract_orchestration.contract.date_parts import dated, is_date_part, named_field

_SUNDAY, _MONDAY = "1970-01-04", "1970-01-05"
_AGGREGATES: dict[str, type[exp.Expr]] = {"some": exp.LogicalOr, "every": exp.LogicalAnd, "mean": exp.Avg}
"""Aggregates of which the parser knows another name alone."""


def standard_spelling(tree: exp.Expr) -> exp.Expr:
    """The same expression without what engines read differently; the tree that is given stays as it is."""
    tree = tree.copy()
    for node in reversed(list(tree.walk())):  # children first, so that what is put around a node is not looked at again
        spelled = _spelled(node)
        if spelled is not node and node.parent is not None:
            node.replace(spelled)
        elif spelled is not node:
            tree = spelled
    return tree


def with_names(tree: exp.Expr) -> exp.Expr:
    """The query with each calculated column that has no name called as Spark calls it, such as `(a + 1)` or `sum(b)`: what an
    engine puts around a calculation must not change its name."""
    tree = tree.copy()
    for select in tree.find_all(exp.Select):
        select.set("expressions", [_called(c) if _is_calculated(c) else c for c in select.expressions])
    return tree


def _is_calculated(column: exp.Expr) -> bool:
    named = isinstance(column, exp.Alias | exp.Aliases)
    return not named and isinstance(column.unnest(), exp.Binary | exp.Sum | exp.Avg | exp.Neg)


def _called(column: exp.Expr) -> exp.Expr:
    plain = exp.paren(column)
    for node in reversed(list(plain.find_all(exp.Binary, exp.Neg))):
        if not isinstance(node, exp.Dot) and not isinstance(node.parent, exp.Paren):
            node.replace(exp.paren(node.copy()))
    name = plain if isinstance(plain.this, exp.Binary | exp.Neg) else plain.this
    return exp.alias_(column.copy(), name.sql("spark", normalize_functions="lower").replace("(-", "(- "), quoted=True)


def _spelled(node: exp.Expr) -> exp.Expr:
    if is_date_part(node):
        return _date_part(node)
    if isinstance(node, exp.Anonymous):
        return _named(node)
    if isinstance(node, exp.Any):
        return exp.LogicalOr(this=node.this)
    if isinstance(node, exp.DayOfWeek):
        return _day_of_week(_SUNDAY, node.this)
    if isinstance(node, exp.IsNan):
        # Spark's isnan(null) is false, elsewhere it is null
        return exp.Coalesce(this=node.copy(), expressions=[exp.false()])
    if isinstance(node, exp.Substring) and node.args["start"].name == "0":
        return exp.Substring(this=node.this, start=_number(1), length=node.args.get("length"))
    if isinstance(node, exp.Like | exp.ILike) and not isinstance(node.parent, exp.Escape) and _may_escape(node):
        # a backslash escapes in Spark even where no ESCAPE is written
        return exp.Escape(this=node.copy(), expression=exp.Literal.string("\\"))
    return node


def _date_part(node: exp.Expr) -> exp.Expr:
    field, value = named_field(node), dated(node)
    if field in ("DAYOFWEEK", "DAYOFWEEK_ISO"):
        return _day_of_week(_SUNDAY if field == "DAYOFWEEK" else _MONDAY, value)
    return node if field is None else exp.Extract(this=exp.Var(this=field), expression=value)


def _named(node: exp.Anonymous) -> exp.Expr:
    name, arguments = node.name.lower(), node.expressions
    if name in ("isnull", "isnotnull") and len(arguments) == 1:
        is_null = exp.Is(this=_operand(arguments[0]), expression=exp.Null())
        return exp.paren(is_null if name == "isnull" else exp.Not(this=is_null), copy=False)
    if name in _AGGREGATES and len(arguments) == 1:
        return _AGGREGATES[name](this=arguments[0])
    if name == "weekday" and len(arguments) == 1:
        return _days_since(_MONDAY, arguments[0])
    return exp.CurrentTimestamp() if name == "now" and not arguments else node


def _operand(node: exp.Expr) -> exp.Expr:
    is_closed = isinstance(node, exp.Column | exp.Literal | exp.Paren) or type(node) in exp.ALL_FUNCTIONS
    return node if is_closed else exp.paren(node, copy=False)


def _day_of_week(first: str, of: exp.Expr) -> exp.Expr:
    return exp.paren(exp.Add(this=_days_since(first, of), expression=_number(1)), copy=False)


def _days_since(day: str, of: exp.Expr) -> exp.Expr:
    """Days since a day of the week, 0 to 6, also for days before it."""
    days = exp.DateDiff(this=exp.TsOrDsToDate(this=of), expression=exp.cast(exp.Literal.string(day), "date"))
    week = exp.paren(exp.Add(this=exp.Mod(this=days, expression=_number(7)), expression=_number(7)), copy=False)
    return exp.paren(exp.Mod(this=week, expression=_number(7)), copy=False)


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def _may_escape(node: exp.Expr) -> bool:
    pattern = node.expression
    return not isinstance(pattern, exp.Literal) or "\\" in pattern.name
