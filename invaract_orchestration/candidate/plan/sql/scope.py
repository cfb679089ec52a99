"""The names that a piece of SQL can read, and what the whole translation shares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from invaract_orchestration.candidate.plan.diagnostics import Diagnostic
from invaract_orchestration.candidate.plan.expressions import (
    Alias,
    Attribute,
    ColumnReference,
    Expression,
    Function,
    Literal,
    reference,
)
from invaract_orchestration.candidate.plan.nodes import Plan, Project, Read
from invaract_orchestration.candidate.plan.rule_names import names_dataset
from invaract_orchestration.candidate.plan.sql.values import expression_type
from invaract_orchestration.contract.field_types import FieldType, Struct

_USING_IN_PLACE = frozenset({"duckdb", "sqlite"})
Columns = Mapping[str, tuple[tuple[str, FieldType | None], ...]]


@dataclass(slots=True)
class Session:
    """One translation: the inputs' schemas (or a `source` that knows them), the user's functions, ids, the losses so far.

    A table without a known schema is open: what is read of it is noted in `wanted`, for a second pass that knows its
    columns.
    """

    dialect: str
    tables: Columns
    own_functions: frozenset[str]
    assumed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    source: Callable[[Session, tuple[str, ...]], Plan | None] | None = None
    wanted: dict[str, dict[str, None]] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    case_sensitive: bool = False
    _last_id: int = 0

    def attribute(self, name: str, type_: FieldType | None = None) -> Attribute:
        """A new column."""
        self._last_id += 1
        return Attribute(self._last_id, name, type_)

    def folded(self, name: str) -> str:
        """The name as it is compared."""
        return name if self.case_sensitive else name.lower()

    def lose(self, code: str, message: str, at: exp.Expr | None = None) -> None:
        """Note what could not be carried over."""
        self.diagnostics.append(Diagnostic(code=code, message=message, line=line_of(at)))

    def read(self, parts: tuple[str, ...], *, at: exp.Expr | None, format_: str | None = None) -> tuple[Plan, str | None]:
        """The source of that name, and the name once more when its schema is not known."""
        told = None if self.source is None else self.source(self, parts)
        if told is not None:
            return told, None
        written = ".".join(parts)
        known = self._known(written)
        if known is None:
            self.lose("plan.unknown_table", f"the schema of table {written!r} is not known", at)
            self.wanted.setdefault(written, {})
        name, columns = known or (written, tuple((column, None) for column in self.assumed.get(written, ())))
        attributes = tuple(self.attribute(column, type_) for column, type_ in columns)
        read = Read(dataset=name, columns=attributes, format=format_, line=line_of(at))
        return read, (None if known else written)

    def columns_of(self, written: str) -> tuple[str, ...] | None:
        """The columns of the table of that name, where its schema is known."""
        known = self._known(written)
        return None if known is None else tuple(name for name, _ in known[1])

    def _known(self, written: str) -> tuple[str, tuple[tuple[str, FieldType | None], ...]] | None:
        for name, columns in self.tables.items():
            if name.lower() == written.lower():
                return name, columns
        for name, columns in self.tables.items():
            if names_dataset(written, name, case_sensitive=False):
                return name, columns
            if names_dataset(name, written, case_sensitive=False):
                return written, columns
        return None


@dataclass(frozen=True, slots=True)
class Relation:
    """Something in FROM: its qualifiers, and its columns in order. `open_table`: a table whose columns nobody told."""

    qualifier: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    open_table: str | None = None

    def answers_to(self, qualifier: tuple[str, ...]) -> bool:
        """Whether the qualifier of a column means this relation."""
        return bool(qualifier) and self.qualifier[-len(qualifier) :] == tuple(part.lower() for part in qualifier)

    def named(self, name: str, folded: Callable[[str], str] = str.lower) -> list[Attribute]:
        """The columns of that name."""
        return [a for a in self.attributes if folded(a.name) == folded(name)]


@dataclass(slots=True)
class Scope:
    """The relations of one FROM. `merged`: the columns of USING and NATURAL, which stand first in `*`. `is_beside`: those that
    stand beside a subquery which does not say that it reads them."""

    session: Session
    relations: list[Relation] = field(default_factory=list)
    merged: dict[str, Attribute] = field(default_factory=dict)
    hidden: set[int] = field(default_factory=set)
    parent: Scope | None = None
    aliases: dict[str, Expression] = field(default_factory=dict)
    outputs: dict[str, Expression] = field(default_factory=dict)
    is_beside: bool = False

    def star(self) -> list[Attribute]:
        """What `*` stands for: the columns of USING first, or where the left one of each pair stands."""
        every = [a for r in self.relations for a in r.attributes]
        if self.session.dialect in _USING_IN_PLACE:
            return list(self._in_place(every))
        first = list(self.merged.values())
        return [*first, *(a for a in every if a.id not in self.hidden and a.id not in {m.id for m in first})]

    def _in_place(self, every: list[Attribute]) -> Iterator[Attribute]:
        left = dict(self.merged)
        for attribute in every:
            one = left.pop(attribute.name.lower(), None) if attribute.id in self.hidden else attribute
            if one is not None:
                yield one

    def resolve(self, parts: tuple[str, ...], *, in_aggregate: bool = False) -> Expression | None:
        """The column of that name: an output where the clause reads those, of FROM, an alias, of the query around."""
        if not in_aggregate and parts[0].lower() in self.outputs:
            return stepped_into(self.outputs[parts[0].lower()], parts[1:])
        found = self._in_from(parts)
        if found is not None:
            return stepped_into(reference(found[0]), found[1])
        if parts[0].lower() in self.aliases:
            return stepped_into(self.aliases[parts[0].lower()], parts[1:])
        return self._around(parts) or self._in_open(parts)

    def knows(self, parts: tuple[str, ...]) -> bool:
        """Whether FROM itself has the column."""
        return self._in_from(parts) is not None

    def _around(self, parts: tuple[str, ...]) -> Expression | None:
        scope, is_open = self, False
        while scope.parent is not None:
            is_open = is_open or any(relation.open_table is not None for relation in scope.relations)
            scope = scope.parent
            may_be_inner = scope.is_beside and is_open and len(parts) == 1
            found = None if may_be_inner else scope._in_from(parts)
            if found is not None:
                return stepped_into(reference(found[0], outer=True), found[1])
        return None

    def _in_from(self, parts: tuple[str, ...]) -> tuple[Attribute, tuple[str, ...]] | None:
        for depth in range(len(parts) - 1, 0, -1):
            for relation in self.relations:
                if relation.answers_to(parts[:depth]) and (named := relation.named(parts[depth], self.session.folded)):
                    return named[0], parts[depth + 1 :]
        if parts[0].lower() in self.merged:
            return self.merged[parts[0].lower()], parts[1:]
        offered = [a for relation in self.relations for a in relation.named(parts[0], self.session.folded)]
        named = [a for a in offered if a.id not in self.hidden]
        if len({a.id for a in named}) > 1:
            self.session.lose("plan.ambiguous_column", f"column {parts[0]!r} stands in more than one input")
        return (named[0], parts[1:]) if named else None

    def _in_open(self, parts: tuple[str, ...]) -> Expression | None:
        scope: Scope | None = self
        while scope is not None:
            for relation in scope.relations:
                if relation.open_table is None:
                    continue
                depths = [d for d in range(len(parts) - 1, 0, -1) if relation.answers_to(parts[:d])]
                name = parts[depths[0]] if depths else parts[0]
                if depths or not any(other.answers_to(parts[:1]) for other in scope.relations):
                    scope.session.wanted.setdefault(relation.open_table, {})[name] = None
                    rest = parts[depths[0] + 1 :] if depths else parts[1:]
                    return stepped_into(reference(scope.session.attribute(name), outer=scope is not self), rest)
            scope = scope.parent
        return None


def line_of(node: exp.Expr | None) -> int | None:
    """The line where a piece of the text begins, where sqlglot kept one."""
    if node is None:
        return None
    for part in node.walk():
        line = part.meta.get("line") if part._meta else None
        if isinstance(line, int):
            return line
    return None


def stepped_into(whole: Expression, path: Iterable[str]) -> Expression:
    """A field nested in a column; null where the whole is no plain column."""
    steps = tuple(path)
    if not steps:
        return whole
    if isinstance(whole, ColumnReference):
        return ColumnReference(whole.id, whole.name, (*whole.path, *steps), _field_type(whole.type, steps), whole.outer)
    return Function("field", (whole, *(Literal(step) for step in steps)), _field_type(expression_type(whole), steps))


def renewed(plan: Plan, session: Session) -> Project:
    """The plan under new column ids, for its second and every later use."""
    items = tuple(Alias(session.attribute(a.name, a.type), reference(a)) for a in plan.output)
    return Project(child=plan, items=items, line=plan.line)


def _field_type(whole: FieldType | None, path: tuple[str, ...]) -> FieldType | None:
    for step in path:
        if not isinstance(whole, Struct):
            return None
        whole = next((type_ for name, type_ in whole.fields if name.lower() == step.lower()), None)
    return whole
