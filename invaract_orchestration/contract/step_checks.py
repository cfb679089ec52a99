"""What must fit together in a contract's steps: names, expressions, paths, patterns and links."""

from __future__ import annotations

from collections.abc import Iterator

from invaract_orchestration.contract import transformations as t
from invaract_orchestration.contract.expression_names import ExpressionError
from invaract_orchestration.contract.json_paths import json_paths
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.contract.patterns import PatternError, check_pattern
from invaract_orchestration.contract.report import Path, Report, shown, suggest
from invaract_orchestration.contract.step_columns import SOURCE, links_read, pivoted_names, step_columns
from invaract_orchestration.contract.step_expressions import parse_step_query, value_errors

_Found = tuple[Path, str, str | None, int]


def check_steps(contract: Contract, report: Report) -> None:
    """Report steps that could not be done, whatever the data."""
    _check_links(contract, report)
    if not contract.transformations or not report.is_sound(("transformations",)):
        return
    for at, step in enumerate(contract.transformations):
        for path, message, hint, offset in _problems(step):
            code = "contract.expression" if offset or path[-1:] in ((), ("sql",)) else "contract.invalid"
            report.add(("transformations", at, step.kind, *path), message, hint=hint, offset=offset, code=code)
        _check_link_names(contract, at, step, report)
    if report.is_sound(("transformations",)) and report.is_sound(("source",)) and report.is_sound(("fields",)):
        _check_columns(contract, report)


def _check_links(contract: Contract, report: Report) -> None:
    seen: set[str] = set()
    for at, link in enumerate(contract.links):
        if not report.is_sound(("links", at)):
            continue
        if link.name.lower() == SOURCE:
            report.add(("links", at, "name"), f"a link cannot be called '{SOURCE}', the name of the rows themselves")
        elif link.name.lower() in seen:
            report.add(("links", at, "name"), f"link {shown(link.name)} is there twice")
        seen.add(link.name.lower())
        for error in value_errors(link.filter) if link.filter else ():
            path: Path = ("links", at, "filter")
            report.add(path, str(error), hint=error.hint, offset=error.offset, code="contract.expression")


def _check_link_names(contract: Contract, at: int, step: t.Transformation, report: Report) -> None:
    if not report.is_sound(("links",)):
        return  # one of them may be the one that is meant
    known = {link.name.lower(): link.name for link in contract.links}
    for name in links_read(step):
        if name.lower() not in known:
            path: Path = ("transformations", at, step.kind, *(() if step.kind == "sql" else ("reference",)))
            hint = suggest(name, known.values(), "links") if known else "name it, with its place, under `links`"
            report.add(path, f"unknown link {shown(name)}", hint=hint)


def _problems(step: t.Transformation) -> Iterator[_Found]:
    options = step.step
    match options:
        case t.Filter() | t.Derive():
            yield from (_told(("sql",), error) for error in value_errors(options.sql))
        case t.Rollup():
            for name, sql in options.aggregations.items():
                yield from (_told(("aggregations", name), e) for e in value_errors(sql, may_aggregate=True))
            yield from _twice(("aggregations",), (*options.group_by, *options.aggregations))
        case t.JsonExtract():
            try:
                json_paths(options.path)
            except ValueError as error:
                yield ("path",), str(error), None, 0
        case t.RegexExtract():
            yield from _pattern(options.pattern)
        case t.Pivot():
            names = [*options.id_vars, *pivoted_names(options).values()]
            yield from _twice(("values",), names)
        case t.Rename():
            yield from _twice(("mappings",), options.mappings.values())
        case t.ChosenColumns():
            yield from _twice(("columns",), options.columns)
        case str():
            try:
                parse_step_query(options)
            except ExpressionError as error:
                yield _told((), error)


def _told(path: Path, error: ExpressionError) -> _Found:
    return path, str(error), error.hint, error.offset


def _twice(path: Path, names: object) -> Iterator[_Found]:
    seen: set[str] = set()
    for name in names:  # type: ignore[attr-defined]
        if name.lower() in seen:
            yield path, f"column {shown(name)} would be there twice", None, 0
        seen.add(name.lower())


def _pattern(pattern: str) -> Iterator[_Found]:
    try:
        check_pattern(pattern)
    except PatternError as error:
        yield ("pattern",), str(error), error.hint, 0
        return
    if groups(pattern) > 1:
        yield ("pattern",), "the pattern has several groups", "keep one, and write the others as (?:...)", 0


def groups(pattern: str) -> int:
    """How many groups of a pattern hold what they find."""
    count, at, is_class = 0, 0, False
    while at < len(pattern):
        letter = pattern[at]
        if letter == "\\":
            at += 1
        elif is_class:
            is_class = letter != "]"
        elif letter == "[":
            is_class = True
            at += pattern[at + 1 : at + 2] in ("]", "^")
        elif letter == "(" and pattern[at + 1 : at + 2] != "?":
            count += 1
        at += 1
    return count


def _check_columns(contract: Contract, report: Report) -> None:
    found = step_columns(contract)
    for unknown in found.unknown:
        step = contract.transformations[unknown.at]
        hint = suggest(unknown.name, unknown.known, "columns at this step")
        path: Path = ("transformations", unknown.at, step.kind)
        report.add(path, f"unknown column {shown(unknown.name)}", hint=hint, code="contract.step_column")
    if found.unknown or found.is_open or not contract.fields or _hides_names(contract):
        return
    there = {name.lower() for name in found.after}
    is_lenient = contract.schema_policy.missing_optional == "accept"
    for at, spec in enumerate(contract.fields):
        if spec.name.lower() not in there and not spec.may_be_absent and (spec.required or not is_lenient):
            hint = suggest(spec.name, found.after, "columns after the last step")
            report.add(("fields", at, "name"), f"no step and no column of the source gives field {shown(spec.name)}", hint=hint)


def _hides_names(contract: Contract) -> bool:
    """Whether a query selects `*` of something else than `source`: its columns are then known at the run only."""
    queries = [step.step for step in contract.transformations if isinstance(step.step, str)]
    return any("*" in str(query) for query in queries)
