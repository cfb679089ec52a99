"""What a step's query asks of an engine beyond plain SQL: marks, which each engine writes in its own words.

A mark is a call of a function of one of these names. The plan of the code shows them as the plain functions that they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from invaract_orchestration.contract.field_types import FieldType

CAST = "invaract_cast"
"""(value, type of it, type): the value as another type; a text in the strict form of the type, null where it cannot be."""
EXACT = "invaract_exact"
"""(value, type of it, type): a number as another type of number, null where it would become another number."""
TRIM = "invaract_trim"
"""(text, side)."""
JSON = "invaract_json"
"""(JSON text, path as text): what stands there as text; an object or a list as JSON."""
JSON_TEXT = "invaract_json_text"
"""(nested value, type of it): its JSON text."""
REGEX = "invaract_regex"
"""(text, pattern): what the pattern's group, or the pattern, finds first; null where it finds nothing."""
DAY = "invaract_day"
"""(value, type of it): the date of a date, a time or a text."""
MOMENT = "invaract_moment"
"""(value, type of it): the time of a date, a time or a text."""
PASSED = "invaract_passed"
"""(unit, from, to): whole units between two times, or days of the calendar between two dates."""
SPLIT = "invaract_split"
"""(text, delimiter): the parts as a list."""
DAYS = "invaract_days"
"""(first date, last date, number of days): the dates between, as a list."""
LIST = "invaract_list"
"""(JSON text): the elements of a list as texts; null where it is none."""
EACH = "invaract_each"
"""(list): one row for each element."""
TRY = "invaract_try"
"""(expression): null where it cannot be computed."""

BARE_JOIN = "invaract_bare_join"
"""On a join of a query: what its text says is a comma, or JOIN without ON."""
EVERY_BLANK = "invaract_every_blank"
"""On a condition: the rows that it keeps besides, for the check of blank keys to find."""

MARKS = (CAST, EXACT, TRIM, JSON, JSON_TEXT, REGEX, DAY, MOMENT, PASSED, SPLIT, DAYS, LIST, EACH, TRY)
Words = Mapping[str, Callable[..., str]]
"""How an engine writes each mark: its arguments are SQL texts, and the plain texts of what stands in quotes."""


def mark(name: str, *arguments: exp.Expr | str | FieldType | int) -> exp.Expr:
    """A call of a mark; what is no expression stands in it as a text."""
    given = [a if isinstance(a, exp.Expr) else exp.Literal.string(str(a)) for a in arguments]
    return exp.Anonymous(this=name, expressions=given)


def is_mark(node: exp.Expr) -> bool:
    """Whether a node is a mark."""
    return isinstance(node, exp.Anonymous) and str(node.this) in MARKS


def written(tree: exp.Expr, words: Words, sql: Callable[[exp.Expr], str]) -> exp.Expr:
    """The tree with every mark in an engine's words, the innermost first; `sql` writes an expression as the engine does."""
    root = exp.paren(tree.copy(), copy=False)
    for node in reversed(list(root.find_all(exp.Anonymous))):
        if is_mark(node):
            given = [a.name if isinstance(a, exp.Literal) and a.is_string else sql(a) for a in node.expressions]
            if isinstance(node.expressions[0], exp.Literal) and str(node.this) in (CAST, TRIM, JSON, REGEX, DAY, MOMENT):
                given[0] = sql(node.expressions[0])  # a text as a value
            node.replace(exp.Var(this=words[str(node.this)](*given)))
    found: exp.Expr = root.this
    return found


def over(tree: exp.Expr, tables: Mapping[str, str]) -> exp.Expr:
    """The tree over an engine's relations, by the name in lower case that each has in it; other tables stay as they are."""

    def placed(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier) or node.db:
            return node
        relation = tables.get(node.name.lower())
        return node if relation is None else exp.alias_(exp.to_table(relation, quoted=True), node.alias_or_name, table=True)

    return tree.transform(placed)


def plain(tree: exp.Expr) -> exp.Expr:
    """The tree in plain Spark SQL, for the rules on the plan's shape and for lineage."""
    root = exp.paren(tree.copy(), copy=False)
    for node in reversed(list(root.find_all(exp.Anonymous))):
        if is_mark(node):
            node.replace(_plain(node))
    for join in root.find_all(exp.Join):
        if join.meta.get(BARE_JOIN):
            join.set("kind", None)
            join.set("on", None)
    for kept in list(root.find_all(exp.Or)):
        if kept.meta.get(EVERY_BLANK):
            kept.replace(kept.this)
    found: exp.Expr = root.this
    return found


def _plain(node: exp.Anonymous) -> exp.Expr:
    arguments = node.expressions
    match str(node.this):
        case "invaract_cast" | "invaract_exact":
            return exp.Cast(this=arguments[0], to=exp.DataType.build(arguments[2].name, dialect="spark"))
        case "invaract_trim":
            return exp.Trim(this=arguments[0])
        case "invaract_json":
            return exp.Anonymous(this="get_json_object", expressions=[arguments[0], arguments[1]])
        case "invaract_json_text":
            return exp.Anonymous(this="to_json", expressions=[arguments[0]])
        case "invaract_regex":
            return exp.Anonymous(this="regexp_extract", expressions=list(arguments))
        case "invaract_day":
            return exp.Anonymous(this="to_date", expressions=[arguments[0]])
        case "invaract_moment":
            return exp.Anonymous(this="to_timestamp", expressions=[arguments[0]])
        case "invaract_passed":
            return exp.Anonymous(this="timestampdiff", expressions=[exp.Var(this=arguments[0].name), *arguments[1:]])
        case "invaract_split":
            return exp.Anonymous(this="split", expressions=list(arguments))
        case "invaract_list":
            return exp.Anonymous(this="from_json", expressions=[arguments[0], exp.Literal.string("array<string>")])
        case "invaract_days":
            return exp.Anonymous(this="sequence", expressions=list(arguments[:2]))
        case "invaract_each":
            return exp.Explode(this=arguments[0])
    inner: exp.Expr = arguments[0]
    return inner
