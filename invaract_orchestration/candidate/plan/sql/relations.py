"""FROM: tables, subqueries, joins, laterals, samples and pivots."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from invaract_orchestration.candidate.plan.builtin_functions import BUILT_IN
from invaract_orchestration.candidate.plan.expressions import (
    Alias,
    Attribute,
    Comparison,
    Expression,
    Function,
    all_of,
    reference,
)
from invaract_orchestration.candidate.plan.nodes import (
    Generate,
    Join,
    JoinKind,
    Plan,
    Project,
    Read,
    Sample,
    UnknownPlan,
)
from invaract_orchestration.candidate.plan.rule_names import split_name
from invaract_orchestration.candidate.plan.sql.expressions import QueryReader, Reader
from invaract_orchestration.candidate.plan.sql.parse import is_comma
from invaract_orchestration.candidate.plan.sql.pivots import pivoted
from invaract_orchestration.candidate.plan.sql.scope import Relation, Scope, Session, line_of, renewed
from invaract_orchestration.candidate.plan.sql.sources import alias_of, is_function, is_nearest, is_table_generator, kind_of
from invaract_orchestration.candidate.plan.sql.values import expression_type, function_name, named_columns
from invaract_orchestration.candidate.plan.traverse import free_references

_READERS = ("read_", "parquet_scan", "delta_scan", "iceberg_scan")  # functions that read the files of a path
_LATERAL_UNSAID = "duckdb"  # a subquery there may read the tables before it without the word
_FLATTENED = ("seq", "key", "path", "index", "value", "this")  # what FLATTEN of Snowflake gives


@dataclass(slots=True)
class Binding:
    """A named query (a CTE or view): each use after the first gets new column ids."""

    plan: Plan
    is_used: bool = False

    def use(self, session: Session) -> Plan:
        """The plan, for one more place that reads it."""
        if not self.is_used:
            self.is_used = True
            return self.plan
        return renewed(self.plan, session)


@dataclass(slots=True)
class From:
    """The plan under construction, with the names that it offers."""

    plan: Plan
    scope: Scope


class Relations:
    """Builds the plan of a FROM clause."""

    def __init__(self, session: Session, query: QueryReader, bindings: list[dict[str, Binding]]) -> None:
        self._session = session
        self._query = query
        self._bindings = bindings

    def build(self, node: exp.Expr, around: Scope | None) -> From:
        """The FROM of a SELECT; without one, a single row."""
        source = node.args.get("from_")
        if source is None:
            row = Read(dataset="(one row)", columns=(), inline=True, rows=1, line=line_of(node))
            found = From(row, Scope(self._session, parent=around))
        else:
            found = self._chain(source.this, list(node.args.get("joins") or ()), around)
        for lateral in node.args.get("laterals") or ():
            self._generated(found, lateral)
        return found

    def _chain(self, first: exp.Expr, joins: list[exp.Join], around: Scope | None) -> From:
        found = From(*self._factor(first, around))
        parser = Dialect.get_or_raise(self._session.dialect).parser_class
        if parser.JOINS_HAVE_EQUAL_PRECEDENCE or not any(is_comma(join) for join in joins):
            for join in joins:
                self._join(found, join)
            return found
        at = next((n for n, join in enumerate(joins) if is_comma(join)), len(joins))
        for join in joins[:at]:
            self._join(found, join)
        while at < len(joins):  # here a comma binds weaker than JOIN: what follows it is joined first
            end = next((n for n in range(at + 1, len(joins)) if is_comma(joins[n])), len(joins))
            self._join(found, joins[at], list(joins[at + 1 : end]))
            at = end
        return found

    def _join(self, found: From, join: exp.Join, inner: list[exp.Join] | None = None) -> None:
        factor = join.this
        if isinstance(factor, exp.Lateral) and not isinstance(factor.this, exp.Subquery | exp.Select):
            self._joined_rows(found, factor, join)
            return
        is_array_join = str(join.args.get("kind") or "").upper() == "ARRAY"  # as ClickHouse says explode
        if isinstance(factor, exp.Unnest | exp.TableFromRows) or is_table_generator(factor) or is_array_join:
            self._joined_rows(found, factor, join)
            return
        is_lateral = isinstance(factor, exp.Lateral)
        if is_lateral or (self._session.dialect == _LATERAL_UNSAID and isinstance(factor, exp.Subquery | exp.Values)):
            left = found.scope
            around = Scope(self._session, list(left.relations), dict(left.merged), parent=left.parent, is_beside=not is_lateral)
            right, names = self._factor(factor, around)
            is_lateral = is_lateral or _reads_of(right, found.plan)
        elif inner:
            chained = self._chain(factor, inner, found.scope.parent)
            right, names = chained.plan, chained.scope
        else:
            right, names = self._factor(factor, found.scope.parent)
        kind = kind_of(join)
        if isinstance(factor, exp.Lateral) and factor.args.get("cross_apply") is False:
            kind = "left"
        self._combine(found, right, names, join, kind, is_lateral=is_lateral)

    def _combine(self, found: From, right: Plan, names: Scope, join: exp.Join, kind: JoinKind, *, is_lateral: bool) -> None:
        left_names = [a.name for a in found.scope.star()]
        shared = [i.name for i in join.args.get("using") or ()]
        if (join.args.get("method") or "").upper() == "NATURAL":
            offered = {a.name.lower() for a in names.star()}
            shared = [name for name in left_names if name.lower() in offered]
        pairs = [(found.scope.resolve((name,)), names.resolve((name,)), name) for name in shared]
        equal: list[Expression] = [Comparison("=", a, b) for a, b, _ in pairs if a is not None and b is not None]
        if is_nearest(join) and equal and isinstance(last := equal[-1], Comparison):
            equal[-1] = Comparison(">=", last.left, last.right)
        before = dict(found.scope.merged)
        found.scope.relations.extend(names.relations)
        found.scope.hidden |= names.hidden
        found.scope.merged = {**names.merged, **before}
        for part in (join.args.get("on"), join.args.get("match_condition")):
            if part is not None:
                equal.append(self._reader(found.scope).read(part))
        found.plan = Join(
            left=found.plan,
            right=right,
            kind=kind,
            condition=all_of(equal),
            lateral=is_lateral,
            line=line_of(join.this),
        )
        if kind in ("semi", "anti"):
            gone = {id(relation) for relation in names.relations}
            found.scope.relations = [r for r in found.scope.relations if id(r) not in gone]
            found.scope.merged = before
            keys = [(_id_of(one), name, expression_type(one)) for one, _, name in pairs if one is not None]
            _put_first(found.scope, {name.lower(): Attribute(at, name, type_) for at, name, type_ in keys if at is not None})
            return
        self._merge(found, pairs, kind)

    def _merge(self, found: From, pairs: list[tuple[Expression | None, Expression | None, str]], kind: JoinKind) -> None:
        """The one column that USING and NATURAL leave of each pair."""
        made: list[Alias] = []
        keys: dict[str, Attribute] = {}
        for left, right, name in pairs:
            sides = [found_id for one in (left, right) if (found_id := _id_of(one)) is not None]
            if len(sides) != 2 or left is None or right is None:
                continue
            column = right if kind == "right" else left
            merged = Attribute(sides[kind == "right"], name, expression_type(column))
            if kind == "full":
                merged = self._session.attribute(name, expression_type(left))
                made.append(Alias(merged, Function("coalesce", (left, right))))
            keys[name.lower()] = merged
            found.scope.hidden.update(sides)
        _put_first(found.scope, keys)
        if made:
            passed_on = tuple(Alias(a, reference(a)) for a in found.plan.output)
            found.plan = Project(child=found.plan, items=(*made, *passed_on), line=found.plan.line)

    def _joined_rows(self, found: From, node: exp.Expr, join: exp.Join) -> None:
        """A table function that reads the tables before it, with the condition of its ON where that says anything."""
        condition = join.args.get("on")
        if condition is None or (isinstance(condition, exp.Boolean) and condition.this):
            self._generated(found, node)
            return
        left = found.plan
        found.plan = Read(dataset="(one row)", columns=(), inline=True, rows=1, line=line_of(node))
        self._generated(found, node)
        found.plan = Join(
            left=left,
            right=found.plan,
            kind=kind_of(join),
            condition=self._reader(found.scope).read(condition),
            lateral=True,
            line=line_of(node),
        )

    def _generated(self, found: From, node: exp.Expr) -> None:
        """explode and its like: rows out of a value of each row, no join."""
        inner = node.this if isinstance(node, exp.Lateral | exp.Table | exp.TableFromRows | exp.Alias) else node
        made = self._reader(found.scope).read(inner)
        names, qualifier = alias_of(node)
        if isinstance(inner, exp.Column):
            names, qualifier = [node.alias_or_name], ()
            made = Function("explode", (made,))
        if isinstance(node, exp.TableFromRows) and isinstance(inner, exp.Explode):
            names = names or list(_FLATTENED)
        kind, args = (made.name, made.args) if isinstance(made, Function) else ("", ())
        columns = tuple(self._session.attribute(name, type_) for name, type_ in named_columns(names, kind, args))
        found.plan = Generate(child=found.plan, generator=made, columns=columns, line=line_of(node))
        found.scope.relations.append(Relation(qualifier, columns))

    def _factor(self, node: exp.Expr, around: Scope | None) -> tuple[Plan, Scope]:
        if isinstance(node, exp.Table) and not is_function(node):
            plan, scope = self._table(node, around)
        elif isinstance(node, exp.Pivot):  # a statement of DuckDB's
            plan, scope = self._named(self._query(node, around), node, around)
        elif isinstance(node, exp.Subquery | exp.Paren) and not isinstance(node.this, exp.Query):
            chained = self._chain(node.this, list(node.args.get("joins") or ()), around)
            plan, scope = self._aliased(chained.plan, chained.scope, node)
        elif isinstance(node, exp.Lateral):
            plan, scope = self._named(self._query(node.this, around), node, around)
        elif isinstance(node, exp.Query | exp.Values):
            plan, scope = self._named(self._query(node, around), node, around)
        elif isinstance(node, exp.Unnest | exp.Table):
            plan, scope = self._function(node, around)
        else:
            plan, scope = self._unknown(node, around)
        if node.args.get("sample") is not None:
            plan = Sample(child=plan, line=plan.line)
        for pivot in node.args.get("pivots") or ():
            plan, columns = pivoted(pivot, plan, self._reader(scope))
            _, qualifier = alias_of(pivot)
            scope = Scope(self._session, [Relation(qualifier, columns)], parent=around)
        joins = list(node.args.get("joins") or ())
        if joins and isinstance(node, exp.Table | exp.Query):
            found = From(plan, scope)
            for join in joins:
                self._join(found, join)
            plan, scope = found.plan, found.scope
        return plan, scope

    def _table(self, node: exp.Table, around: Scope | None) -> tuple[Plan, Scope]:
        return self._named_table(tuple(part.name for part in node.parts), node, around)

    def _named_table(self, parts: tuple[str, ...], node: exp.Expr, around: Scope | None) -> tuple[Plan, Scope]:
        names, alias = alias_of(node)
        bound = self._bound(parts)
        open_table = None
        if bound is not None:
            plan: Plan = bound
        else:
            is_path = len(parts) > 1 and "/" in parts[-1]
            where = (parts[-1],) if is_path else parts
            plan, open_table = self._session.read(where, at=node, format_=parts[-2] if is_path else None)
        qualifier = alias or tuple(part.lower() for part in parts)
        plan = self._renamed(plan, names)
        relation = Relation(qualifier, plan.output, open_table)
        return plan, Scope(self._session, [relation], parent=around)

    def _bound(self, parts: tuple[str, ...]) -> Plan | None:
        if len(parts) != 1:
            return None
        for level in reversed(self._bindings):
            if parts[0].lower() in level:
                return level[parts[0].lower()].use(self._session)
        return None

    def _named(self, plan: Plan, node: exp.Expr, around: Scope | None) -> tuple[Plan, Scope]:
        names, qualifier = alias_of(node)
        plan = self._renamed(plan, names)
        return plan, Scope(self._session, [Relation(qualifier, plan.output)], parent=around)

    def _aliased(self, plan: Plan, scope: Scope, node: exp.Expr) -> tuple[Plan, Scope]:
        _, qualifier = alias_of(node)
        if not qualifier:
            return plan, scope
        return plan, Scope(self._session, [Relation(qualifier, tuple(scope.star()))], parent=scope.parent)

    def _renamed(self, plan: Plan, names: list[str]) -> Plan:
        if not names:
            return plan
        kept = list(names) + [a.name for a in plan.output[len(names) :]]
        items = tuple(
            Alias(self._session.attribute(name, a.type), reference(a)) for name, a in zip(kept, plan.output, strict=False)
        )
        return Project(child=plan, items=items, line=plan.line)

    def _function(self, node: exp.Expr, around: Scope | None) -> tuple[Plan, Scope]:
        """A table function as a source of its own: of files, of its arguments alone, or of what nobody knows."""
        call = node.this
        name = function_name(call) if isinstance(node, exp.Table) else None
        told = next((one.name for one in call.find_all(exp.Literal) if one.is_string), None) if name is not None else None
        if name is not None and told is not None and (name.startswith(_READERS) or name == "identifier"):
            return self._named_table((told,) if name != "identifier" else split_name(told), node, around)
        known = BUILT_IN | self._session.own_functions
        if name is not None and name not in known and isinstance(call, exp.Anonymous):
            self._session.lose("plan.unknown_node", f"the table function {name} is not known", node)
            return self._hidden(name, node, around)
        row = Read(dataset="(one row)", columns=(), inline=True, rows=1, line=line_of(node))
        found = From(row, Scope(self._session, parent=around))
        self._generated(found, node)
        return found.plan, found.scope

    def _unknown(self, node: exp.Expr, around: Scope | None) -> tuple[Plan, Scope]:
        kind = type(node).__name__
        self._session.lose("plan.unknown_node", f"a source of kind {kind} is not known", node)
        return self._hidden(kind, node, around)

    def _hidden(self, description: str, node: exp.Expr, around: Scope | None) -> tuple[Plan, Scope]:
        """A source that nobody can see into, with the columns that the text names, or one that stands for all."""
        names, qualifier = alias_of(node)
        columns = tuple(self._session.attribute(name) for name in names or [f"{description}.*"])
        plan = UnknownPlan(description=description, source_type="sql", columns=columns, line=line_of(node))
        return plan, Scope(self._session, [Relation(qualifier, columns)], parent=around)

    def _reader(self, scope: Scope) -> Reader:
        return Reader(scope, self._query)


def _reads_of(plan: Plan, left: Plan) -> bool:
    """Whether a plan reads columns that another puts out."""
    return not {r.id for r in free_references(plan)}.isdisjoint(a.id for a in left.output)


def _put_first(scope: Scope, keys: dict[str, Attribute]) -> None:
    """Those of the last join stand before those of the joins below it."""
    scope.merged = keys | {name: one for name, one in scope.merged.items() if name not in keys}


def _id_of(expression: Expression | None) -> int | None:
    identity = getattr(expression, "id", None)
    return identity if isinstance(identity, int) else None
