"""Expressions of sqlglot's tree to those of the plan. Nothing raises: what is not known keeps its operands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

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
from invaract_orchestration.candidate.plan.rule_names import split_name
from invaract_orchestration.candidate.plan.sql.operands import flat, names_of, operands, unwrapped
from invaract_orchestration.candidate.plan.sql.scope import Scope, stepped_into
from invaract_orchestration.candidate.plan.sql.values import (
    built_type,
    expression_type,
    field_type,
    function_name,
    generated_names,
    literal,
    named_columns,
)
from invaract_orchestration.contract.field_types import Struct

_COMPARISONS: dict[type[exp.Expr], ComparisonOperator] = {
    exp.EQ: "=", exp.NEQ: "!=", exp.NullSafeEQ: "<=>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip
_ARITHMETIC: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.IntDiv: "div", exp.Neg: "-",
}  # fmt: skip
_THROUGH = (exp.Paren, exp.Ordered, exp.IgnoreNulls, exp.RespectNulls, exp.PropertyEQ, exp.Kwarg)
_NEVER_AGGREGATE = (exp.Lag, exp.Lead, exp.NthValue, exp.Grouping, exp.GroupingId, exp.CumeDist, exp.DenseRank)

QueryReader = Callable[[exp.Expr, Scope | None], Plan]


@dataclass(frozen=True, slots=True)
class WindowCall:
    """A window function of the select list, standing there as a plain column."""

    item: Alias
    partition_by: tuple[Expression, ...]
    order_by: tuple[Expression, ...]


@dataclass(slots=True)
class Reader:
    """Reads the expressions of one clause. `windows` and `generators` collect those that become nodes of their own."""

    scope: Scope
    query: QueryReader
    windows: list[WindowCall] | None = None
    generators: list[tuple[Expression, list[Alias]]] | None = None
    named_windows: dict[str, exp.Window] = field(default_factory=dict)
    _variables: list[str] = field(default_factory=list)
    _in_aggregate: bool = False

    def read(self, node: exp.Expr) -> Expression:
        """The expression that the node says."""
        if (compared := _COMPARISONS.get(type(node))) is not None:
            return self._comparison(compared, node)
        if (counted := _ARITHMETIC.get(type(node))) is not None:
            return Arithmetic(counted, tuple(self.read(part) for part in operands(node)))
        match node:
            case exp.Column() | exp.Dot() | exp.Identifier():
                return self._column(node)
            case exp.Alias() | exp.Aliases():
                return self.read(node.this)
            case exp.Literal() | exp.Boolean() | exp.Null():
                return literal(node)
            case exp.StructExtract(expression=exp.Literal(is_string=True) as key) | exp.Bracket(
                expressions=[exp.Literal(is_string=True) as key]
            ):
                return self._entry(node, key)
            case exp.Cast():
                return self._cast(node)
            case exp.And():
                return BooleanExpr("AND", tuple(self.read(part) for part in flat(node, exp.And)))
            case exp.Or():
                return BooleanExpr("OR", tuple(self.read(part) for part in flat(node, exp.Or)))
            case exp.Not():
                return BooleanExpr("NOT", (self.read(node.this),))
            case exp.NullSafeNEQ():
                return BooleanExpr("NOT", (Comparison("<=>", self.read(node.this), self.read(node.expression)),))
            case exp.Is():
                return self._is(node)
            case exp.In():
                return self._in(node)
            case exp.Between():
                return self._between(node)
            case exp.Case() | exp.If():
                return self._case(node)
            case exp.Exists() if isinstance(unwrapped(node.this), exp.Query):
                return Subquery("exists", self.query(node.this, self.scope))
            case exp.Subquery() | exp.Select() | exp.SetOperation():
                return Subquery("scalar", self.query(node, self.scope))
        if isinstance(node, _THROUGH):
            return self.read(node.expression if isinstance(node, exp.PropertyEQ | exp.Kwarg) else node.this)
        return self._around_call(node) or self._call(node)

    def _around_call(self, node: exp.Expr) -> Expression | None:
        """What stands around a function call: OVER, FILTER, WITHIN GROUP."""
        match node:
            case exp.Window():
                return self._window(node)
            case exp.Filter():
                return self._filtered(node)
            case exp.WithinGroup():
                return self._within_group(node)
        return None

    def _column(self, node: exp.Expr) -> Expression:
        if isinstance(node, exp.Dot) and not isinstance(node.expression, exp.Identifier):
            return self._call(self._with_receiver(node))
        parts = names_of(node)
        if parts is None:
            return stepped_into(self.read(node.this), (node.expression.name,))
        if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
            return UnknownExpression("*")
        if self.scope.session.folded(parts[0]) in self._variables:
            return Function("variable")
        found = self.scope.resolve(parts, in_aggregate=self._in_aggregate)
        if found is not None:
            return found
        name = ".".join(parts)
        self.scope.session.lose("plan.unknown_column", f"column {name!r} is in none of the inputs", node)
        return UnknownExpression(f"column {name}")

    def _entry(self, node: exp.Expr, key: exp.Literal) -> Expression:
        """`whole['key']`: a field, unless the whole is known to be no struct."""
        whole = self.read(node.this)
        if isinstance(expression_type(whole), Struct | None):
            return stepped_into(whole, (key.name,))
        return Function("element_at", (whole, literal(key)))

    def _with_receiver(self, node: exp.Dot) -> exp.Expr:
        """The function after a dot: with what stands before it as its first argument, as DuckDB has it, or of that schema."""
        call: exp.Expr = node.expression
        before, name = node.this, function_name(call)
        if self.scope.session.dialect != "duckdb" or name is None:
            return call
        parts = names_of(before)
        is_schema = parts is not None and self.scope.resolve(parts) is None
        return call if is_schema else exp.func(name, before, *call.expressions, dialect="duckdb")

    def _comparison(self, operator: ComparisonOperator, node: exp.Expr) -> Expression:
        right = node.expression
        if isinstance(right, exp.Any | exp.All) and isinstance(unwrapped(right.this), exp.Query):
            return Subquery("in", self.query(right.this, self.scope), (self.read(node.this),))
        return Comparison(operator, self.read(node.this), self.read(right))

    def _cast(self, node: exp.Cast) -> Expression:
        child = self.read(node.this)
        return Cast(child, field_type(node.to), expression_type(child))

    def _is(self, node: exp.Is) -> Expression:
        tested, against = self.read(node.this), node.expression
        if isinstance(against, exp.Null):
            return Function("isnull", (tested,))
        return Comparison("<=>", tested, self.read(against))

    def _in(self, node: exp.In) -> Expression:
        tested = node.this
        operands = tuple(self.read(p) for p in (tested.expressions if isinstance(tested, exp.Tuple) else (tested,)))
        query = node.args.get("query")
        if query is not None:
            return Subquery("in", self.query(query, self.scope), operands)
        if len(operands) > 1 or not node.expressions:
            rest = [*node.expressions, *(p for p in (node.args.get("unnest"), node.args.get("field")) if p)]
            return Function("in", (*operands, *(self.read(one) for one in rest)))
        arms = tuple(Comparison("=", operands[0], self.read(one)) for one in node.expressions)
        return arms[0] if len(arms) == 1 else BooleanExpr("OR", arms)

    def _between(self, node: exp.Between) -> Expression:
        tested = self.read(node.this)
        low = Comparison(">=", tested, self.read(node.args["low"]))
        return BooleanExpr("AND", (low, Comparison("<=", tested, self.read(node.args["high"]))))

    def _case(self, node: exp.Case | exp.If) -> Expression:
        if isinstance(node, exp.If):
            other = node.args.get("false")
            pair = (self.read(node.this), self.read(node.args["true"]))
            return Conditional((pair,), None if other is None else self.read(other))
        tested = None if node.this is None else self.read(node.this)
        branches = []
        for one in node.args.get("ifs") or ():
            condition = self.read(one.this)
            if tested is not None:
                condition = Comparison("=", tested, condition)
            branches.append((condition, self.read(one.args["true"])))
        other = node.args.get("default")
        return Conditional(tuple(branches), None if other is None else self.read(other))

    def _filtered(self, node: exp.Filter) -> Expression:
        call = self.read(node.this)
        was, self._in_aggregate = self._in_aggregate, True
        condition = self.read(node.expression.this)
        self._in_aggregate = was
        if isinstance(call, AggregateCall):
            return AggregateCall(call.name, call.args, call.distinct, condition)
        return UDF(call.name, (*call.args, condition), call.is_aggregate) if isinstance(call, UDF) else call

    def _within_group(self, node: exp.WithinGroup) -> Expression:
        call = self.read(node.this)
        ordered = tuple(self.read(one) for one in node.expression.expressions) if node.expression else ()
        if isinstance(call, AggregateCall):
            return AggregateCall(call.name, (*call.args, *ordered), call.distinct, call.filter)
        return call

    def _window(self, node: exp.Window) -> Expression:
        call = self.read(node.this)
        named = self.named_windows.get(node.alias.lower()) if node.alias else None
        sources = [node, *([named] if named is not None else [])]
        partition = tuple(self.read(p) for s in sources for p in s.args.get("partition_by") or ())
        orders = [s.args["order"] for s in sources if isinstance(s.args.get("order"), exp.Order)]
        order = tuple(self.read(one) for o in orders for one in o.expressions)
        if self.windows is None:
            return Function("over", (call, *partition, *order))
        parent = node.parent
        name = parent.alias if isinstance(parent, exp.Alias) else "window"
        attribute = self.scope.session.attribute(name, expression_type(call))
        self.windows.append(WindowCall(Alias(attribute, call), partition, order))
        return reference(attribute)

    def _call(self, node: exp.Expr) -> Expression:
        name = function_name(node)
        if name is None:
            return self._unknown(node)
        own = name in self.scope.session.own_functions
        if isinstance(node, exp.Anonymous) and not own and name == "identifier":
            return self._named_by(node)
        if isinstance(node, exp.Anonymous) and not own and name not in BUILT_IN:
            return UDF(name, self._arguments(node))
        if own:
            return UDF(name, self._arguments(node))
        if name in GENERATORS or isinstance(node, exp.UDTF):
            return self._generator(name, node)
        is_aggregate = isinstance(node, exp.AggFunc) or name in AGGREGATES
        if is_aggregate and name not in WINDOW_ONLY and not isinstance(node, _NEVER_AGGREGATE):
            return self._aggregate(name, node)
        args = () if isinstance(node, exp.Grouping) else self._arguments(node)  # tells of the grouping set, not of a value
        return Function(name, args, built_type(node, args, self.scope.star))

    def _named_by(self, node: exp.Anonymous) -> Expression:
        """IDENTIFIER(...): the column of that name, where the text says it."""
        told = node.expressions[0] if len(node.expressions) == 1 else None
        found = self.scope.resolve(split_name(told.name)) if isinstance(told, exp.Literal) else None
        if found is None:
            self.scope.session.lose("plan.unknown_column", "the column of an IDENTIFIER is not known", node)
        return found or UnknownExpression("identifier")

    def _aggregate(self, name: str, node: exp.Expr) -> Expression:
        was, self._in_aggregate = self._in_aggregate, True
        args = list(operands(node))
        is_distinct = len(args) > 0 and isinstance(args[0], exp.Distinct)
        if is_distinct:
            args = [*args[0].expressions, *args[1:]]
        is_star = any(isinstance(a, exp.Star) for a in args) or all(isinstance(a, exp.Literal) for a in args)
        read = () if name == "count" and is_star else tuple(self.read(one) for one in args)
        self._in_aggregate = was
        return AggregateCall(aggregate_name(name), read, is_distinct)

    def _generator(self, name: str, node: exp.Expr) -> Expression:
        made = Function(name, self._arguments(node))
        if self.generators is None:
            return made
        columns = named_columns(generated_names(node), name, made.args)
        items = [Alias(self.scope.session.attribute(column, type_), made) for column, type_ in columns]
        self.generators.append((made, items))
        return reference(items[0].attribute)

    def _arguments(self, node: exp.Expr) -> tuple[Expression, ...]:
        if isinstance(node, exp.Columns):  # the names that a pattern or lambda chooses are known when it runs
            return tuple(reference(a) for a in self.scope.star())
        lambdas = [p for p in operands(node) if isinstance(p, exp.Lambda)]
        read = []
        for part in operands(node):
            if isinstance(part, exp.Lambda):
                bound = [self.scope.session.folded(v.name) for v in part.expressions]
                self._variables.extend(bound)
                read.append(self.read(part.this))
                del self._variables[len(self._variables) - len(bound) :]
            elif isinstance(part, exp.Star):
                read.extend(reference(a) for a in self.scope.star())
            elif not isinstance(part, exp.DataType | exp.Var):
                read.append(self.read(part))
        return tuple(read) if read or not lambdas else ()

    def _unknown(self, node: exp.Expr) -> Expression:
        kind = type(node).__name__
        if isinstance(node, exp.Interval) and (node.this is None or isinstance(node.this, exp.Literal)):
            return Literal(f"interval {node.name} {node.args.get('unit')}")
        if isinstance(node, exp.JSONPath):
            return Literal(node.sql())
        if isinstance(node, exp.Order):
            return Function("ordered", self._arguments(node))
        if isinstance(node, exp.Placeholder | exp.Parameter):
            return Function(kind.lower())
        if isinstance(node, exp.Binary | exp.Unary | exp.Bracket | exp.Tuple | exp.Predicate | exp.AtTimeZone):
            return Function(kind.lower(), self._arguments(node))
        self.scope.session.lose("plan.unknown_expression", f"an expression of kind {kind} is not known", node)
        return UnknownExpression(kind, self._arguments(node))
