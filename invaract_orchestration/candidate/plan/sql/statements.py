"""Statements: a query, or one that writes; of several, the last with those before it that change rows."""

from __future__ import annotations

from sqlglot import exp

from invaract_orchestration.candidate.plan.nodes import Plan, Project, UnknownPlan
from invaract_orchestration.candidate.plan.row_changes import Path, Script, Write
from invaract_orchestration.candidate.plan.sql.queries import Queries
from invaract_orchestration.candidate.plan.sql.row_changes import RowChanges, assigned_paths
from invaract_orchestration.candidate.plan.sql.scope import line_of

_CHANGES = exp.Insert | exp.Update | exp.Delete | exp.Merge | exp.TruncateTable
_NO_CHANGE = (
    exp.Set, exp.Use, exp.Create, exp.Comment, exp.Describe, exp.Pragma, exp.Transaction, exp.Commit, exp.Cache,
    exp.Uncache, exp.Refresh, exp.Declare,
)  # fmt: skip


class Statements:
    """Translates one statement after the other; views defined on the way can be read by those that follow."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self._session = queries.session
        self._changes = RowChanges(queries)
        self._others: list[Plan] = []
        queries.changing = self._in_with

    def translate(self, statements: list[exp.Expr]) -> Plan:
        """The plan of the last statement, over the others that change rows."""
        for one in statements[:-1]:
            is_view = isinstance(one, exp.Create) and str(one.args.get("kind")).upper() in ("VIEW", "TABLE")
            if is_view and one.expression is not None:
                target = _target(one.this)
                columns = [c.name for c in one.this.expressions] if isinstance(one.this, exp.Schema) else []
                self._queries.bind(target.rpartition(".")[2], self._queries.query(one.expression), columns)
            elif isinstance(one, exp.Query | exp.Values | exp.Paren):
                kind = type(one).__name__
                self._session.lose("plan.unread_statement", f"a {kind} before the last statement is not judged", one)
            elif not isinstance(one, _NO_CHANGE):
                self._others.append(self.statement(one))
        last = self.statement(statements[-1])
        return Script(child=last, others=tuple(self._others)) if self._others else last

    def statement(self, node: exp.Expr) -> Plan:
        """The plan of one statement."""
        match node:
            case exp.Insert() if isinstance(node.expression, exp.Expr):
                return self._write(node, node.expression, _mode_of(node))
            case exp.Create() if isinstance(node.expression, exp.Expr):
                is_anew = bool(node.args.get("replace")) and str(node.args.get("kind")).upper() == "TABLE"
                return self._write(node, node.expression, "overwrite" if is_anew else "create")
            case exp.Merge():
                return self._changes.merge(node)
            case exp.Update():
                return self._changes.update(node)
            case exp.Delete():
                return self._changes.delete(node)
            case exp.TruncateTable():
                return self._changes.truncate(node)
            case exp.Query() | exp.Values() | exp.Table() | exp.Paren() | exp.Pivot():
                return self._queries.query(node)
        kind = type(node).__name__
        self._session.lose("plan.unknown_statement", f"a statement of kind {kind} is not known", node)
        return UnknownPlan(description=kind, source_type="sql", line=line_of(node))

    def _in_with(self, node: exp.Expr) -> Plan | None:
        """A statement in a WITH that changes rows, as the rows that it returns; null for a query."""
        if not isinstance(node, _CHANGES):
            return None
        plan = self.statement(node)
        self._others.append(plan)
        returning = node.args.get("returning")
        items = self._changes.returned(plan, returning.expressions if returning is not None else [])
        return Project(child=plan, items=items, line=line_of(node))

    def _write(self, node: exp.Expr, query: exp.Expr, mode: str) -> Plan:
        with_ = node.args.get("with_")
        if with_ is not None and query.args.get("with_") is None:
            query = query.copy()
            query.set("with_", with_.copy())
        target, replaced = _target(node.this), node.args.get("where")
        if isinstance(replaced, exp.Expr):  # INSERT INTO ... REPLACE WHERE
            gone = exp.Delete(this=node.this.copy(), where=exp.Where(this=replaced.copy()))
            self._others.append(self._changes.delete(gone))
        return Write(
            child=self._queries.query(query), target=target, mode=mode, updated=self._upserted(node, target),
            line=line_of(node.this),
        )  # fmt: skip

    def _upserted(self, node: exp.Expr, target: str) -> tuple[Path, ...] | None:
        """The columns that an INSERT sets in rows that are there already."""
        conflict = node.args.get("conflict")
        if conflict is not None:
            return tuple(path for one in conflict.expressions for path in assigned_paths(one, None))
        if str(node.args.get("alternative") or "").upper() != "REPLACE":
            return ()
        known = self._session.columns_of(target)
        return None if known is None else tuple((name,) for name in known)


def _mode_of(node: exp.Insert) -> str:
    """Whether an INSERT adds rows, or takes the place of all rows or of some partitions'."""
    if not node.args.get("overwrite"):
        return "append"
    named = node.args.get("partition") or node.this.args.get("partition")
    return "overwrite_partitions" if isinstance(named, exp.Expr) else "overwrite"


def _target(node: exp.Expr) -> str:
    table = node.this if isinstance(node, exp.Schema) else node
    return ".".join(part.name for part in table.parts) if isinstance(table, exp.Table) else str(table.name)
