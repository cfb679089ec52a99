"""What a step finds and what it gives, and the parts that its query is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from invaract_orchestration.candidate import step_marks as m
from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract.literals import canonical_literal
from invaract_orchestration.contract.report import suggest
from invaract_orchestration.contract.step_columns import SOURCE
from invaract_orchestration.contract.step_expressions import parse_value
from invaract_orchestration.errors import GateError

ROW = "invaract_row"
"""The hidden column that says which record of the source a row comes from."""
Columns = Mapping[str, ft.FieldType]
"""Name to type, in the order of the columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepQuery:
    """A step's query; `has_row` says whether its rows still name the record that they come from."""

    tree: exp.Query
    has_row: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StepInput:
    """What a step finds: the columns of the rows, whether they name their record, and the columns of the links."""

    columns: Columns
    has_row: bool
    links: Mapping[str, Columns]

    def name(self, given: str) -> str:
        """The column of that name in its own spelling.

        Raises:
            GateError: there is none.
        """
        return found_name(given, self.columns, "columns at this step")

    def type(self, given: str) -> ft.FieldType:
        """The type of a column. Raises GateError where there is none."""
        return self.columns[self.name(given)]

    def column(self, given: str, table: str | None = None) -> exp.Expr:
        """A column, quoted. Raises GateError where there is none."""
        return quoted_column(self.name(given), table)

    def link(self, given: str) -> tuple[str, Columns]:
        """A link's name and columns. Raises GateError where there is none."""
        name = found_name(given, self.links, "links")
        return name, self.links[name]


def step_error(message: str, hint: str | None = None) -> GateError:
    """A step that cannot be done on the columns that are there."""
    return GateError(message, hint=hint, code="transformation.impossible")


def found_name(given: str, known: Iterable[str], what: str) -> str:
    """The known name that a given one means, in its own spelling. Raises GateError where there is none."""
    names = {name.lower(): name for name in known}
    if given.lower() not in names:
        message = f"unknown {what.split()[0][:-1]} {given!r}"
        raise GateError(message, code="transformation.unknown_name", hint=suggest(given, names.values(), what))
    return names[given.lower()]


def quoted_column(name: str, table: str | None = None) -> exp.Expr:
    """A column by its name, taken literally."""
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def under_name(tree: exp.Expr, name: str) -> exp.Expr:
    """An expression as a column of that name."""
    return exp.Alias(this=tree, alias=exp.to_identifier(name, quoted=True))


def select_rows(expressions: Iterable[exp.Expr], *, has_row: bool, table: exp.Expr | str = SOURCE) -> exp.Select:
    """A query of these expressions, and of the hidden column where there is one."""
    row = [exp.column(ROW)] if has_row else []
    return exp.Select().select(*expressions, *row, copy=False).from_(table, copy=False)


def text_literal(value: str) -> exp.Expr:
    """A text as a value."""
    return exp.Literal.string(value)


def typed_literal(written: str | None, type_: ft.FieldType, what: str) -> exp.Expr:
    """A value of the contract as a value of a type; null where none is written."""
    if written is None:
        return exp.Null()
    if type_ == ft.STRING:
        return text_literal(written)
    try:
        canonical = canonical_literal(written, type_)
    except ValueError as error:
        raise step_error(f"{what}: {error}") from None
    return exp.Cast(this=text_literal(canonical), to=exp.DataType.build(str(type_), dialect="spark"))


def with_columns(rows: StepInput, made: Mapping[str, exp.Expr], *, table: str | None = None) -> list[exp.Expr]:
    """All columns; those that are made in the place of the old ones, or behind them."""
    known = {name.lower(): name for name in rows.columns}
    under = {known.get(name.lower(), name): tree for name, tree in made.items()}
    kept = [under_name(under[n], n) if n in under else under_name(quoted_column(n, table), n) for n in rows.columns]
    return kept + [under_name(tree, n) for n, tree in under.items() if n not in rows.columns]


def in_place(rows: StepInput, made: Mapping[str, exp.Expr]) -> StepQuery:
    """The query that gives these columns values of their own and leaves the others."""
    return StepQuery(tree=select_rows(with_columns(rows, made), has_row=rows.has_row), has_row=rows.has_row)


def require_texts(names: Iterable[str], rows: StepInput, kind: str) -> list[str]:
    """Columns by name that are texts. Raises GateError for any other."""
    found = [rows.name(n) for n in names]
    for name in found:
        if rows.columns[name] != ft.STRING:
            raise step_error(f"{kind} is for texts, and column {name!r} is {rows.columns[name]}", "cast it to string first")
    return found


def cast(value: exp.Expr, from_: ft.FieldType, to: ft.FieldType, name: str) -> exp.Expr:
    """A value as another type, null where it cannot be. Raises GateError for types between which there is no way."""
    if from_ == to:
        return value
    if to == ft.STRING and isinstance(from_, ft.Array | ft.Map | ft.Struct):
        return m.mark(m.JSON_TEXT, value, from_)
    if not can_cast(from_, to):
        raise step_error(f"column {name!r} is {from_}, which cannot be cast to {to}")
    return m.mark(m.CAST, value, from_, to)


def common_type(names: Sequence[str], rows: StepInput, what: str) -> ft.FieldType:
    """The type that holds the values of all columns: their own, or for whole numbers and floats the wider one.

    Raises:
        GateError: there is none.
    """
    types = [rows.columns[n] for n in names]
    if all(t in (*ft.INTEGERS, *ft.FLOATS) for t in types) and len(set(types)) > 1:
        is_whole = all(t in ft.INTEGERS for t in types)
        return max(types, key=ft.INTEGERS.index) if is_whole else ft.DOUBLE
    other = next((n for n, t in zip(names, types, strict=True) if t != types[0]), None)
    if other is not None:
        raise step_error(
            f"{what} takes columns of one type: {names[0]!r} is {types[0]}, {other!r} is {rows.columns[other]}",
            "cast one of them first",
        )
    return types[0]


def can_cast(from_: ft.FieldType, to: ft.FieldType) -> bool:
    """Whether values of a type can become values of another."""
    nested = (ft.Array, ft.Map, ft.Struct)
    if from_ == to or to == ft.STRING:
        return from_ != ft.BINARY or to != ft.STRING
    if isinstance(from_, nested) or isinstance(to, nested) or ft.BINARY in (from_, to):
        return False
    times = (ft.DATE, ft.TIMESTAMP, ft.TIMESTAMP_NTZ)
    return from_ == ft.STRING or (from_ in times) == (to in times)


def expression(sql: str, rows: StepInput, *, may_aggregate: bool = False) -> exp.Expr:
    """A Spark SQL expression over the columns. Raises GateError for a column that is not there."""
    tree = exp.paren(parse_value(sql, may_aggregate=may_aggregate), copy=False)
    for node in list(tree.find_all(exp.Column)):
        parts = [p.name for p in node.parts]
        node.replace(_resolved(parts, rows))
    return tree


def _resolved(parts: list[str], rows: StepInput) -> exp.Expr:
    known = {name.lower(): name for name in rows.columns}
    for taken in range(len(parts), 0, -1):
        name = known.get(".".join(parts[:taken]).lower())
        if name is not None:
            value = quoted_column(name)
            for part in parts[taken:]:
                value = exp.Dot(this=value, expression=exp.to_identifier(part, quoted=True))
            return value
    return rows.column(parts[0])


def moment_of(kind: str, given: str, rows: StepInput, step: str) -> exp.Expr:
    """The date or the time (a mark says which) of a column. Raises GateError where its type has none."""
    name = rows.name(given)
    type_ = rows.columns[name]
    if type_ not in (ft.STRING, ft.DATE, ft.TIMESTAMP, ft.TIMESTAMP_NTZ):
        raise step_error(f"{step} reads dates and times, and column {name!r} is {type_}")
    return m.mark(kind, quoted_column(name), type_)
