"""One SELECT: its clauses in the order in which they take effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from sqlglot import exp

from invaract_orchestration.candidate.plan.expressions import (
    Alias,
    ColumnReference,
    Expression,
    passed,
    reference,
)
from invaract_orchestration.candidate.plan.nodes import Distinct, Filter, Generate, Plan, Project, Window
from invaract_orchestration.candidate.plan.sql.expressions import QueryReader, Reader, WindowCall
from invaract_orchestration.candidate.plan.sql.grouping import GroupedOutput, Keys, has_aggregate
from invaract_orchestration.candidate.plan.sql.relations import Relations
from invaract_orchestration.candidate.plan.sql.scope import Scope, Session, line_of
from invaract_orchestration.candidate.plan.sql.select_lists import named_item, star_in, starred
from invaract_orchestration.candidate.plan.sql.values import function_name
from invaract_orchestration.candidate.plan.traverse import rebuilt, walk

_TIME_WINDOWS = frozenset({"window", "session_window"})
_ALIASES_IN_WHERE = frozenset({"duckdb", "snowflake"})


class Selects:
    """Translates SELECT."""

    def __init__(self, session: Session, query: QueryReader, relations: Relations) -> None:
        self._session = session
        self._query = query
        self._relations = relations

    def select(self, node: exp.Select, around: Scope | None) -> tuple[Plan, Scope]:
        """The plan up to DISTINCT, and the scope in which ORDER BY reads."""
        found = self._relations.build(node, around)
        plan, scope = found.plan, found.scope
        for where in (node.args.get("prewhere"), node.args.get("where")):
            if where is None:
                continue
            with self._with_aliases(node, scope):
                condition = Reader(scope, self._query).read(where.this)
            plan = Filter(child=plan, condition=condition, line=line_of(where))
        named = {w.name.lower(): w for w in node.args.get("windows") or () if isinstance(w, exp.Window)}
        reader = Reader(scope, self._query, windows=[], generators=[], named_windows=named)
        self._name_time_windows(node, reader)
        items = self._items(node, reader)
        for made, columns in reader.generators or ():
            added = tuple(item.attribute for item in columns)
            plan = Generate(child=plan, generator=made, columns=added, line=line_of(node))
        plan = self._computed(node, plan, reader, items)
        distinct = node.args.get("distinct")
        scope.outputs = {item.attribute.name.lower(): reference(item.attribute) for item in items}
        if distinct is not None:
            on = distinct.args.get("on")
            columns_on = on.expressions if isinstance(on, exp.Tuple) else [on] if on is not None else []
            plan = Distinct(child=plan, columns=tuple(Reader(scope, self._query).read(c) for c in columns_on))
        return plan, scope

    @contextmanager
    def _with_aliases(self, node: exp.Select, scope: Scope) -> Iterator[None]:
        """WHERE with the aliases of the select list, in a dialect that lets it read them; a column of that name goes first."""
        is_told = all(relation.open_table is None for relation in scope.relations)
        if is_told and self._session.dialect in _ALIASES_IN_WHERE:
            for one in node.expressions:
                if isinstance(one, exp.Alias) and not scope.knows((one.alias,)):
                    scope.aliases[one.alias.lower()] = Reader(scope, self._query).read(one.this)
        yield
        scope.aliases.clear()

    @staticmethod
    def _name_time_windows(node: exp.Select, reader: Reader) -> None:
        """A time window that is grouped by can be read under the name of its function."""
        group = node.args.get("group")
        for one in () if group is None else group.expressions:
            name = function_name(one)
            if name in _TIME_WINDOWS:
                reader.scope.aliases[name] = reader.read(one)

    def _computed(self, node: exp.Select, plan: Plan, reader: Reader, items: list[Alias]) -> Plan:
        """Grouping, windows and the select list."""
        keys = Keys(node.args.get("group"), reader, items)
        having = self._condition(node.args.get("having"), reader.scope, items)
        qualify = node.args.get("qualify")
        tested: Expression | None = None
        if qualify is not None:
            for item in items:
                reader.scope.aliases[item.attribute.name.lower()] = reference(item.attribute)
            tested = reader.read(qualify.this)
        windows = reader.windows or []
        made = {call.item.attribute.id for call in windows}
        is_grouped = node.args.get("group") is not None or any(
            has_aggregate(e) for e in (*items, *((having,) if having is not None else ()), *_within(windows))
        )
        if is_grouped:
            before = [item for item in items if not _reads(item, made)]
            output = GroupedOutput(self._session, keys, before)
            above = None if having is None else output.over(having)
            windows = [_above(call, output) for call in windows]
            items = [passed(i.attribute) if not _reads(i, made) else _over(i, output) for i in items]
            tested = None if tested is None else output.over(tested)
            plan = output.node(plan, node.args.get("group"))
            if above is not None:
                plan = Filter(child=plan, condition=above, line=line_of(node.args.get("having")))
            if not windows and tested is None and not output.has_hidden:
                return plan
        elif having is not None:
            plan = Filter(child=plan, condition=having, line=line_of(node.args.get("having")))
        for call in windows:
            plan = Window(
                child=plan,
                items=(call.item,),
                partition_by=call.partition_by,
                order_by=call.order_by,
                line=line_of(node),
            )
        return self._projected(node, plan, items, tested)

    @staticmethod
    def _projected(node: exp.Select, plan: Plan, items: list[Alias], tested: Expression | None) -> Plan:
        if tested is None:
            return Project(child=plan, items=tuple(items), line=line_of(node))
        own = {item.attribute.id for item in items}
        wide = Project(
            child=plan,
            items=(*items, *(passed(a) for a in plan.output if a.id not in own)),
            line=line_of(node),
        )
        kept = Filter(child=wide, condition=tested, line=line_of(node.args.get("qualify")))
        return Project(child=kept, items=tuple(passed(item.attribute) for item in items), line=wide.line)

    def _condition(self, clause: exp.Expr | None, scope: Scope, items: list[Alias]) -> Expression | None:
        if clause is None:
            return None
        scope.outputs = {item.attribute.name.lower(): reference(item.attribute) for item in items}
        condition = Reader(scope, self._query).read(clause.this)
        scope.outputs = {}
        return condition

    def _items(self, node: exp.Select, reader: Reader) -> list[Alias]:
        items: list[Alias] = []
        for one in node.expressions:
            star = star_in(one)
            if star is not None:
                items.extend(starred(star, one, reader))
                continue
            count = len(reader.generators or ())
            expression = reader.read(one)
            new = (reader.generators or [])[count:]
            if new and isinstance(expression, ColumnReference) and expression.id == new[-1][1][0].attribute.id:
                items.extend(passed(item.attribute) for item in new[-1][1])
                continue
            item = named_item(one, expression, self._session)
            items.append(item)
            if isinstance(one, exp.Alias):
                reader.scope.aliases.setdefault(one.alias.lower(), expression)
        return items


def _within(windows: list[WindowCall]) -> Iterable[Expression]:
    """What the windows read below their own functions."""
    for call in windows:
        yield from (child for child in call.item.expression.children)
        yield from call.partition_by
        yield from call.order_by


def _reads(item: Alias, ids: set[int]) -> bool:
    return any(isinstance(node, ColumnReference) and node.id in ids for node in walk(item))


def _over(item: Alias, output: GroupedOutput) -> Alias:
    return Alias(item.attribute, output.over(item.expression))


def _above(call: WindowCall, output: GroupedOutput) -> WindowCall:
    own = call.item.expression
    return WindowCall(
        Alias(call.item.attribute, rebuilt(own, tuple(output.over(child) for child in own.children))),
        tuple(output.over(one) for one in call.partition_by),
        tuple(output.over(one) for one in call.order_by),
    )
