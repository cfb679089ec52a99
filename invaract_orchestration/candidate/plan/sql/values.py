"""What is written in a text by itself: literals, type names, function names, and the types of plain expressions."""

from __future__ import annotations

from decimal import Decimal as Number
from decimal import InvalidOperation

from sqlglot import exp

from invaract_orchestration.candidate.plan.expressions import (
    AggregateCall,
    Alias,
    BooleanExpr,
    Cast,
    ColumnReference,
    Comparison,
    Expression,
    Literal,
    Subquery,
)
from invaract_orchestration.contract.field_types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    STRING,
    Decimal,
    FieldType,
    TypeSyntaxError,
    parse_type,
)

_MAX_INT = 2**31 - 1
_MAX_BIGINT = 2**63 - 1


def function_name(node: exp.Expr) -> str | None:
    """The lower-case name of a function call; null for what is no function."""
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc | exp.CombinedAggFunc):
        return str(node.this).lower() if not isinstance(node.this, exp.Expr) else node.this.name.lower()
    return node.sql_names()[0].lower() if isinstance(node, exp.Func) else None


def generated_names(node: exp.Expr, args: tuple[Expression, ...]) -> list[str]:
    """The columns that a generator in a select list puts out."""
    parent = node.parent
    if isinstance(parent, exp.Aliases):
        return [one.name for one in parent.expressions] or ["col"]
    if isinstance(parent, exp.Alias):
        return [parent.alias]
    return default_generated_names(node, args)


def default_generated_names(node: exp.Expr, args: tuple[Expression, ...]) -> list[str]:
    """The names that a generator gives by itself: key and value of a map, the fields of a struct, else `col`."""
    kind = function_name(node) or ""
    place = ["pos"] if kind.startswith("posexplode") else []
    type_ = expression_type(args[0]) if args else None
    text = str(type_)
    if text.startswith("map<"):
        return [*place, "key", "value"]
    element = getattr(type_, "element", None)
    if kind.startswith("inline") and element is not None and hasattr(element, "fields"):
        return [name for name, _ in element.fields]
    return [*place, "col"]


def expression_type(node: Expression) -> FieldType | None:
    """The type of an expression, where it is plain enough to know."""
    match node:
        case ColumnReference() | Literal():
            return node.type
        case Alias():
            return node.attribute.type
        case Cast():
            return node.to
        case Comparison() | BooleanExpr() | Subquery("exists" | "in"):
            return BOOLEAN
        case AggregateCall("COUNT"):
            return BIGINT
        case AggregateCall("MIN" | "MAX" | "FIRST" | "LAST" | "ANY_VALUE", (only, *_)):
            return expression_type(only)
        case Subquery() if len(node.plan.output) == 1:
            return node.plan.output[0].type
    return None


def field_type(node: exp.Expr) -> FieldType | None:
    """The type that a cast names."""
    try:
        return parse_type(node.sql(dialect="spark"))
    except TypeSyntaxError:
        return None


def literal(node: exp.Expr) -> Literal:
    """The value that is written."""
    if isinstance(node, exp.Boolean):
        return Literal(bool(node.this), BOOLEAN)
    if isinstance(node, exp.Null):
        return Literal(None)
    text = str(node.this)
    return Literal(text, STRING) if node.is_string else _number(text)


def _number(text: str) -> Literal:
    try:
        value = Number(text)
    except InvalidOperation:
        return Literal(text)
    if text.isdigit():
        whole = int(text)
        return Literal(whole, INT if whole <= _MAX_INT else BIGINT if whole <= _MAX_BIGINT else None)
    if "e" in text.lower():
        return Literal(value, DOUBLE)
    _, digits, exponent = value.as_tuple()
    scale = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    try:
        return Literal(value, Decimal(max(len(digits), scale), scale))
    except TypeSyntaxError:
        return Literal(value)
