"""What is written in a text by itself: literals, type names, function names, and the types of plain expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal as Number
from decimal import InvalidOperation

from sqlglot import exp
from sqlglot.errors import ParseError

from invaract_orchestration.candidate.plan.expressions import (
    AggregateCall,
    Alias,
    Arithmetic,
    Attribute,
    BooleanExpr,
    Cast,
    ColumnReference,
    Comparison,
    Conditional,
    Expression,
    Function,
    Literal,
    Subquery,
    reference,
)
from invaract_orchestration.candidate.plan.sql.result_types import (
    aggregate_type,
    arithmetic_type,
    function_type,
    type_of_all,
)
from invaract_orchestration.contract.field_types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    STRING,
    Array,
    Decimal,
    FieldType,
    Map,
    Struct,
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


def generated_names(node: exp.Expr) -> list[str]:
    """The names that a select list gives to what a generator in it puts out; none: those of the generator."""
    parent = node.parent
    if isinstance(parent, exp.Aliases):
        return [one.name for one in parent.expressions]
    return [parent.alias] if isinstance(parent, exp.Alias) else []


def named_columns(names: list[str], kind: str, args: tuple[Expression, ...]) -> list[tuple[str, FieldType | None]]:
    """The columns of a generator under the names that are written, else under its own."""
    own = generated_columns(kind, args)
    if len(names) == len(own):
        return [(name, type_) for name, (_, type_) in zip(names, own, strict=True)]
    return [(name, None) for name in names] or list(own)


def generated_columns(kind: str, args: tuple[Expression, ...]) -> tuple[tuple[str, FieldType | None], ...]:
    """The columns that a generator gives, by the names that it gives them, with their types where those are known."""
    type_ = expression_type(args[0]) if args else None
    if kind == "range":
        return (("id", BIGINT),)
    if kind.startswith("inline") and isinstance(type_, Array) and isinstance(type_.element, Struct):
        return type_.element.fields
    place = (("pos", INT),) if kind.startswith("posexplode") else ()
    if isinstance(type_, Map):
        return (*place, ("key", type_.key), ("value", type_.value))
    is_exploded = isinstance(type_, Array) and "explode" in kind
    return (*place, ("col", type_.element if is_exploded and isinstance(type_, Array) else None))


def built_type(node: exp.Expr, args: tuple[Expression, ...], star: Callable[[], list[Attribute]]) -> FieldType | None:
    """The type of what a call builds of other values: a struct, an array, the value of a JSON text with a written schema."""
    match node:
        case exp.Struct(expressions=[exp.Star()]):
            return struct_type([(a.name, reference(a)) for a in star()])
        case exp.Struct() if len(args) == len(node.expressions):
            return struct_type([(str(one.name), value) for one, value in zip(node.expressions, args, strict=True)])
        case exp.Array():
            return array_type(args)
        case exp.FromJson() if isinstance(node.expression, exp.Literal):
            return declared_type(node.expression.name)
    return None


def struct_type(fields: list[tuple[str, Expression]]) -> FieldType | None:
    """The type of a struct of these values, where all of theirs are known."""
    known = [(name, type_) for name, value in fields if name and (type_ := expression_type(value)) is not None]
    return Struct(tuple(known)) if known and len(known) == len(fields) else None


def array_type(elements: tuple[Expression, ...]) -> FieldType | None:
    """The type of an array of these elements, where they are of one."""
    types = {expression_type(one) for one in elements}
    only = next(iter(types), None)
    return Array(only) if only is not None and len(types) == 1 else None


def map_type(entries: tuple[Expression, ...]) -> FieldType | None:
    """The type of a map of these keys and values in turn, where all keys are of one type, and all values."""
    keys, values = array_type(entries[::2]), array_type(entries[1::2])
    return Map(keys.element, values.element) if isinstance(keys, Array) and isinstance(values, Array) else None


def declared_type(schema: str) -> FieldType | None:
    """The type that a schema in a text names: that of a value, or the columns of a row."""
    for text in (schema, f"STRUCT<{schema}>"):
        try:
            return field_type(exp.DataType.build(text, dialect="spark"))
        except ParseError:
            continue
    return None


def expression_type(node: Expression) -> FieldType | None:
    """The type of an expression, where it is plain enough to know."""
    match node:
        case ColumnReference() | Literal():
            return node.type
        case Function():
            return node.type or function_type(node.name, _types(node.args))
        case Alias():
            return node.attribute.type
        case Cast():
            return node.to
        case Comparison() | BooleanExpr() | Subquery("exists" | "in"):
            return BOOLEAN
        case AggregateCall():
            return aggregate_type(node.name, _types(node.args))
        case Arithmetic():
            return arithmetic_type(node.operator, _types(node.operands))
        case Conditional():
            values = [value for _, value in node.branches] + ([] if node.otherwise is None else [node.otherwise])
            return type_of_all(_types(v for v in values if not (isinstance(v, Literal) and v.value is None)))
        case Subquery() if len(node.plan.output) == 1:
            return node.plan.output[0].type
    return None


def _types(nodes: Iterable[Expression]) -> list[FieldType | None]:
    return [expression_type(one) for one in nodes]


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
