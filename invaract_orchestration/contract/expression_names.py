"""What a parsed expression reads: columns, fields inside of them, and what their types rule out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sqlglot import exp

from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract.report import shown, suggest

Columns = Mapping[str, ft.FieldType | None]
"""The type of each column, none where it is not known."""

_NEVER_A_CONDITION: tuple[type[exp.Expr], ...] = (
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.DPipe, exp.Neg, exp.Interval, exp.CurrentDate,
    exp.CurrentTimestamp, exp.Length, exp.Lower, exp.Upper, exp.Trim, exp.Abs, exp.Round, exp.Concat, exp.Substring,
    exp.Year, exp.Month, exp.Day, exp.TsOrDsToDate, exp.DateDiff, exp.ArraySize,
)  # fmt: skip


class ExpressionError(ValueError):
    """An expression that cannot be a rule; `offset` is the character of its text at which that shows."""

    def __init__(self, sentence: str, *, offset: int = 0, hint: str | None = None) -> None:
        self.offset = offset
        self.hint = hint
        super().__init__(sentence)


def columns_read(expression: exp.Expr, columns: Iterable[str] = ()) -> frozenset[str]:
    """The columns that an expression reads, in the spelling of `columns` where they are known; `a.b` reads `a`.

    Without `columns` the first part of each name is taken as written.
    """
    known = {name.lower(): name for name in columns}
    found = set()
    for node in expression.find_all(exp.Column):
        parts = [part.name for part in node.parts]
        found.add(_resolve(parts, known)[0] or parts[0])
    return frozenset(found)


def unknown_columns(tree: exp.Expr, columns: Columns) -> Iterator[ExpressionError]:
    """An error for each name in the tree that is neither one of the columns nor a field inside of one."""
    known = {name.lower(): name for name in columns}
    for node in tree.find_all(exp.Column):
        identifiers = node.parts
        parts = [part.name for part in identifiers]
        offset = first_offset(identifiers[0])
        name, rest = _resolve(parts, known)
        if name is None:
            hint = suggest(parts[0], columns, "columns")
            yield ExpressionError(f"unknown column {shown('.'.join(parts))}", offset=offset, hint=hint)
            continue
        yield from _unknown_fields(name, columns[name], rest, offset)


def _unknown_fields(
    name: str, type_: ft.FieldType | None, rest: list[str], offset: int
) -> Iterator[ExpressionError]:  # fmt: skip
    above = name
    for part in rest:
        if type_ is None:
            return
        if not isinstance(type_, ft.Struct):
            yield ExpressionError(f"'{above}' is of type {type_}, which has no field '{part}'", offset=offset)
            return
        found = next(((n, t) for n, t in type_.fields if n.lower() == part.lower()), None)
        if found is None:
            hint = suggest(part, [n for n, _ in type_.fields], "fields")
            yield ExpressionError(f"unknown field '{part}' in '{above}'", offset=offset, hint=hint)
            return
        above, type_ = f"{above}.{found[0]}", found[1]


def _resolve(parts: list[str], known: Mapping[str, str]) -> tuple[str | None, list[str]]:
    """The column that a dotted name begins with, and the names after it; a column with dots in its name comes first."""
    for taken in range(len(parts), 0, -1):
        name = known.get(".".join(parts[:taken]).lower())
        if name is not None:
            return name, parts[taken:]
    return None, parts


def ambiguous_types(
    tree: exp.Expr, columns: Columns
) -> Iterator[ExpressionError]:  # fmt: skip
    """Expressions whose value depends on the engine, as far as the columns' types show."""
    for node in tree.find_all(exp.Cast, exp.TryCast, exp.ArraySize):
        if isinstance(node, exp.ArraySize):
            if isinstance(_type_of(node.this, columns), ft.Map):
                hint = "write size(map_keys(...))"
                yield ExpressionError("size() is for lists", offset=first_offset(node.this), hint=hint)
        elif node.args["to"].is_type(*exp.DataType.INTEGER_TYPES) and _may_be_fractional(node.this, columns):
            hint = "say how: floor, ceil or round"
            message = "a cast of a number with decimals to a whole number cuts on one engine and rounds on another"
            yield ExpressionError(message, offset=first_offset(node.this), hint=hint)


def _may_be_fractional(node: exp.Expr, columns: Columns) -> bool:
    node = node.unnest()
    if isinstance(node, exp.Div):
        return True
    if isinstance(node, exp.Literal):
        return not node.is_string and not node.is_int
    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Mod | exp.Neg | exp.Abs | exp.Coalesce):
        return any(_may_be_fractional(child, columns) for child in node.iter_expressions())
    type_ = _type_of(node, columns)
    return type_ in ft.FLOATS or (isinstance(type_, ft.Decimal) and type_.scale > 0)


def may_be_condition(tree: exp.Expr, columns: Columns) -> bool:
    """Whether a tree can be true or false, as far as its outermost part and the columns' types show."""
    node = tree.unnest()
    if isinstance(node, (exp.Literal, exp.Null, *_NEVER_A_CONDITION)):
        return False
    if isinstance(node, exp.Cast | exp.TryCast):
        return bool(node.args["to"].is_type("boolean"))
    if isinstance(node, exp.Column):
        return _type_of(node, columns) in (None, ft.BOOLEAN)
    return True


def _type_of(node: exp.Expr, columns: Columns) -> ft.FieldType | None:
    return column_type(node, columns) if isinstance(node, exp.Column) else None


def column_type(node: exp.Column, columns: Columns) -> ft.FieldType | None:
    """The type of a column or of a field inside of one, none where it is not known."""
    name, rest = _resolve([p.name for p in node.parts], {n.lower(): n for n in columns})
    type_ = columns.get(name) if name is not None else None
    for part in rest:
        fields = type_.fields if isinstance(type_, ft.Struct) else ()
        type_ = next((t for n, t in fields if n.lower() == part.lower()), None)
    return type_


def first_offset(node: exp.Expr | None) -> int:
    """Where a node begins in the text, as far as the parser says."""
    if node is None:
        return 0
    starts = [n.meta["start"] for n in (node, *node.walk()) if "start" in n.meta]
    return min(starts, default=0)
