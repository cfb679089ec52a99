"""Statements: a query, one that writes, or row-level changes of a table."""

from __future__ import annotations

from sqlglot import exp

from invaract_orchestration.candidate.plan.expressions import Expression
from invaract_orchestration.candidate.plan.nodes import (
    Delete,
    Merge,
    MergeAction,
    Plan,
    UnknownPlan,
    Update,
    Write,
)
from invaract_orchestration.candidate.plan.sql.expressions import Reader
from invaract_orchestration.candidate.plan.sql.queries import Queries
from invaract_orchestration.candidate.plan.sql.relations import From
from invaract_orchestration.candidate.plan.sql.scope import Scope, line_of


class Statements:
    """Translates one statement after the other; views defined on the way can be read by those that follow."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self._session = queries.session

    def translate(self, statements: list[exp.Expr]) -> Plan:
        """The plan of the last statement."""
        for one in statements[:-1]:
            is_view = isinstance(one, exp.Create) and str(one.args.get("kind")).upper() in ("VIEW", "TABLE")
            if is_view and one.expression is not None:
                target = _target(one.this)
                self._queries.bind(target.rpartition(".")[2], self._queries.query(one.expression))
            else:
                kind = type(one).__name__
                self._session.lose("plan.unread_statement", f"a {kind} before the last statement is not judged", one)
        return self.statement(statements[-1])

    def statement(self, node: exp.Expr) -> Plan:
        """The plan of one statement."""
        match node:
            case exp.Insert() if isinstance(node.expression, exp.Expr):
                mode = "overwrite" if node.args.get("overwrite") else "append"
                return self._write(node, node.expression, mode)
            case exp.Create() if isinstance(node.expression, exp.Expr):
                return self._write(node, node.expression, "create")
            case exp.Merge():
                return self._merge(node)
            case exp.Update():
                return self._update(node)
            case exp.Delete() | exp.TruncateTable():
                return self._delete(node)
            case exp.Query() | exp.Values() | exp.Table() | exp.Paren():
                return self._queries.query(node)
        kind = type(node).__name__
        self._session.lose("plan.unknown_statement", f"a statement of kind {kind} is not known", node)
        return UnknownPlan(description=kind, source_type="sql", line=line_of(node))

    def _write(self, node: exp.Expr, query: exp.Expr, mode: str) -> Plan:
        with_ = node.args.get("with_")
        if with_ is not None and query.args.get("with_") is None:
            query = query.copy()
            query.set("with_", with_.copy())
        return Write(child=self._queries.query(query), target=_target(node.this), mode=mode, line=line_of(node.this))

    def _merge(self, node: exp.Merge) -> Plan:
        target, source = self._source(node.this), self._source(node.args["using"])
        both = Scope(self._session, [*target.scope.relations, *source.scope.relations])
        reader = Reader(both, self._queries.query)
        whens = node.args["whens"].expressions if node.args.get("whens") is not None else ()
        return Merge(
            target=target.plan,
            source=source.plan,
            condition=reader.read(node.args["on"]),
            actions=tuple(_action(one, reader) for one in whens),
            line=line_of(node.this),
        )

    def _update(self, node: exp.Update) -> Plan:
        found = self._source(node.this)
        extra = node.args.get("from_")
        if extra is not None:
            found.scope.relations.extend(self._source(extra.this).scope.relations)
        reader = Reader(found.scope, self._queries.query)
        where = node.args.get("where")
        pairs = ((_assigned(one), one) for one in node.expressions if isinstance(one, exp.EQ))
        return Update(
            child=found.plan,
            condition=None if where is None else reader.read(where.this),
            assignments=tuple((name, reader.read(one.expression)) for name, one in pairs),
            line=line_of(node.this),
        )

    def _delete(self, node: exp.Expr) -> Plan:
        target = node.expressions[0] if isinstance(node, exp.TruncateTable) else node.this
        found = self._source(target)
        where = node.args.get("where")
        condition: Expression | None = None
        if where is not None:
            condition = Reader(found.scope, self._queries.query).read(where.this)
        return Delete(child=found.plan, condition=condition, line=line_of(target))

    def _source(self, node: exp.Expr) -> From:
        return self._queries.relations.build(exp.Select(from_=exp.From(this=node.copy())), None)


def _action(node: exp.Expr, reader: Reader) -> MergeAction:
    matched, by_source = node.args.get("matched"), node.args.get("source")
    then = node.args.get("then")
    condition = node.args.get("condition")
    assigned: tuple[str, ...] | None = ()
    if isinstance(then, exp.Update):
        is_star = not then.expressions or isinstance(then.expressions[0], exp.Star)
        assigned = None if is_star else tuple(_assigned(one) for one in then.expressions)
    elif isinstance(then, exp.Insert):
        columns = getattr(then.this, "expressions", None)
        assigned = None if isinstance(then.this, exp.Star) or not columns else tuple(c.name for c in columns)
    text = then.name.upper() if isinstance(then, exp.Var) else type(then).__name__.upper()
    if text == "VAR":
        text = str(getattr(then, "this", "")).upper()
    return MergeAction(
        when="matched" if matched else "not_matched_by_source" if by_source else "not_matched",
        action={"UPDATE": "update", "DELETE": "delete", "INSERT": "insert"}.get(text, "nothing"),  # type: ignore[arg-type]
        condition=None if condition is None else reader.read(condition),
        assigned=assigned,
    )


def _assigned(node: exp.Expr) -> str:
    column = node.this if isinstance(node, exp.EQ) else node
    if isinstance(column, exp.Column):
        return str(column.parts[-1].name)
    return str(getattr(column, "name", ""))


def _target(node: exp.Expr) -> str:
    table = node.this if isinstance(node, exp.Schema) else node
    return ".".join(part.name for part in table.parts) if isinstance(table, exp.Table) else str(table.name)
