"""PIVOT, an aggregation keyed by what it does not consume, and UNPIVOT, which makes rows of columns."""

from __future__ import annotations

from itertools import product

from sqlglot import exp

from invaract_orchestration.candidate.plan.expressions import (
    UDF,
    AggregateCall,
    Alias,
    Attribute,
    Comparison,
    Expression,
    Function,
    all_of,
    passed,
    reference,
)
from invaract_orchestration.candidate.plan.nodes import Aggregate, Generate, Plan, Project
from invaract_orchestration.candidate.plan.sql.expressions import Reader
from invaract_orchestration.candidate.plan.sql.scope import line_of
from invaract_orchestration.candidate.plan.traverse import rebuilt, references


def pivoted(node: exp.Pivot, child: Plan, reader: Reader) -> tuple[Plan, tuple[Attribute, ...]]:
    """The plan above a pivot or unpivot, and its columns."""
    plan = _unpivot(node, child, reader) if node.args.get("unpivot") else _pivot(node, child, reader)
    return plan, plan.output


def pivot_statement(node: exp.Pivot, child: Plan, reader: Reader) -> Plan:
    """PIVOT and UNPIVOT as DuckDB has them, a statement of its own. The pivoted values, and so the names, only the run knows."""
    columns = [reader.read(one) for one in node.expressions]
    into = node.args.get("into")
    if into is not None:
        return _made_rows(columns, [_label(into.this), *(_label(one) for one in into.expressions)], node, child, reader)
    calls = [(one.alias_or_name, reader.read(one)) for one in node.args.get("using") or ()]
    group = node.args.get("group")
    used = {r.id for one in (*columns, *(call for _, call in calls)) for r in references(one)}
    left = [reference(a) for a in child.output if a.id not in used]
    keys = left if group is None else [reader.read(one) for one in group.expressions]
    items = [passed(a) for a in child.output if any(getattr(k, "id", None) == a.id for k in keys)]
    for name, call in calls:
        items.append(Alias(reader.scope.session.attribute(name or "pivoted"), Function("pivoted", (call, *columns))))
    return Aggregate(child=child, keys=tuple(keys), items=tuple(items), pivot=True, line=line_of(node))


def _pivot(node: exp.Pivot, child: Plan, reader: Reader) -> Plan:
    calls = [(one.alias, reader.read(one)) for one in node.expressions]
    fields = [one for one in node.args.get("fields") or () if isinstance(one, exp.In)]
    tested = [[reader.read(c) for c in _columns(one.this)] for one in fields]
    used = {r.id for e in (*(call for _, call in calls), *(c for t in tested for c in t)) for r in references(e)}
    group = node.args.get("group")
    keys: list[Expression] = [reference(a) for a in child.output if a.id not in used]
    if group is not None and group.expressions:
        keys = [reader.read(one) for one in group.expressions]
    items = [passed(a) for a in child.output if any(getattr(k, "id", None) == a.id for k in keys)]
    values = list(product(*(list(one.expressions) for one in fields)))
    named = [c.name for c in node.args.get("columns") or () if isinstance(c, exp.Expr)]
    session = reader.scope.session
    for value in values:
        for alias, call in calls:
            name = "_".join(part for part in (*(_label(v) for v in value), alias if len(calls) > 1 else "") if part)
            at = len(items) - len(keys)
            name = named[at] if len(named) == len(values) * len(calls) else name
            items.append(Alias(session.attribute(name), _only_for(call, tested, value, reader)))
    return Aggregate(child=child, keys=tuple(keys), items=tuple(items), pivot=True, line=line_of(node))


def _only_for(call: Expression, tested: list[list[Expression]], value: tuple[exp.Expr, ...], reader: Reader) -> Expression:
    """The aggregate over the rows of one pivoted value."""
    parts: list[Expression] = []
    for columns, one in zip(tested, value, strict=True):
        wanted = one.this if isinstance(one, exp.Alias | exp.PivotAlias) else one
        several = wanted.expressions if isinstance(wanted, exp.Tuple) else [wanted]
        parts.extend(Comparison("<=>", c, reader.read(v)) for c, v in zip(columns, several, strict=False))
    condition = all_of(parts)
    if isinstance(call, AggregateCall) and condition is not None:
        return AggregateCall(call.name, call.args, call.distinct, condition)
    if condition is None or isinstance(call, UDF):
        return call
    return rebuilt(call, tuple(_only_for(part, tested, value, reader) for part in call.children))


def _unpivot(node: exp.Pivot, child: Plan, reader: Reader) -> Plan:
    fields = [one for one in node.args.get("fields") or () if isinstance(one, exp.In)]
    taken = [reader.read(c.this if isinstance(c, exp.Alias | exp.PivotAlias) else c) for f in fields for c in f.expressions]
    names = [_label(f.this) for f in fields] + [_label(c) for one in node.expressions for c in _columns(one)]
    return _made_rows(taken, names, node, child, reader)


def _made_rows(taken: list[Expression], names: list[str], node: exp.Pivot, child: Plan, reader: Reader) -> Plan:
    columns = tuple(reader.scope.session.attribute(name) for name in names)
    made = Generate(child=child, generator=Function("unpivot", tuple(taken)), columns=columns, line=line_of(node))
    gone = {r.id for e in taken for r in references(e)}
    return Project(child=made, items=tuple(passed(a) for a in made.output if a.id not in gone), line=made.line)


def _columns(node: exp.Expr) -> list[exp.Expr]:
    return list(node.expressions) if isinstance(node, exp.Tuple) else [node]


def _label(node: exp.Expr) -> str:
    if isinstance(node, exp.Tuple):
        return "_".join(_label(one) for one in node.expressions)
    return node.alias_or_name
