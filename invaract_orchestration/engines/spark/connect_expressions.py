"""The expressions of a Spark Connect client, which are unresolved names, to those of the plan."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from invaract_orchestration.candidate.plan.builtin_functions import (
    AGGREGATES,
    BUILT_IN,
    GENERATORS,
    WINDOW_ONLY,
    aggregate_name,
)
from invaract_orchestration.candidate.plan.expressions import (
    UDF,
    AggregateCall,
    Alias,
    Arithmetic,
    BooleanExpr,
    Cast,
    Comparison,
    ComparisonOperator,
    Conditional,
    Expression,
    Function,
    Literal,
    Subquery,
    UnknownExpression,
    reference,
)
from invaract_orchestration.candidate.plan.nodes import Plan
from invaract_orchestration.candidate.plan.render import generated_name
from invaract_orchestration.candidate.plan.sql.expressions import QueryReader, Reader, WindowCall
from invaract_orchestration.candidate.plan.sql.parse import parse_statements
from invaract_orchestration.candidate.plan.sql.scope import Session, stepped_into
from invaract_orchestration.candidate.plan.sql.select_lists import star_in, starred
from invaract_orchestration.candidate.plan.sql.values import (
    array_type,
    declared_type,
    expression_type,
    generated_columns,
    map_type,
    struct_type,
)
from invaract_orchestration.candidate.plan.traverse import walk
from invaract_orchestration.contract.field_types import BOOLEAN, STRING, Array, FieldType, Map
from invaract_orchestration.engines.spark.catalyst_tree import catalyst_type
from invaract_orchestration.engines.spark.connect_frames import Frame

_COMPARISONS: dict[str, ComparisonOperator] = {
    "==": "=", "=": "=", "<=>": "<=>", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
}  # fmt: skip
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "negative", "positive"})
_TIME_WINDOWS = frozenset({"window", "session_window"})
_AGGREGATE_EVALUATIONS = frozenset({200, 202, 217, 252, 254})


@dataclass(slots=True)
class ConnectReader:
    """Reads the expressions of one step over one frame. Windows and generators are collected, to become nodes."""

    session: Session
    frame: Frame
    around: Frame | None
    query: QueryReader
    plan_of: Callable[[Any, Frame], Plan]
    windows: list[WindowCall] = field(default_factory=list)
    generators: list[tuple[Expression, list[Alias]]] = field(default_factory=list)

    def read(self, node: Any) -> Expression:
        """The expression of a client's column or expression."""
        node = getattr(node, "_expr", node) if type(node).__name__ == "Column" else node
        match type(node).__name__:
            case "ColumnReference":
                return self.column(str(node._unparsed_identifier), node._plan_id)
            case "ColumnAlias":
                return self.read(node._child)
            case "LiteralExpression":
                return _literal(node)
            case "SQLExpression":
                return self._text(node._expr)
            case "UnresolvedFunction" | "CallFunction":
                return self._function(node)
            case "CommonInlineUserDefinedFunction":
                kind = getattr(node._function, "_eval_type", None)
                args = tuple(self.read(one) for one in node._arguments)
                return UDF(node._function_name, args, kind in _AGGREGATE_EVALUATIONS)
            case "CaseWhen":
                pairs = tuple((self.read(c), self.read(v)) for c, v in node._branches)
                return Conditional(pairs, None if node._else_value is None else self.read(node._else_value))
            case "CastExpression":
                child = self.read(node._expr)
                return Cast(child, _type_of(node._data_type), expression_type(child))
            case "SortOrder":
                return self.read(node._child)
            case "UnresolvedExtractValue":
                return self._extracted(node)
            case "WindowExpression":
                return self._window(node)
            case "SubqueryExpression":
                return self._subquery(node)
            case "LambdaFunction":
                return self.read(node._function)
            case "UnresolvedNamedLambdaVariable":
                return Function("variable")
            case "NamedArgumentExpression":
                return self.read(node._value)
            case "WithField" | "DropField" as kind:
                return Function("with_field" if kind == "WithField" else "drop_field", tuple(map(self.read, node.children)))
        return self._unknown(node)

    def column(self, name: str, plan_id: int | None) -> Expression:
        """The column of a name, of a certain frame where the client says which."""
        scope = self.frame.scope(self.session, self.around)
        found = self.frame.column(name, plan_id, scope, self.around)
        if found is not None:
            return found
        self.session.lose("plan.unknown_column", f"column {name!r} is in none of the inputs")
        return UnknownExpression(f"column {name}")

    def starred_text(self, text: str) -> list[Alias] | None:
        """The columns of a text that is a star; null for any other."""
        written = parse_statements(f"SELECT {text}", dialect=self.session.dialect)[0].expressions[0]
        star = star_in(written)
        if star is None:
            return None
        return list(starred(star, written, Reader(self.frame.scope(self.session, self.around), self.query)))

    def _text(self, text: str) -> Expression:
        statement = parse_statements(f"SELECT {text}", dialect=self.session.dialect)[0]
        reader = Reader(self.frame.scope(self.session, self.around), self.query, windows=[], generators=[])
        made = reader.read(statement.expressions[0])
        self.windows.extend(reader.windows or ())
        self.generators.extend(reader.generators or ())
        return made

    def _function(self, node: Any) -> Expression:
        name = str(node._name).lower()
        if name in _COMPARISONS:
            left, right = (self.read(one) for one in node._args)
            return Comparison(_COMPARISONS[name], left, right)
        if name in ("and", "or"):
            return _connected(name, tuple(self.read(one) for one in node._args))
        if name in ("not", "!"):
            return BooleanExpr("NOT", (self.read(node._args[0]),))
        if name == "count" and any(type(one).__name__ == "UnresolvedStar" for one in node._args):
            return AggregateCall("COUNT", (), bool(getattr(node, "_is_distinct", False)))
        args = tuple(read for one in node._args for read in self._spread(one))
        if name in _ARITHMETIC:
            return Arithmetic({"negative": "-", "positive": "+"}.get(name, name), args)
        if name == "in":
            arms = tuple(Comparison("=", args[0], other) for other in args[1:])
            return Function("in", args) if not arms else arms[0] if len(arms) == 1 else BooleanExpr("OR", arms)
        if name in ("when", "if"):
            pairs = tuple((args[at], args[at + 1]) for at in range(0, len(args) - 1, 2))
            return Conditional(pairs, args[-1] if len(args) % 2 else None)
        if name in GENERATORS:
            return self._generator(name, args)
        return self._named(name, list(node._args), args, is_distinct=bool(getattr(node, "_is_distinct", False)))

    def _spread(self, node: Any) -> tuple[Expression, ...]:
        """An argument of a function; `*` is all columns of the frame."""
        starred = self.frame.starred(node) if type(node).__name__ == "UnresolvedStar" else None
        return (self.read(node),) if starred is None else tuple(reference(a) for a in starred)

    def _named(self, name: str, written: list[Any], args: tuple[Expression, ...], *, is_distinct: bool) -> Expression:
        if name not in BUILT_IN:
            return UDF(name, args)
        if name in AGGREGATES and name not in WINDOW_ONLY:
            is_count_of_rows = name == "count" and all(isinstance(arg, Literal) for arg in args)
            return AggregateCall(aggregate_name(name), () if is_count_of_rows else args, is_distinct)
        if name in ("grouping", "grouping_id"):  # they tell of the grouping set, not of a value
            return Function(name)
        return Function(name, args, self._built_type(name, written, args))

    def _built_type(self, name: str, written: list[Any], args: tuple[Expression, ...]) -> FieldType | None:
        """The type of a struct, an array, or the value of a JSON text with a written schema."""
        if name == "struct":
            names = [given for one in written for given in self._given_names(one)]
            return struct_type(list(zip(names, args, strict=True))) if len(names) == len(args) else None
        if name == "array":
            return array_type(args)
        if name == "map":
            return map_type(args)
        if name == "from_json" and len(args) > 1 and isinstance(args[1], Literal) and isinstance(args[1].value, str):
            text = args[1].value
            return catalyst_type(json.loads(text)) if text.lstrip().startswith("{") else declared_type(text)
        return None

    def _given_names(self, node: Any) -> list[str]:
        starred = self.frame.starred(node) if type(node).__name__ == "UnresolvedStar" else None
        return [output_name(node)] if starred is None else [a.name for a in starred]

    def _generator(self, name: str, args: tuple[Expression, ...]) -> Expression:
        made = Function(name, args)
        items = [Alias(self.session.attribute(column, type_), made) for column, type_ in generated_columns(name, args)]
        self.generators.append((made, items))
        return reference(items[-1].attribute)

    def _window(self, node: Any) -> Expression:
        spec = node._windowSpec
        function = self.read(node._windowFunction)
        attribute = self.session.attribute("window", expression_type(function))
        call = WindowCall(
            Alias(attribute, function),
            tuple(self.read(one) for one in spec._partitionSpec),
            tuple(self.read(one) for one in spec._orderSpec),
        )
        self.windows.append(call)
        return reference(attribute)

    def _subquery(self, node: Any) -> Expression:
        plan = self.plan_of(node._plan, self.frame)
        kinds = {"exists": "exists", "in": "in"}
        operands = tuple(self.read(one) for one in node._in_subquery_values)
        return Subquery(kinds.get(node._subquery_type, "scalar"), plan, operands)  # type: ignore[arg-type]

    def _extracted(self, node: Any) -> Expression:
        whole, part = self.read(node._child), self.read(node._extraction)
        is_field = not isinstance(expression_type(whole), Map | Array)
        if is_field and isinstance(part, Literal) and isinstance(part.value, str):
            return stepped_into(whole, (part.value,))
        return Function("element_at", (whole, part))

    def _unknown(self, node: Any) -> Expression:
        kind = type(node).__name__
        self.session.lose("plan.unknown_expression", f"an expression of kind {kind} is not known")
        parts = tuple(self.read(one) for one in getattr(node, "children", ()) or ())
        return UnknownExpression(kind, parts)


def shown_name(node: Any, made: Expression) -> str:
    """The name under which a select list puts a client's column out, without the literals of one that Spark makes itself."""
    node = getattr(node, "_expr", node) if type(node).__name__ == "Column" else node
    name = output_name(node)
    is_made = name in (repr(node), str(getattr(node, "_expr", None)))
    has_literal = any(isinstance(one, Literal) and one.value is not None for one in walk(made))
    return generated_name(made) if is_made and (has_literal or type(node).__name__ == "WindowExpression") else name


def output_name(node: Any) -> str:
    """The name that Spark gives a client's column in a select list."""
    node = getattr(node, "_expr", node) if type(node).__name__ == "Column" else node
    match type(node).__name__:
        case "ColumnAlias":
            return str(node._alias[0])
        case "ColumnReference":
            return str(node._unparsed_identifier).rpartition(".")[2].strip("`")
        case "UnresolvedExtractValue":
            return str(node._extraction).strip("'")
        case "SQLExpression":
            statement = parse_statements(f"SELECT {node._expr}", dialect="spark")[0]
            return str(statement.expressions[0].alias_or_name or node._expr)
        case "UnresolvedFunction" if node._name in _TIME_WINDOWS:
            return str(node._name)
    return repr(node)


def _connected(word: str, parts: tuple[Expression, ...]) -> Expression:
    upper = word.upper()
    flat: list[Expression] = []
    for part in parts:
        flat.extend(part.operands if isinstance(part, BooleanExpr) and part.operator == upper else (part,))
    return BooleanExpr("AND" if word == "and" else "OR", tuple(flat))


def _literal(node: Any) -> Literal:
    value = node._value
    if isinstance(value, bool):
        return Literal(value, BOOLEAN)
    if value is None or isinstance(value, int | float):
        return Literal(value, _type_of(getattr(node, "_dataType", None)))
    return Literal(str(value), STRING if isinstance(value, str) else None)


def _type_of(declared: Any) -> FieldType | None:
    if declared is None:
        return None
    return catalyst_type(declared.lower() if isinstance(declared, str) else declared.jsonValue())
