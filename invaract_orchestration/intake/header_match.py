"""One file's header against the contract's columns: what each column feeds, and every difference with its place.

Findings hold names and positions. A first line that may be data is told by counts alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from invaract_orchestration.contract.field_types import STRING
from invaract_orchestration.contract.model import Contract, FieldSpec, Source
from invaract_orchestration.intake.column_names import NameIndex, Relation, code_points, fold, is_value_like, nearest
from invaract_orchestration.intake.csv_header import FileHeader
from invaract_orchestration.intake.wording import MOST_SHOWN, counted, listed, quoted

FindingKind = Literal[
    "missing", "encoding", "mismatch", "delimiter", "duplicate", "blank_name", "whitespace", "case", "look_alike",
    "order", "missing_column", "unexpected_column",
]  # fmt: skip
_OTHER_DELIMITERS = (";", ",", "\t", "|", ":", "^", "~", "\x01")
_PROBLEM_KINDS: dict[str, FindingKind] = {
    "header.missing": "missing",
    "header.malformed": "mismatch",
    "input.encoding": "encoding",
}
_RELATION_KINDS: dict[Relation, FindingKind] = {"case": "case", "whitespace": "whitespace", "look_alike": "look_alike"}
_Found = tuple[str, Relation] | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference between a header and the contract, in words that hold no cell of a data row."""

    kind: FindingKind
    text: str


@dataclass(frozen=True, slots=True)
class ExpectedColumns:
    """What the contract says of the columns of every file."""

    fields: tuple[FieldSpec, ...]
    header: Literal["exact", "names", "positional"]
    takes_extra: bool
    takes_missing: bool
    delimiter: str
    index: NameIndex

    @classmethod
    def of(cls, contract: Contract) -> ExpectedColumns:
        """The expectation of a contract; without a source, that of a source with nothing but defaults."""
        source = contract.source or Source()
        return cls(
            contract.fields,
            source.header,
            contract.schema_policy.extra_fields == "accept",
            contract.schema_policy.missing_optional == "accept",
            source.options.delimiter,
            NameIndex.of(field.name for field in contract.fields),
        )

    def in_file(self, header: FileHeader) -> tuple[FieldSpec, ...]:
        """The fields that the file itself should hold, in order: all but those that its folders say.

        A folder that the location itself names says a column only when the file has none of that name.
        """
        folders = header.file.columns_beside(header.names, self.index.exact)
        return tuple(field for field in self.fields if field.name not in folders)

    def is_needed(self, field: FieldSpec) -> bool:
        """Whether a file without this column breaks the contract."""
        return not (field.may_be_absent or (self.takes_missing and not field.required))


def match_columns(contract: Contract, header: FileHeader) -> tuple[str | None, ...]:
    """The field that each column of the file feeds, in the file's order; null for a column that feeds none.

    Only an exact name matches, and a name that is there twice feeds once; with `header: positional` the position does.
    """
    expected = ExpectedColumns.of(contract)
    fields = [field.name for field in expected.in_file(header)]
    if expected.header == "positional":
        return tuple(fields[i] if i < len(fields) else None for i in range(len(header.names)))
    first: dict[str, int] = {}
    for position, name in enumerate(header.names):
        first.setdefault(name, position)
    return tuple(n if n in fields and first[n] == position else None for position, n in enumerate(header.names))


def find_differences(expected: ExpectedColumns, header: FileHeader) -> tuple[Finding, ...]:
    """Every difference between one file's header and the contract; none when it is as agreed."""
    if header.problems:
        return tuple(Finding(_PROBLEM_KINDS[problem.code], problem.sentence) for problem in header.problems)
    if expected.header == "positional":
        return tuple(_by_position(expected, header))
    found = [expected.index.find(name) for name in header.names]
    if not any(found) and expected.in_file(header):
        return (_foreign(expected, header),)
    return tuple(_by_name(expected, header, found))


def _foreign(expected: ExpectedColumns, header: FileHeader) -> Finding:
    """What a first line is of which no name is in the contract."""
    line = expected.delimiter.join(header.names)
    if line.lower().startswith("sep="):
        return Finding("mismatch", "the first line is a spreadsheet's 'sep=' line, not a header")
    for delimiter in _OTHER_DELIMITERS:
        cells = line.split(delimiter)
        known = {found[0] for cell in cells if (found := expected.index.find(cell.strip(" \"'"))) is not None}
        if delimiter != expected.delimiter and 2 * len(known) >= len(cells) > 1:
            return Finding(
                "delimiter",
                f"{counted(len(header.names), 'column')} found, {quoted(line)}; split by {quoted(delimiter)} it holds "
                f"{len(known)} of the contract's {counted(len(expected.fields), 'name')}: the delimiter looks wrong",
            )
    return Finding(
        "missing",
        f"none of the {counted(len(header.names), 'name')} of the first line is in the contract: the line looks like "
        "data, or like the header of another table (its names are not shown, as they may be data)",
    )


def _by_position(expected: ExpectedColumns, header: FileHeader) -> Iterator[Finding]:
    fields = expected.in_file(header)
    count = len(header.names)
    typed = [i for i, f in enumerate(fields[:count], 1) if f.type != STRING and _is_value(header.names[i - 1])]
    if typed:
        where = listed([str(position) for position in typed])
        yield Finding("missing", f"the first line looks like data: a value in place of a name at position {where}")
    if count > len(fields) and not expected.takes_extra:
        yield Finding("unexpected_column", f"{counted(count, 'column')} found, expected {len(fields)}")
    for position, field in enumerate(fields[count:], count + 1):
        if expected.is_needed(field):
            yield Finding("missing_column", f"{quoted(field.name)} (expected at position {position}, {count} found)")


def _is_value(cell: str) -> bool:
    return is_value_like(cell) or cell.strip().lower() in ("true", "false", "nan")


def _by_name(expected: ExpectedColumns, header: FileHeader, found: Sequence[_Found]) -> Iterator[Finding]:
    names = header.names
    yield from _blank(names)
    yield from _duplicates(header)
    for position, (name, match) in enumerate(zip(names, found, strict=True), 1):
        is_named_before = match is not None and match[1] == "case" and match[0] in names  # among the duplicates
        if match is not None and match[1] != "same" and not is_named_before:
            yield _relation(name, position, *match)
    yield from _unexpected(expected, header, found)
    there = {match[0] for match in found if match is not None}
    yield from _missing(expected, header, there)
    if expected.header == "exact":
        yield from _order(expected, header, found)


def _blank(names: Sequence[str]) -> Iterator[Finding]:
    for position, name in enumerate(names, 1):
        if not name.strip():
            trailing = position == len(names) > 1 and not name
            why = ": the line ends with a delimiter" if trailing else ""
            yield Finding("blank_name", f"column {position} has no name{why}")


def _duplicates(header: FileHeader) -> Iterator[Finding]:
    """Names that collide where letter case is ignored, also with a column that the file's folders say."""
    places: dict[str, list[tuple[str, str]]] = {}
    for name in header.file.folder_columns:
        places.setdefault(fold(name), []).append((name, "in a folder's name"))
    for position, name in enumerate(header.names, 1):
        if name.strip():
            places.setdefault(fold(name), []).append((name, f"at position {position}"))
    for entries in places.values():
        if len(entries) > 1:
            yield Finding("duplicate", " and ".join(f"{quoted(name)} {place}" for name, place in entries[:10]))


def _relation(name: str, position: int, expected: str, relation: Relation) -> Finding:
    text = f"{quoted(name)} at position {position} where {quoted(expected)} is expected"
    if relation == "look_alike":
        text += f" (looks the same: {code_points(name) or 'another spelling'})"
    return Finding(_RELATION_KINDS[relation], text)


def _unexpected(expected: ExpectedColumns, header: FileHeader, found: Sequence[_Found]) -> Iterator[Finding]:
    if expected.takes_extra:
        return
    known_here = 2 * len({match[0] for match in found if match is not None})
    is_doubtful = known_here < min(len(header.names), len(expected.fields))  # may be a line of data after all
    for position, (name, match) in enumerate(zip(header.names, found, strict=True), 1):
        if match is None and name.strip():
            is_hidden = is_doubtful and is_value_like(name)
            shown = "a name that looks like a value (not shown)" if is_hidden else quoted(name)
            yield Finding("unexpected_column", f"{shown} at position {position}")
    known = {field.name for field in expected.fields}
    for name in header.file.folder_columns:
        if name not in known:
            yield Finding("unexpected_column", f"{quoted(name)} in a folder's name")


def _missing(expected: ExpectedColumns, header: FileHeader, there: set[str]) -> Iterator[Finding]:
    others = [name for name in (*header.names, *header.file.folder_columns) if name not in there]
    missing = [
        (position, field.name)
        for position, field in enumerate(expected.in_file(header), 1)
        if field.name not in there and expected.is_needed(field)
    ]
    for number, (position, name) in enumerate(missing):
        close = nearest(name, others) if number < MOST_SHOWN else None  # more are counted, not shown
        points = f" ({code_points(close)})" if close is not None and not close.isascii() else ""
        hint = f", the nearest found is {quoted(close)}{points}" if close is not None else ""
        yield Finding("missing_column", f"{quoted(name)} (expected at position {position}{hint})")


def _order(expected: ExpectedColumns, header: FileHeader, found: Sequence[_Found]) -> Iterator[Finding]:
    """Columns of the contract that stand in another order than there; others between them do not matter."""
    own = [field.name for field in expected.in_file(header)]
    places: dict[str, int] = {}
    for position, match in enumerate(found, 1):
        if match is not None and match[0] in own:
            places.setdefault(match[0], position)
    wanted = [name for name in own if name in places]
    for name, expected_name in zip(places, wanted, strict=True):
        if name != expected_name:
            yield Finding(
                "order",
                f"{quoted(name)} at position {places[name]} where {quoted(expected_name)} is expected, "
                f"which stands at position {places[expected_name]}",
            )
