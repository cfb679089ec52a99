"""The steps of a Spark Connect client that change columns: select, withColumn, renaming, dropping, UNPIVOT."""

from __future__ import annotations

import re
from typing import Any

from invaract_orchestration.candidate.plan.expressions import (
    Alias,
    Cast,
    ColumnReference,
    Expression,
    Function,
    Literal,
    UnknownExpression,
    passed,
    reference,
)
from invaract_orchestration.candidate.plan.nodes import Aggregate, Generate, Project
from invaract_orchestration.candidate.plan.sql.grouping import has_aggregate
from invaract_orchestration.candidate.plan.sql.scope import Session, stepped_into
from invaract_orchestration.candidate.plan.sql.values import expression_type
from invaract_orchestration.candidate.plan.traverse import references
from invaract_orchestration.contract.field_types import BOOLEAN, FLOATS, INTEGERS, STRING, Array, Decimal, FieldType, Map, Struct
from invaract_orchestration.engines.spark.connect_expressions import ConnectReader, output_name, shown_name
from invaract_orchestration.engines.spark.connect_frames import Frame, item_of
from invaract_orchestration.engines.spark.connect_grouping import with_calls
from invaract_orchestration.engines.spark.connect_tables import columns_of

KINDS = frozenset({
    "Project", "WithColumns", "WithColumnsRenamed", "ToDF", "ToSchema", "Drop", "NAFill", "NAReplace", "Unpivot",
})  # fmt: skip


def with_columns(node: Any, below: Frame, reader: ConnectReader) -> Frame:
    """The frame above a step of one of the `KINDS`."""
    folded = reader.session.folded
    match type(node).__name__:
        case "Project":
            return _projected(node, below, reader)
        case "WithColumns":
            named = [(name, reader.read(c)) for name, c in zip(node._columnNames, node._columns, strict=True)]
            return _replaced(below, named, reader)
        case "WithColumnsRenamed":
            new = {folded(old): name for old, name in node._colsMap.items()}
            return _renamed(below, [new.get(folded(a.name), a.name) for a in below.columns], reader)
        case "ToDF":
            return _renamed(below, list(node._cols), reader)
        case "ToSchema":
            return _conformed(node, below, reader)
        case "Drop":
            return _dropped(node, below, reader)
        case "Unpivot":
            return _unpivoted(node, below, reader)
    return _mended(node, below, reader)


def _projected(node: Any, below: Frame, reader: ConnectReader) -> Frame:
    items = [item for column in node._columns for item in _selected(getattr(column, "_expr", column), below, reader)]
    if any(has_aggregate(item) for item in items):
        return below.over(Aggregate(child=below.plan, keys=(), items=tuple(items)))
    return below.over(Project(child=with_calls(below.plan, reader), items=tuple(items)))


def _selected(expression: Any, below: Frame, reader: ConnectReader) -> list[Alias]:
    """What one element of a select list puts out: a column, those of a star or pattern, or several of a generator."""
    match type(expression).__name__:
        case "UnresolvedStar":
            return _star(expression, below, reader)
        case "SQLExpression" if (several := reader.starred_text(expression._expr)) is not None:
            return several
        case "UnresolvedRegex" if expression.col_name.startswith("`"):
            flags = 0 if reader.session.case_sensitive else re.IGNORECASE
            pattern = re.compile(expression.col_name.strip("`"), flags)
            return [passed(a) for a in below.columns if pattern.fullmatch(a.name)]
    count = len(reader.generators)
    made = reader.read(expression)
    several = [item for _, columns in reader.generators[count:] for item in columns]
    names = list(getattr(expression, "_alias", None) or [])
    if len(several) > 1 and (not names or len(names) == len(several)):
        chosen = names or [item.attribute.name for item in several]
        return [item_of(n, reference(i.attribute), reader.session) for n, i in zip(chosen, several, strict=True)]
    return [item_of(shown_name(expression, made), made, reader.session)]


def _star(node: Any, below: Frame, reader: ConnectReader) -> list[Alias]:
    """The columns of the frame, of one of its inputs, or the fields of a struct; where nobody knows these, one for all."""
    found = below.starred(node)
    if found is not None:
        return [passed(a) for a in found]
    every = str(node._unparsed_target)
    whole = reader.column(every.removesuffix(".*"), node._plan_id)
    type_ = expression_type(whole)
    if isinstance(type_, Struct):
        return [item_of(name, stepped_into(whole, (name,)), reader.session) for name, _ in type_.fields]
    return [item_of(every, UnknownExpression(every, (whole,)), reader.session)]


def _replaced(below: Frame, named: list[tuple[str, Expression]], reader: ConnectReader) -> Frame:
    session = reader.session
    new = {session.folded(name): (name, made) for name, made in named}
    items = [
        _made(a.name, new.pop(session.folded(a.name))[1], session) if session.folded(a.name) in new else passed(a)
        for a in below.columns
    ]
    items += [_made(name, made, session) for name, made in new.values()]
    return below.over(Project(child=with_calls(below.plan, reader), items=tuple(items)))


def _made(name: str, value: Expression, session: Session) -> Alias:
    return Alias(session.attribute(name, expression_type(value)), value)


def _renamed(below: Frame, names: list[str], reader: ConnectReader) -> Frame:
    pairs = zip(names, below.columns, strict=True)
    items = tuple(item_of(name, reference(a), reader.session) for name, a in pairs)
    return below.over(Project(child=below.plan, items=items))


def _conformed(node: Any, below: Frame, reader: ConnectReader) -> Frame:
    """to(schema): the columns that it names, in its order and as its types; null for one that is not there."""
    session = reader.session
    own = {session.folded(a.name): a for a in below.columns}
    items = []
    for name, type_ in columns_of(node._schema):
        found = own.get(session.folded(name))
        value = Literal(None, type_) if found is None else _as_declared(reference(found), found.type, type_)
        items.append(item_of(name, value, session))
    return below.over(Project(child=below.plan, items=tuple(items)))


def _as_declared(value: Expression, found: FieldType | None, declared: FieldType | None) -> Expression:
    """A value as a schema declares it: Spark builds a nested one anew (where it is not null), also when nothing changes."""
    match found, declared:
        case Struct(), Struct():
            own = {name.lower(): type_ for name, type_ in found.fields}
            parts = [(stepped_into(value, (name,)), own[name.lower()], t) for name, t in declared.fields if name.lower() in own]
            return Function("named_struct", (value, *(_as_declared(*part) for part in parts)))
        case (Array() | Map()), _:
            return Function("transform", (value,))
    return value if found == declared else Cast(value, declared, found)


def _dropped(node: Any, below: Frame, reader: ConnectReader) -> Frame:
    folded = reader.session.folded
    names = {folded(one) for one in node._columns if isinstance(one, str)}
    read = [reader.read(one) for one in node._columns if not isinstance(one, str)]
    ids = {one.id for one in read if isinstance(one, ColumnReference)}
    kept = tuple(passed(a) for a in below.columns if folded(a.name) not in names and a.id not in ids)
    return below.over(Project(child=below.plan, items=kept))


def _mended(node: Any, below: Frame, reader: ConnectReader) -> Frame:
    """fillna and replace: they change the chosen columns (or all) whose type fits the values."""
    folded = reader.session.folded
    names = {folded(name) for name in node.cols or [a.name for a in below.columns]}
    written = getattr(node, "values", None) or [getattr(old._expr, "_value", None) for old, _ in node.replacements]
    named: list[tuple[str, Expression]] = [
        (a.name, Function("coalesce", (reference(a), Literal(None))))
        for a in below.columns
        if folded(a.name) in names and any(_takes(a.type, value) for value in written)
    ]
    return _replaced(below, named, reader)


def _takes(type_: FieldType | None, value: object) -> bool:
    """Whether a column of the type can be filled with the value; one whose type is not known may be."""
    if type_ is None or value is None:
        return True
    if isinstance(value, bool):
        return type_ == BOOLEAN
    return type_ == STRING if isinstance(value, str) else type_ in (*INTEGERS, *FLOATS) or isinstance(type_, Decimal)


def _unpivoted(node: Any, below: Frame, reader: ConnectReader) -> Frame:
    """The kept columns, then one for the name and one for the value of each column that becomes a row."""
    kept = [reader.read(one) for one in node.ids]
    ids = {r.id for one in kept for r in references(one)}
    others = [reference(a) for a in below.columns if a.id not in ids]
    taken = others if node.values is None else [reader.read(one) for one in node.values]
    names = (str(node.variable_column_name), str(node.value_column_name))
    columns = tuple(reader.session.attribute(name) for name in names)
    made = Generate(child=below.plan, generator=Function("unpivot", tuple(taken)), columns=columns)
    shown = [item_of(output_name(one), read, reader.session) for one, read in zip(node.ids, kept, strict=True)]
    return below.over(Project(child=made, items=(*shown, *(passed(a) for a in columns))))
