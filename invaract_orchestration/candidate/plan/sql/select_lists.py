"""What the elements of a select list put out: a named expression, or the columns of a star."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from invaract_orchestration.candidate.plan.expressions import (
    Alias,
    Attribute,
    ColumnReference,
    Expression,
    UnknownExpression,
    passed,
)
from invaract_orchestration.candidate.plan.render import generated_name
from invaract_orchestration.candidate.plan.sql.expressions import Reader
from invaract_orchestration.candidate.plan.sql.scope import Session, stepped_into
from invaract_orchestration.candidate.plan.sql.values import expression_type
from invaract_orchestration.contract.field_types import Struct


def named_item(node: exp.Expr, expression: Expression, session: Session) -> Alias:
    """The expression under its alias or own name; a column that keeps its name keeps its id."""
    name = _output_name(node, expression, session.dialect)
    if isinstance(expression, ColumnReference) and not expression.path and not expression.outer:
        is_renamed = isinstance(node, exp.Alias) and name.lower() != expression.name.lower()
        if not is_renamed:
            return Alias(Attribute(expression.id, name, expression.type), expression)
    return Alias(session.attribute(name, expression_type(expression)), expression)


def star_in(node: exp.Expr) -> exp.Star | None:
    """The star that an element is, alone or after the name of a table or struct."""
    star = node.this if isinstance(node, exp.Column) else node
    return star if isinstance(star, exp.Star) else None


def starred(star: exp.Star, node: exp.Expr, reader: Reader) -> Iterable[Alias]:
    """The columns that an element with a star stands for."""
    session = reader.scope.session
    left_out = {_last_name(c) for c in _listed(star, "except_", "except")}
    instead = {c.alias.lower(): c for c in _listed(star, "replace") if isinstance(c, exp.Alias)}
    renamed = {_last_name(c.this): c.alias for c in _listed(star, "rename") if isinstance(c, exp.Alias)}
    for item in _columns(node, reader):
        name = item.attribute.name.lower()
        if name in instead:
            yield named_item(instead[name], reader.read(instead[name]), session)
        elif name in renamed:
            yield Alias(session.attribute(renamed[name], item.attribute.type), item.expression)
        elif name not in left_out:
            yield item


def _columns(node: exp.Expr, reader: Reader) -> list[Alias]:
    """Those of the inputs, of one of them, or of a struct; one more for a table whose columns nobody told."""
    scope = reader.scope
    if isinstance(node, exp.Column):
        qualifier = tuple(part.name for part in node.parts[:-1])
        relations = [r for r in scope.relations if r.answers_to(qualifier)][:1]
        if not relations:
            return _fields(qualifier, node, reader)
        columns = [passed(a) for a in relations[0].attributes]
    else:
        relations = scope.relations
        columns = [passed(a) for a in scope.star()]
    more = (_all_of(scope.session, f"{one.open_table}.*") for one in relations if one.open_table is not None)
    return [*columns, *more]


def _fields(qualifier: tuple[str, ...], node: exp.Expr, reader: Reader) -> list[Alias]:
    """The fields of a struct; where nobody knows them, one column that stands for all and has what the struct has."""
    session, whole = reader.scope.session, reader.scope.resolve(qualifier)
    type_ = None if whole is None else expression_type(whole)
    if whole is not None and isinstance(type_, Struct):
        return [Alias(session.attribute(name, inner), stepped_into(whole, (name,))) for name, inner in type_.fields]
    every = f"{'.'.join(qualifier)}.*"
    session.lose("plan.unknown_column", f"the fields of {every} are not known", node)
    return [_all_of(session, every, *(() if whole is None else (whole,)))]


def _all_of(session: Session, every: str, *whole: Expression) -> Alias:
    """One column for those that a star stands for and nobody knows."""
    return Alias(session.attribute(every), UnknownExpression(every, whole))


def _listed(star: exp.Star, *clauses: str) -> list[exp.Expr]:
    return [one for clause in clauses for one in star.args.get(clause) or ()]


def _last_name(node: exp.Expr) -> str:
    return str(node.name).lower()


def _output_name(node: exp.Expr, expression: Expression, dialect: str) -> str:
    name = node.alias_or_name if isinstance(node, exp.Alias | exp.Column | exp.Dot) else ""
    if isinstance(node, exp.Dot):
        name = node.expression.name
    if not name and node.find(exp.Literal) is not None:
        return generated_name(expression)
    return name or node.sql(dialect=dialect, normalize_functions="lower", comments=False)
