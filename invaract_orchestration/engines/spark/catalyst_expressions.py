"""Catalyst's expressions to those of the plan. Nothing raises: what is not known keeps its operands."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal as Number
from decimal import InvalidOperation
from typing import Any

from invaract_orchestration.candidate.plan.builtin_functions import aggregate_name
from invaract_orchestration.candidate.plan.expressions import (
    UDF,
    AggregateCall,
    Alias,
    Arithmetic,
    Attribute,
    BooleanExpr,
    Cast,
    ColumnReference,
    Comparison,
    ComparisonOperator,
    Conditional,
    Expression,
    Function,
    Literal,
    Subquery,
    Value,
)
from invaract_orchestration.candidate.plan.nodes import Plan
from invaract_orchestration.candidate.plan.traverse import replaced
from invaract_orchestration.contract.field_types import Decimal, FieldType, Primitive, Struct
from invaract_orchestration.engines.spark.catalyst_names import ShownNames
from invaract_orchestration.engines.spark.catalyst_tree import (
    CatalystNode,
    Json,
    catalyst_type,
    children_first,
    read_tree,
)

_COMPARISONS: dict[str, ComparisonOperator] = {
    "EqualTo": "=", "EqualNullSafe": "<=>", "LessThan": "<", "LessThanOrEqual": "<=", "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
}  # fmt: skip
_ARITHMETIC = {
    "Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/", "Remainder": "%", "IntegralDivide": "div",
    "UnaryMinus": "-", "UnaryPositive": "+",
}  # fmt: skip
_OWN_FUNCTIONS = frozenset({
    "PythonUDF", "PythonUDAF", "PythonUDTF", "ScalaUDF", "ScalaUDAF", "ScalaAggregator", "HiveSimpleUDF",
    "HiveGenericUDF", "HiveUDAFFunction", "HiveGenericUDTF", "UserDefinedGenerator", "ApplyFunctionExpression",
})  # fmt: skip
_THROUGH = frozenset({
    "SortOrder", "WindowExpression", "CommonExpressionDef", "KnownNotNull", "KnownNullable", "TempResolvedColumn",
})  # fmt: skip
_AGGREGATES = {
    "HyperLogLogPlusPlus": "APPROX_COUNT_DISTINCT", "ApproximatePercentile": "PERCENTILE_APPROX", "Average": "AVG",
    "BitAndAgg": "BIT_AND", "BitOrAgg": "BIT_OR", "BitXorAgg": "BIT_XOR", "CovPopulation": "COVAR_POP",
    "CovSample": "COVAR_SAMP", "ListAgg": "LISTAGG", "RegrAvgX": "REGR_AVGX", "RegrAvgY": "REGR_AVGY",
    "RegrR2": "REGR_R2", "RegrSXX": "REGR_SXX", "RegrSXY": "REGR_SXY", "RegrSYY": "REGR_SYY",
}  # fmt: skip
_NAMES = {"NTile": "ntile"}
_RANKS = frozenset({"Rank", "DenseRank", "PercentRank"})
_SHARED = "(shared)"
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class CatalystExpressions:
    """Reads expressions; `plan_of` translates the plan of a subquery."""

    def __init__(self, plan_of: Callable[[list[Json]], Plan]) -> None:
        self._plan_of = plan_of
        self.names = ShownNames()

    def read(self, nodes: list[Json]) -> Expression:
        """The expression of a pre-order list."""
        made: dict[int, Expression] = {}
        root = read_tree(nodes)
        for node in children_first(root):
            made[id(node)] = self._node(node, tuple(made[id(child)] for child in node.children))
        return made[id(root)]

    def alias(self, nodes: list[Json]) -> Alias:
        """A named expression; a plain column is put out under its own id."""
        expression = self.read(nodes)
        if isinstance(expression, Alias):
            return expression
        if isinstance(expression, ColumnReference):
            return Alias(Attribute(expression.id, expression.name, expression.type), expression)
        return Alias(attribute_of(nodes[0]), expression)

    def _node(self, node: CatalystNode, parts: tuple[Expression, ...]) -> Expression:
        kind, fields = node.kind, node.fields
        match kind:
            case "AttributeReference":
                one = attribute_of(fields)
                return ColumnReference(one.id, self.names.of(one), (), one.type)
            case "OuterReference" | "OuterScopeReference":
                return self._outer(fields)
            case "Alias":
                return Alias(self.names.shown(node, _named(fields, expression_type(parts[0])), parts[0]), parts[0])
            case "Literal":
                return _literal(fields)
            case "Cast":
                return Cast(parts[0], catalyst_type(fields.get("dataType")), expression_type(parts[0]))
            case "GetStructField":
                return _field(parts[0], fields)
            case "AggregateExpression":
                return _aggregate(node, parts)
            case "With":
                return _with(parts)
            case "CommonExpressionRef":
                return Function(_SHARED)
            case "NamedLambdaVariable":
                return Function("variable")
        made = _of_table(node, parts) or _predicate(kind, parts) or self._with_plan(node, parts)
        # a rank is over the order of its window, which is no argument
        return made or Function(_NAMES.get(kind) or _snake(kind), () if kind in _RANKS else parts)

    def _with_plan(self, node: CatalystNode, parts: tuple[Expression, ...]) -> Expression | None:
        """A subquery, or BETWEEN, whose operands stand in fields of their own."""
        kind, fields = node.kind, node.fields
        match kind:
            case "Exists" | "ScalarSubquery" | "ListQuery" | "LateralSubquery" | "FunctionTableSubqueryArgumentExpression" if (
                fields.get("plan")
            ):
                name = {"Exists": "exists", "ListQuery": "in"}.get(kind, "scalar")
                return Subquery(name, self._plan_of(fields["plan"]))  # type: ignore[arg-type]
            case "InSubquery" if isinstance(parts[-1], Subquery):
                return Subquery("in", parts[-1].plan, parts[:-1])
            case "Between" if "input" in fields:
                return self._between(fields)
        return None

    def _outer(self, fields: Json) -> Expression:
        inner = self.read(fields["e"])
        if isinstance(inner, ColumnReference):
            return ColumnReference(inner.id, inner.name, inner.path, inner.type, outer=True)
        return inner

    def _between(self, fields: Json) -> Expression:
        tested, low, high = (self.read(fields[name]) for name in ("input", "lower", "upper"))
        return BooleanExpr("AND", (Comparison(">=", tested, low), Comparison("<=", tested, high)))


def _of_table(node: CatalystNode, parts: tuple[Expression, ...]) -> Expression | None:
    """An expression whose kind alone says what it is."""
    kind, fields = node.kind, node.fields
    if kind in _COMPARISONS:
        return Comparison(_COMPARISONS[kind], parts[0], parts[1])
    if kind in _ARITHMETIC:
        return Arithmetic(_ARITHMETIC[kind], parts)
    if kind in _OWN_FUNCTIONS:
        name = fields.get("name") or fields.get("udfName")
        return UDF(str(name) if name else None, parts, kind in ("PythonUDAF", "ScalaUDAF", "ScalaAggregator"))
    return parts[0] if kind in _THROUGH else None


def _predicate(kind: str, parts: tuple[Expression, ...]) -> Expression | None:
    match kind:
        case "And" | "Or":
            return _connected("AND" if kind == "And" else "OR", parts)
        case "Not":
            return BooleanExpr("NOT", parts)
        case "IsNull" | "IsNotNull":
            return Function(kind.lower(), parts)
        case "In" | "InSet":
            return _one_of(parts)
        case "CaseWhen" | "If":
            pairs = tuple((parts[at], parts[at + 1]) for at in range(0, len(parts) - 1, 2))
            return Conditional(pairs, parts[-1] if len(parts) % 2 else None)
    return None


def attribute_of(fields: Json) -> Attribute:
    """The column that an attribute or alias stands for."""
    return _named(fields, catalyst_type(fields.get("dataType")))


def expression_type(node: Expression) -> FieldType | None:
    """The type of an expression, where it is plain enough to know."""
    match node:
        case ColumnReference() | Literal():
            return node.type
        case Cast():
            return node.to
        case Alias():
            return node.attribute.type
        case Subquery("scalar") if len(node.plan.output) == 1:
            return node.plan.output[0].type
    return None


def _named(fields: Json, type_: FieldType | None) -> Attribute:
    identity = fields.get("exprId") or {}
    return Attribute(int(identity.get("id", -1)), str(fields.get("name", "")), type_)


def _literal(fields: Json) -> Literal:
    type_, text = catalyst_type(fields.get("dataType")), fields.get("value")
    if text is None:
        return Literal(None, type_)
    return Literal(_value(str(text), type_), type_)


def _value(text: str, type_: FieldType | None) -> Value:
    name = type_.name if isinstance(type_, Primitive) else ""
    try:
        if name == "boolean":
            return text == "true"
        if name in ("tinyint", "smallint", "int", "bigint"):
            return int(text)
        if isinstance(type_, Decimal) or name in ("float", "double"):
            return Number(text)
    except (ValueError, InvalidOperation):
        return text
    return f"{name} {text}" if name in ("date", "timestamp") else text


def _field(whole: Expression, fields: Json) -> Expression:
    type_, at, name = expression_type(whole), int(fields.get("ordinal", -1)), fields.get("name")
    inner: FieldType | None = None
    if isinstance(type_, Struct) and 0 <= at < len(type_.fields):
        declared, inner = type_.fields[at]
        name = name or declared
    if isinstance(whole, ColumnReference) and name:
        return ColumnReference(whole.id, whole.name, (*whole.path, str(name)), inner, whole.outer)
    return Function("field", (whole,))


def _connected(word: str, parts: tuple[Expression, ...]) -> Expression:
    flat: list[Expression] = []
    for part in parts:
        flat.extend(part.operands if isinstance(part, BooleanExpr) and part.operator == word else (part,))
    return BooleanExpr("AND" if word == "AND" else "OR", tuple(flat))


def _one_of(parts: tuple[Expression, ...]) -> Expression:
    arms = tuple(Comparison("=", parts[0], other) for other in parts[1:])
    if not arms:
        return Function("in", parts)
    return arms[0] if len(arms) == 1 else BooleanExpr("OR", arms)


def _aggregate(node: CatalystNode, parts: tuple[Expression, ...]) -> Expression:
    function = parts[0]
    condition = parts[1] if len(parts) > 1 else None
    if isinstance(function, UDF):
        more = () if condition is None else (condition,)
        return UDF(function.name, (*function.args, *more), is_aggregate=True)
    kind = node.children[0].kind
    name = _AGGREGATES.get(kind) or aggregate_name(_snake(kind))
    args = function.children
    if name == "COUNT" and all(isinstance(arg, Literal) for arg in args):
        args = ()
    return AggregateCall(name, args, bool(node.fields.get("isDistinct")), condition)


def _with(parts: tuple[Expression, ...]) -> Expression:
    """An expression over shared ones; which of several a place means is not told, so they all stay operands."""
    body, shared = parts[0], parts[1:]
    if len(shared) != 1:
        return Function("with", parts)

    def instead(node: Expression) -> Expression | None:
        return shared[0] if isinstance(node, Function) and node.name == _SHARED else None

    return replaced(body, instead)


def _snake(kind: str) -> str:
    return _WORDS.sub("_", kind).lower()


def named_list(reader: CatalystExpressions, node: CatalystNode, name: str) -> tuple[Alias, ...]:
    """The named expressions of a field."""
    return tuple(reader.alias(one) for one in node.nested(name))


def listed(reader: CatalystExpressions, node: CatalystNode, name: str) -> tuple[Expression, ...]:
    """The expressions of a field."""
    return tuple(reader.read(one) for one in node.nested(name))


def attributes(node: CatalystNode, name: str) -> tuple[Attribute, ...]:
    """The columns of a field."""
    return tuple(attribute_of(one[0]) for one in node.nested(name) if one)


def holds(value: Any, kind: str) -> bool:
    """Whether a node of that kind stands anywhere in a field."""
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            if str(one.get("class", "")).endswith("." + kind):
                return True
            stack.extend(one.values())
        elif isinstance(one, list):
            stack.extend(one)
    return False
