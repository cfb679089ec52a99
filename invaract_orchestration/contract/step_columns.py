"""Which columns each step reads, writes and leaves, as far as the contract says: before any data is seen.

Without `source.fields` the columns of the source are not known beforehand: what a step reads and no step before it has written
comes from the source, and so does every field that no step writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from invaract_orchestration.contract import transformations as t
from invaract_orchestration.contract.expression_names import ExpressionError, columns_read
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.contract.step_expressions import parse_step_query, parse_value

SOURCE = "source"
"""What a step's query calls the rows as they are at that step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A column that a step reads and that is not there: position of the step, its name, and the names that are."""

    at: int
    name: str
    known: tuple[str, ...]


@dataclass(slots=True)
class _Names:
    """The columns at one place of the chain. While it is open, a name that is not known may be one of the source's."""

    known: dict[str, str]
    is_open: bool
    sources: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def read(self, name: str) -> bool:
        """Whether the column is there, or may come from the source."""
        low = name.lower()
        if low in self.known:
            return True
        if not self.is_open or low in self.gone:
            return False
        self.known[low] = self.sources[low] = name
        return True

    def write(self, names: Iterable[str]) -> None:
        for name in names:
            self.known.setdefault(name.lower(), name)

    def remove(self, names: Iterable[str]) -> None:
        for name in names:
            self.known.pop(name.lower(), None)
            self.gone.add(name.lower())

    def close(self, names: Iterable[str]) -> None:
        self.known = {n.lower(): self.known.get(n.lower(), n) for n in names}
        self.is_open = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StepColumns:
    """`sources` are the columns that have to arrive, `after_pre` and `after` those that are known after each phase.

    `is_open` says whether the source's other columns are still there at the end. `created` are the columns that only a post
    step makes.
    """

    sources: tuple[str, ...]
    after_pre: tuple[str, ...]
    after: tuple[str, ...]
    is_open: bool
    created: tuple[str, ...]
    unknown: tuple[Unknown, ...]
    perhaps: tuple[str, ...] = ()
    """Names that a query over several tables reads, of the source or of another one: those that arrive are read."""


def step_columns(contract: Contract) -> StepColumns:
    """What is known of the columns of a contract's steps. Steps that cannot be parsed count as reading nothing."""
    given = contract.source.fields if contract.source else ()
    names = _Names(known={f.name.lower(): f.name for f in given}, is_open=not given)
    unknown: list[Unknown] = []
    ordered = [(at, s) for phase in ("pre", "post") for at, s in enumerate(contract.transformations) if s.runs_in == phase]
    written: dict[str, dict[str, str]] = {"pre": {}, "post": {}}
    after_pre: dict[str, str] | None = None
    for at, step in ordered:
        if step.runs_in == "post" and after_pre is None:
            after_pre = dict(names.known)
        before = dict(names.known)
        for name in reads(step):
            if not names.read(name):
                unknown.append(Unknown(at=at, name=name, known=tuple(names.known.values())))
        _apply(step, names)
        written[step.runs_in] |= {low: n for low, n in names.known.items() if low not in before and low not in names.sources}
    if names.is_open and not given:
        for spec in contract.fields:
            if spec.name.lower() not in (*names.known, *names.gone, *written["pre"], *written["post"]):
                names.known[spec.name.lower()] = names.sources[spec.name.lower()] = spec.name
    arrived = {f.name.lower(): f.name for f in given} or names.sources
    early = {**arrived, **written["pre"]}
    return StepColumns(
        sources=tuple(arrived.values()), after_pre=tuple((after_pre or names.known).values()),
        after=tuple(names.known.values()), is_open=names.is_open,
        created=tuple(n for low, n in written["post"].items() if low not in early), unknown=tuple(unknown),
        perhaps=tuple(n for step in contract.transformations for n in _perhaps(step)),
    )  # fmt: skip


def reads(step: t.Transformation) -> tuple[str, ...]:
    """The columns of the rows that a step reads, as it writes them."""
    return tuple(dict.fromkeys(_reads(step.step)))


def _reads(step: t.Step) -> Iterator[str]:
    match step:
        case t.Rename():
            yield from step.mappings
        case t.CastColumns():
            yield from step.columns
        case t.Trim() | t.Letters():
            yield from step.fields
        case t.Filter() | t.Derive():
            yield from _of_expression(step.sql)
        case t.Deduplicate():
            yield from (*step.on, *step.sort_by)
        case t.Coalesce():
            yield from step.sources or (step.field,)
        case t.MapValues() | t.Split() | t.Explode():
            yield step.field
        case t.JsonExtract() | t.RegexExtract() | t.Bucket():
            yield step.source
        case t.DateDiff():
            yield from (step.from_col, step.to_col)
        case t.DateRangeExplode():
            yield from (step.start_col, *((step.end_col,) if step.end_col else ()))
        case t.Lookup():
            yield step.on
        case t.Join():
            yield from step.on
        case t.Rollup():
            yield from step.group_by
            for text in step.aggregations.values():
                yield from _of_expression(text, may_aggregate=True)
        case t.Pivot():
            yield from (*step.id_vars, step.pivot_col, *step.value_cols)
        case t.Unpivot():
            yield from (*step.id_vars, *step.value_vars)
        case t.ChosenColumns():
            yield from step.columns
        case str():
            yield from _of_query(step)


def _of_expression(sql: str, *, may_aggregate: bool = False) -> Iterable[str]:
    try:
        return sorted(columns_read(parse_value(sql, may_aggregate=may_aggregate)))
    except ExpressionError:
        return ()  # it is reported where it stands


def _of_query(sql: str) -> Iterator[str]:
    """The source's columns that a query without joins, subqueries and WITH reads; of any other they are not told here."""
    query = _plain_query(sql)
    if query is None:
        return
    own = {s.alias.lower() for s in query.selects if isinstance(s, exp.Alias)}
    tables = {SOURCE, *(table.alias_or_name.lower() for table in query.find_all(exp.Table))}
    for column in query.find_all(exp.Column):
        if isinstance(column.this, exp.Star):
            continue
        parts = [p.name for p in column.parts]
        name = parts[1] if len(parts) > 1 and parts[0].lower() in tables else parts[0]
        if name.lower() not in own or column.find_ancestor(exp.Alias) is not None:
            yield name


def _perhaps(step: t.Transformation) -> Iterator[str]:
    if not isinstance(step.step, str) or _plain_query(step.step) is not None:
        return
    try:
        query = parse_step_query(step.step)
    except ExpressionError:
        return
    for column in query.find_all(exp.Column):
        yield from (p.name for p in column.parts if not isinstance(p, exp.Star))


def _plain_query(sql: str) -> exp.Select | None:
    try:
        query = parse_step_query(sql)
    except ExpressionError:
        return None
    is_plain = isinstance(query, exp.Select) and not query.args.get("with_") and not query.args.get("joins")
    inner = [q for q in query.find_all(exp.Query) if q is not query]
    tables = list(query.find_all(exp.Table))
    is_plain = is_plain and not inner and len(tables) == 1 and tables[0].name.lower() == SOURCE
    is_plain = is_plain and not query.args.get("laterals")
    return query if is_plain and isinstance(query, exp.Select) else None


def _apply(step: t.Transformation, names: _Names) -> None:
    options = step.step
    match options:
        case t.Rename():
            names.remove(options.mappings)
            names.gone -= {n.lower() for n in options.mappings.values()}
            names.write(options.mappings.values())
        case t.Rollup():
            names.close((*options.group_by, *options.aggregations))
        case t.Pivot():
            names.close((*options.id_vars, *pivoted_names(options).values()))
        case t.Unpivot():
            if options.id_vars:
                names.close((*options.id_vars, options.key_field, options.value_field))
            else:
                names.remove(options.value_vars)
                names.write((options.key_field, options.value_field))
        case t.ChosenColumns() if step.kind == "select":
            names.close(options.columns)
        case t.ChosenColumns():
            names.remove(options.columns)
        case str():
            _apply_query(options, names)
        case _:
            written = [w for w in (writes(step)) if w]
            names.gone -= {n.lower() for n in written}
            names.write(written)


def writes(step: t.Transformation) -> tuple[str, ...]:
    """The columns that a step gives values of its own, for the kinds that leave all others as they are."""
    options = step.step
    match options:
        case t.Coalesce() | t.MapValues() | t.Split() | t.Explode():
            return (options.output or options.field,)
        case t.Derive() | t.JsonExtract() | t.RegexExtract() | t.DateDiff() | t.Bucket() | t.Lookup():
            return (options.field,)
        case t.DateRangeExplode():
            return (options.output,)
        case t.Join():
            return tuple(options.prefix + f for f in options.fields)
    return ()


def rewritten_in_post(contract: Contract) -> frozenset[str] | None:
    """The columns, in lower case, that post steps give values of their own; none where that may be any column."""
    found: set[str] = set()
    for step in contract.transformations:
        if step.runs_in != "post":
            continue
        options = step.step
        if isinstance(options, str | t.Rollup | t.Pivot | t.Unpivot):
            return None
        if isinstance(options, t.Join) and options.type in ("right", "full"):
            return None
        found |= {name.lower() for name in writes(step)}
        if isinstance(options, t.CastColumns):
            found |= {name.lower() for name in options.columns}
        elif isinstance(options, t.Trim | t.Letters):
            found |= {name.lower() for name in options.fields}
        elif isinstance(options, t.Rename):
            found |= {name.lower() for name in options.mappings.values()}
    return frozenset(found)


def pivoted_names(step: t.Pivot) -> dict[tuple[str, str], str]:
    """The name of the column for each value column and each pivoted value."""
    template = step.name_template or ("{pivot}" if len(step.value_cols) == 1 else "{value}" + step.separator + "{pivot}")
    return {
        (column, value): template.replace("{value}", column).replace("{pivot}", value)
        for value in step.values
        for column in step.value_cols
    }  # fmt: skip


def _apply_query(sql: str, names: _Names) -> None:
    try:
        query = parse_step_query(sql)
    except ExpressionError:
        return
    if not any(s.is_star for s in query.selects):
        names.close([s.alias_or_name for s in query.selects])
        return
    names.write(s.alias_or_name for s in query.selects if not s.is_star)


def links_read(step: t.Transformation) -> Iterator[str]:
    """The links that a step reads, and every other table that a query names but `source`."""
    options = step.step
    if isinstance(options, t.Lookup | t.Join):
        yield options.reference
    elif isinstance(options, str):
        try:
            query = parse_step_query(options)
        except ExpressionError:
            return
        own = {cte.alias_or_name.lower() for cte in query.find_all(exp.CTE)} | {SOURCE}
        for table in query.find_all(exp.Table):
            name = ".".join(p.name for p in table.parts)
            if name.lower() not in own:
                yield name
