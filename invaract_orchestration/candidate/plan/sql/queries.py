"""Queries: set operations, VALUES, WITH, and what stands after a query (ORDER BY, LIMIT)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from sqlglot import exp

from invaract_orchestration.candidate.plan.expressions import (
    Alias,
    Attribute,
    ColumnReference,
    Expression,
    Function,
    Subquery,
    UnknownExpression,
    reference,
)
from invaract_orchestration.candidate.plan.nodes import (
    Limit,
    Plan,
    Project,
    Read,
    Sample,
    Sort,
    UnknownPlan,
)
from invaract_orchestration.candidate.plan.sql.expressions import Reader
from invaract_orchestration.candidate.plan.sql.pivots import pivot_statement
from invaract_orchestration.candidate.plan.sql.relations import Binding, Relations
from invaract_orchestration.candidate.plan.sql.scope import Relation, Scope, Session, line_of, renewed
from invaract_orchestration.candidate.plan.sql.selects import Selects
from invaract_orchestration.candidate.plan.sql.set_operations import SetOperations, SetWord
from invaract_orchestration.candidate.plan.sql.values import expression_type
from invaract_orchestration.candidate.plan.traverse import walk
from invaract_orchestration.candidate.plan.type_widening import common_type
from invaract_orchestration.contract.field_types import FieldType


class Queries:
    """Translates whatever stands where a query can stand."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.bindings: list[dict[str, Binding]] = [{}]
        self.relations = Relations(session, self.query, self.bindings)
        self.sets = SetOperations(session)
        self.changing: Callable[[exp.Expr], Plan | None] = lambda _: None
        self._selects = Selects(session, self.query, self.relations)

    def query(self, node: exp.Expr, around: Scope | None = None) -> Plan:
        """The plan of a query; `around` is the scope of the query that holds it, whose columns it may read."""
        with self._named_in(node, around):
            plan, scope = self._body(node, around)
            return self._after(node, plan, scope)

    @contextmanager
    def _named_in(self, node: exp.Expr, around: Scope | None) -> Iterator[None]:
        """The queries that the WITH of a query names, for as long as that query is read."""
        with_ = node.args.get("with_")
        self.bindings.append({})
        try:
            if with_ is not None:
                for one in with_.expressions:
                    self._bind(one, around, is_recursive=bool(with_.args.get("recursive")))
            yield
        finally:
            self.bindings.pop()

    def bind(self, name: str, plan: Plan, columns: Sequence[str] = ()) -> None:
        """Make the plan readable under a name, as a CTE or a view is."""
        self.bindings[-1][name.lower()] = Binding(self._renamed(plan, columns))

    def _bind(self, node: exp.Expr, around: Scope | None, *, is_recursive: bool) -> None:
        alias = node.args.get("alias")
        columns = [c.name for c in alias.args.get("columns") or ()] if isinstance(alias, exp.TableAlias) else []
        body = node.this
        if is_recursive and isinstance(body, exp.Union):
            self.bind(node.alias, self._repeated(node.alias, columns, body, around), columns)
            return
        changed = self.changing(body)  # a WITH of PostgreSQL can hold a DELETE
        self.bind(node.alias, self.query(body, around) if changed is None else changed, columns)

    def _repeated(self, name: str, columns: Sequence[str], body: exp.Union, around: Scope | None) -> Plan:
        """A recursive query. What its recursive part reads under its name has the shape of the start."""
        with self._named_in(body, around):
            start = self._renamed(self.query(body.this, around), columns)
            self.bind(name, start)
            self.bindings[-1][name.lower()].is_used = True
            again = self.query(body.expression, around)
        return self.sets.united(start, again, line=line_of(body), again=start)

    def _body(self, node: exp.Expr, around: Scope | None) -> tuple[Plan, Scope | None]:
        match node:
            case exp.Select():
                return self._selects.select(node, around)
            case exp.SetOperation():
                return self._set_operation(node, around), None
            case exp.Values():
                return self._values(node, around), None
            case exp.Table():
                found = self.relations.build(exp.Select(from_=exp.From(this=node.copy())), around)
                return found.plan, None
            case exp.Pivot() if node.this is not None:
                found = self.relations.build(exp.Select(from_=exp.From(this=node.this.copy())), around)
                return pivot_statement(node, found.plan, Reader(found.scope, self.query)), None
            case exp.Subquery() | exp.Paren() | exp.CTE() if node.this is not None:
                return self._nested(node, around), None
        self.session.lose("plan.unknown_node", f"a query of kind {type(node).__name__} is not known", node)
        return UnknownPlan(description=type(node).__name__, source_type="sql", line=line_of(node)), None

    def _nested(self, node: exp.Expr, around: Scope | None) -> Plan:
        if not isinstance(node.this, exp.Query | exp.Values | exp.Paren):
            found = self.relations.build(exp.Select(from_=exp.From(this=node.copy())), around)
            return found.plan
        return self.query(node.this, around)

    def _set_operation(self, node: exp.SetOperation, around: Scope | None) -> Plan:
        """A chain of set operations is folded from its left end, so a long one needs no deep stack."""
        chain: list[exp.SetOperation] = []
        first: exp.Expr = node
        while isinstance(first, exp.SetOperation) and (first is node or not _has_own_clauses(first)):
            chain.append(first)
            first = first.this
        plan = self.query(first, around)
        for one in reversed(chain):
            right = self.query(one.expression, around)
            is_by_name, is_distinct = bool(one.args.get("by_name")), bool(one.args.get("distinct"))
            plan = self.sets.combined(
                _word_of(one), plan, right, is_distinct=is_distinct, is_by_name=is_by_name, line=line_of(one.expression)
            )
        return plan

    def _values(self, node: exp.Values, around: Scope | None) -> Plan:
        rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions]
        reader = Reader(Scope(self.session, parent=around), self.query)
        cells = [[reader.read(cell) for cell in row] for row in rows]
        columns = [[row[at] for row in cells if at < len(row)] for at in range(max(map(len, cells), default=0))]
        names = [
            self.session.attribute(f"col{at}", _met([t for t in map(expression_type, column) if t is not None]))
            for at, column in enumerate(columns, 1)
        ]
        is_written = not any(_comes_from_elsewhere(part) for row in cells for cell in row for part in walk(cell))
        made = tuple(names) if is_written else ()
        read = Read(dataset="(values)", columns=made, inline=True, rows=len(rows), line=line_of(node))
        if is_written:
            return read
        values = (column[0] if len(column) == 1 else Function("values", tuple(column)) for column in columns)
        return Project(child=read, items=tuple(map(Alias, names, values)), line=read.line)

    def _after(self, node: exp.Expr, plan: Plan, scope: Scope | None) -> Plan:
        if isinstance(node, exp.Subquery | exp.SetOperation | exp.Table) or scope is None:
            scope = Scope(self.session, [Relation((), plan.output)])
        reader = Reader(scope, self.query)
        for clause in ("order", "sort", "cluster", "distribute"):
            sorted_by = node.args.get(clause)
            if sorted_by is not None:
                keys = tuple(self._sort_key(one, plan, reader) for one in sorted_by.expressions)
                plan = Sort(child=plan, keys=keys, line=line_of(sorted_by))
        if isinstance(node, exp.Subquery) and node.args.get("sample") is not None and node.parent is None:
            plan = Sample(child=plan)
        for clause in ("limit", "offset"):
            cut = node.args.get(clause)
            if cut is not None:
                plan = Limit(child=plan, count=_count(cut), line=line_of(cut))
        return plan

    @staticmethod
    def _sort_key(node: exp.Expr, plan: Plan, reader: Reader) -> Expression:
        inner = node.this if isinstance(node, exp.Ordered) else node
        if isinstance(inner, exp.Literal) and str(inner.this).isdigit() and 1 <= int(inner.this) <= len(plan.output):
            return reference(plan.output[int(inner.this) - 1])
        return reader.read(inner)

    def _renamed(self, plan: Plan, names: Sequence[str]) -> Plan:
        if not names:
            return plan
        made = renewed(plan, self.session)
        kept = [*names, *(a.name for a in made.output[len(names) :])]
        items = tuple(
            Alias(Attribute(item.attribute.id, name, item.attribute.type), item.expression)
            for item, name in zip(made.items, kept, strict=False)
        )
        return Project(child=plan, items=items, line=plan.line)


def _comes_from_elsewhere(node: Expression) -> bool:
    """Whether a cell's value is that of a column, of a query, or of what nobody knows."""
    return isinstance(node, ColumnReference | Subquery | UnknownExpression)


def _has_own_clauses(node: exp.Expr) -> bool:
    return any(node.args.get(clause) for clause in ("with_", "order", "limit", "offset", "sort", "cluster", "distribute"))


def _count(node: exp.Expr) -> int | None:
    """How many rows a LIMIT lets through at most; null where only the run knows: a percentage, ties, so many of each group."""
    value = node.args.get("expression") or node.args.get("count")
    options = node.args.get("limit_options")
    if node.expressions or (options is not None and (options.args.get("percent") or options.args.get("with_ties"))):
        return None
    if isinstance(node, exp.Offset) or not isinstance(value, exp.Literal) or not str(value.this).isdigit():
        return None
    return int(value.this)


def _met(types: list[FieldType]) -> FieldType | None:
    met = types[0] if types else None
    for one in types[1:]:
        met = None if met is None else common_type(met, one)
    return met


def _word_of(node: exp.SetOperation) -> SetWord:
    if isinstance(node, exp.Union):
        return "UNION"
    return "INTERSECT" if isinstance(node, exp.Intersect) else "EXCEPT"
