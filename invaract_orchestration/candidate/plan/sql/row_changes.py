"""MERGE, UPDATE and DELETE, in the forms of the dialects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal as OneOf

from sqlglot import exp

from invaract_orchestration.candidate.plan.expressions import (
    Alias,
    Comparison,
    Expression,
    Literal,
    all_of,
    passed,
)
from invaract_orchestration.candidate.plan.nodes import Filter, Join, Plan, Project, Read
from invaract_orchestration.candidate.plan.row_changes import Delete, Merge, MergeAction, Path, Update
from invaract_orchestration.candidate.plan.sql.expressions import Reader
from invaract_orchestration.candidate.plan.sql.queries import Queries
from invaract_orchestration.candidate.plan.sql.relations import From
from invaract_orchestration.candidate.plan.sql.scope import Relation, Scope, line_of
from invaract_orchestration.candidate.plan.sql.values import expression_type
from invaract_orchestration.candidate.plan.traverse import post_order

_ACTIONS: dict[str, OneOf["update", "delete", "insert"]] = {"UPDATE": "update", "DELETE": "delete", "INSERT": "insert"}


class RowChanges:
    """Translates the statements that change rows of a table."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self._session = queries.session

    def merge(self, node: exp.Merge) -> Plan:
        """MERGE INTO, matched by ON or by USING."""
        target, source = self._source(node.this), self._source(node.args["using"])
        both = Scope(self._session, [*target.scope.relations, *source.scope.relations])
        reader = Reader(both, self._queries.query)
        on = node.args.get("on")
        shared = [one.name for one in node.args.get("using_cond") or ()]
        equal = [_equal(target.scope, source.scope, name) for name in shared]
        parts = [*([reader.read(on)] if isinstance(on, exp.Expr) else []), *(one for one in equal if one is not None)]
        whens = node.args["whens"].expressions if node.args.get("whens") is not None else ()
        return Merge(
            target=target.plan,
            source=source.plan,
            condition=all_of(parts) or Literal(True),
            actions=tuple(_action(one, reader, target.scope) for one in whens),
            line=line_of(node.this),
        )

    def update(self, node: exp.Update) -> Plan:
        """UPDATE, with the tables beside the target that FROM or a join names."""
        extra = node.args.get("from_")
        others = [] if extra is None else [extra.this]
        if extra is not None and _names_one_of(node.this, extra):
            found = self._source(extra.this)
        else:
            found = self._source(node.this, others)
        target = _relation_of(found.scope, node.this)
        reader = Reader(found.scope, self._queries.query)
        condition = self._condition(node, found, reader)
        pairs = [(path, one) for one in node.expressions for path in assigned_paths(one, target)]
        return Update(
            child=_restricted(found.plan, condition),
            condition=condition,
            assignments=tuple((path, reader.read(_value(one))) for path, one in pairs),
            target=_dataset_of(found.plan, target),
            line=line_of(node.this),
        )

    def delete(self, node: exp.Delete) -> Plan:
        """DELETE, with the tables beside the target that USING or a join names."""
        named = (node.args.get("tables") or [node.this])[0]
        found = self._source(node.this or named, node.args.get("using") or [])
        condition = self._condition(node, found, Reader(found.scope, self._queries.query))
        return Delete(child=_restricted(found.plan, condition), condition=condition, line=line_of(named))

    def truncate(self, node: exp.TruncateTable) -> Plan:
        """TRUNCATE takes every row, of one partition where the text names one."""
        found = self._source(node.expressions[0])
        partition = node.args.get("partition") or node.expressions[0].args.get("partition")
        reader = Reader(found.scope, self._queries.query)
        parts = [reader.read(one) for one in partition.expressions] if isinstance(partition, exp.Expr) else []
        return Delete(child=found.plan, condition=all_of(parts), line=line_of(node.expressions[0]))

    def returned(self, plan: Plan, expressions: Iterable[exp.Expr]) -> tuple[Alias, ...]:
        """RETURNING, as a select list over the rows that were changed."""
        reader = Reader(Scope(self._session, [Relation((), plan.output)]), self._queries.query)
        items: list[Alias] = []
        for one in expressions:
            if isinstance(one, exp.Star):
                items.extend(passed(a) for a in plan.output)
                continue
            made = reader.read(one)
            items.append(Alias(self._session.attribute(one.alias_or_name, expression_type(made)), made))
        return tuple(items)

    def _source(self, node: exp.Expr, others: Iterable[exp.Expr] = ()) -> From:
        joins = [exp.Join(this=one.copy()) for one in others]
        return self._queries.relations.build(exp.Select(from_=exp.From(this=node.copy()), joins=joins), None)

    @staticmethod
    def _condition(node: exp.Expr, found: From, reader: Reader) -> Expression | None:
        """WHERE, and the conditions of the joins that take rows of the target away."""
        where = node.args.get("where")
        parts = [] if where is None else [reader.read(where.this)]
        plan = found.plan
        while isinstance(plan, Join):
            if plan.kind in ("inner", "cross", "semi", "right") and plan.condition is not None:
                parts.append(plan.condition)
            plan = plan.left
        return all_of(parts)


def assigned_paths(node: exp.Expr, target: Relation | None) -> list[Path]:
    """The columns of the target that one element of SET names; an empty path for one that cannot be read."""
    left = node.this if isinstance(node, exp.EQ) else node
    while isinstance(left, exp.Paren | exp.Bracket):
        left = left.this
    if isinstance(left, exp.Tuple):
        return [path for one in left.expressions for path in assigned_paths(one, target)]
    if isinstance(left, exp.Identifier):
        return [(left.name,)]
    if not isinstance(left, exp.Column):
        return [()]
    parts = tuple(part.name for part in left.parts)
    for depth in range(len(parts) - 1, 0, -1):
        if target is not None and target.answers_to(parts[:depth]) and (target.open_table or target.named(parts[depth])):
            return [parts[depth:]]
    return [parts]


def _value(node: exp.Expr) -> exp.Expr:
    return node.expression if isinstance(node, exp.EQ) else node


def _names_one_of(target: exp.Expr, source: exp.Expr) -> bool:
    """Whether a target is only the alias of a table of FROM, as T-SQL writes it."""
    if not isinstance(target, exp.Table) or target.args.get("db") is not None:
        return False
    return any(one.alias.lower() == target.name.lower() for one in source.find_all(exp.Table) if one.alias)


def _relation_of(scope: Scope, target: exp.Expr) -> Relation | None:
    name = target.alias_or_name
    return next((r for r in scope.relations if r.answers_to((name,))), next(iter(scope.relations), None))


def _dataset_of(plan: Plan, relation: Relation | None) -> str | None:
    """The dataset whose columns the relation has."""
    ids = {a.id for a in relation.attributes} if relation is not None else set()
    reads = [node for node in post_order(plan, subqueries=False) if isinstance(node, Read)]
    return next((one.dataset for one in reads if ids & {a.id for a in one.output} or len(reads) == 1), None)


def _restricted(plan: Plan, condition: Expression | None) -> Plan:
    """The joined tables under their WHERE; a single table stays as it is."""
    return Filter(child=plan, condition=condition) if isinstance(plan, Join | Project) and condition is not None else plan


def _equal(target: Scope, source: Scope, name: str) -> Expression | None:
    left, right = target.resolve((name,)), source.resolve((name,))
    return None if left is None or right is None else Comparison("=", left, right)


def _action(node: exp.Expr, reader: Reader, target: Scope) -> MergeAction:
    matched, by_source = node.args.get("matched"), node.args.get("source")
    then, condition = node.args.get("then"), node.args.get("condition")
    relation = next(iter(target.relations), None)
    assigned: tuple[Path, ...] | None = ()
    if isinstance(then, exp.Update):
        is_star = not then.expressions or isinstance(then.expressions[0], exp.Star)
        assigned = None if is_star else tuple(p for one in then.expressions for p in assigned_paths(one, relation))
    text = str(then.this if isinstance(then, exp.Var) else type(then).__name__).upper()
    return MergeAction(
        when="matched" if matched else "not_matched_by_source" if by_source else "not_matched",
        action=_ACTIONS.get(text, "nothing"),
        condition=None if condition is None else reader.read(condition),
        assigned=assigned,
    )
