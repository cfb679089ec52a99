"""The steps of a contract compiled: a chain of queries for each phase, with the columns and types after each of them.

An engine defines each query as a view over the one before, so that a phase is one plan to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from invaract_orchestration.candidate import step_marks as m
from invaract_orchestration.candidate.step_input import ROW, Columns, StepInput, StepQuery, can_cast, cast
from invaract_orchestration.candidate.step_queries import step_query
from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract.fields import FieldSpec
from invaract_orchestration.contract.model import Contract, Phase
from invaract_orchestration.contract.step_columns import SOURCE
from invaract_orchestration.contract.transformations import ROW_KEEPING, Transformation
from invaract_orchestration.errors import GateError

ARRIVED, GOOD = "invaract_arrived", "invaract_good"
"""The relations that the two phases begin with: the records in their form, and the rows that passed the checks before."""


class StepViews(Protocol):
    """Where an engine keeps the queries of a chain."""

    def begin(self, name: str, columns: Columns, *, has_row: bool) -> None:
        """A relation without rows, of these columns, that a phase begins with."""

    def define(self, name: str, tree: exp.Query, tables: Mapping[str, str]) -> Columns:
        """Define a query over relations, by their names in it; its columns without the hidden ones. Raises GateError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    """One step of a chain: its position in the contract, its kind, the view that it is, and its input's."""

    at: int
    kind: str
    view: str
    before: str
    tree: exp.Query

    @property
    def keeps_rows(self) -> bool:
        """Whether it gives a row for each row."""
        return self.kind in ROW_KEEPING


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """One phase. `view` is its last relation: the columns as fields of the contract where they are such, the hidden column of
    the record where `has_row`, and for each entry of `casts` (field, flag) whether a value could not become the field's type.
    """

    phase: Phase
    begins: str
    view: str
    steps: tuple[StepView, ...]
    tree: exp.Query
    made: Columns
    """The columns as the last step gives them."""
    columns: Columns
    """The columns of `view`."""
    has_row: bool
    casts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPlan:
    """Both phases. `source` is what is promised of the columns as they arrive."""

    source: Contract
    links: Mapping[str, Columns]
    pre: Chain
    post: Chain

    @property
    def arrived(self) -> frozenset[str]:
        """The source's columns, in lower case."""
        return frozenset(f.name.lower() for f in self.source.fields)

    @property
    def created(self) -> tuple[str, ...]:
        """The columns that only a post step makes."""
        early = {n.lower() for n in self.pre.columns}
        return tuple(n for n in self.post.columns if n.lower() not in early)


def compile_steps(contract: Contract, source: Contract, links: Mapping[str, Columns], views: StepViews) -> StepPlan:
    """The steps of a contract over the columns that arrive.

    Raises:
        GateError: a step cannot be done on the columns that are there; no row was read for it.
    """
    columns = {f.name: f.type for f in source.fields}
    views.begin(ARRIVED, columns, has_row=True)
    pre = _chain(contract, "pre", ARRIVED, columns, True, links, views)
    views.begin(GOOD, pre.columns, has_row=pre.has_row)
    post = _chain(contract, "post", GOOD, pre.columns, pre.has_row, links, views)
    return StepPlan(source=source, links=links, pre=pre, post=post)


def _chain(
    contract: Contract, phase: Phase, begins: str, columns: Columns, has_row: bool, links: Mapping[str, Columns],
    views: StepViews,
) -> Chain:  # fmt: skip
    before, steps = begins, []
    for at, step in enumerate(contract.transformations):
        if step.runs_in != phase:
            continue
        query = _placed(at, step, StepInput(columns=columns, has_row=has_row, links=links))
        view = f"invaract_{phase}_{at}"
        columns = _defined(at, step, views, view, query.tree, {SOURCE: before, **{n.lower(): link_view(n) for n in links}})
        has_row = query.has_row
        steps.append(StepView(at=at, kind=step.kind, view=view, before=before, tree=query.tree))
        before = view
    tree, casts = _as_fields(contract, phase, columns, has_row)
    view = f"invaract_{phase}"
    made = columns
    columns = views.define(view, tree, {SOURCE: before})
    return Chain(
        phase=phase, begins=begins, view=view, steps=tuple(steps), tree=tree, made=made, has_row=has_row, casts=casts,
        columns={n: t for n, t in columns.items() if n not in {flag for _, flag in casts}},
    )  # fmt: skip


def link_view(name: str) -> str:
    """The relation of a link."""
    return f"invaract_link_{name.lower()}"


def _placed(at: int, step: Transformation, rows: StepInput) -> StepQuery:
    try:
        return step_query(step, rows)
    except GateError as error:
        raise _of_step(at, step, error) from None


def _defined(
    at: int, step: Transformation, views: StepViews, view: str, tree: exp.Query, tables: Mapping[str, str]
) -> Columns:  # fmt: skip
    try:
        columns = views.define(view, tree, tables)
    except GateError as error:
        raise _of_step(at, step, error) from None
    names = [n.lower() for n in columns]
    twice = next((n for n in columns if names.count(n.lower()) > 1), None)
    if twice is not None:
        raise GateError(f"{_place(at, step)}: column {twice!r} would be there twice", code="transformation.impossible")
    return columns


def _of_step(at: int, step: Transformation, error: GateError) -> GateError:
    return GateError(f"{_place(at, step)}: {error.sentence}", code=error.code, hint=error.hint)


def _place(at: int, step: Transformation) -> str:
    return f"step {at + 1} ({step.kind})"


def _as_fields(
    contract: Contract, phase: Phase, columns: Columns, has_row: bool
) -> tuple[exp.Query, tuple[tuple[str, str], ...]]:
    """The columns, those that are fields of the contract in the types that it names, where that loses nothing."""
    fields = {f.name.lower(): f for f in contract.fields}
    chosen: list[exp.Expr] = []
    casts: list[tuple[str, str]] = []
    flags: list[exp.Expr] = []
    for name, type_ in columns.items():
        column: exp.Expr = exp.column(exp.to_identifier(name, quoted=True))
        spec = fields.get(name.lower())
        value = _as_field(contract, phase, spec, column, type_) if spec is not None else None
        if spec is not None and value is not None:
            flag = f"invaract_wrong_{len(casts)}"
            is_value = exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null()))
            is_lost = exp.and_(is_value, exp.Is(this=exp.paren(value), expression=exp.Null()))
            flags.append(exp.alias_(exp.paren(is_lost), flag))
            casts.append((spec.name, flag))
            chosen.append(exp.alias_(value, spec.name, quoted=True))
        else:
            chosen.append(exp.alias_(column, spec.name if spec is not None and phase == "post" else name, quoted=True))
    if phase == "post":
        there = {n.lower() for n in columns}
        chosen += [_absent(f) for f in contract.fields if f.name.lower() not in there and may_be_missing(contract, f)]
    row = [exp.column(ROW)] if has_row else []
    return exp.Select().select(*chosen, *flags, *row, copy=False).from_(SOURCE, copy=False), tuple(casts)


def may_be_missing(contract: Contract, spec: FieldSpec) -> bool:
    """Whether a field that no step gives and that does not arrive is null."""
    return spec.may_be_absent or (contract.schema_policy.missing_optional == "accept" and not spec.required)


def _absent(spec: FieldSpec) -> exp.Expr:
    null = exp.Cast(this=exp.Null(), to=exp.DataType.build(str(spec.type), dialect="spark"))
    return exp.alias_(null, spec.name, quoted=True)


def _as_field(contract: Contract, phase: Phase, spec: FieldSpec, column: exp.Expr, type_: ft.FieldType) -> exp.Expr | None:
    if type_ == spec.type:
        return None
    if contract.schema_policy.type_changes == "cast":
        is_text = spec.type == ft.STRING and isinstance(type_, ft.Array | ft.Map | ft.Struct)
        return cast(column, type_, spec.type, spec.name) if is_text or can_cast(type_, spec.type) else None
    if phase == "post" and is_lossless_family(type_, spec.type):
        return m.mark(m.EXACT, column, type_, spec.type)
    return None


def is_lossless_family(from_: ft.FieldType, to: ft.FieldType) -> bool:
    """Whether numbers of one type are numbers of another as long as their values fit."""
    if from_ in ft.INTEGERS:
        return to in ft.INTEGERS or isinstance(to, ft.Decimal)
    if isinstance(from_, ft.Decimal):
        return isinstance(to, ft.Decimal)
    return from_ == ft.FLOAT and to == ft.DOUBLE
