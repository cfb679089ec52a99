"""Do the files of a batch have the columns that the contract names? Every file is judged, none is taken for another.

A header is broken, never repaired: a name counts only when it is written as the contract writes it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.intake.csv_header import FileHeader
from invaract_orchestration.intake.header_match import ExpectedColumns, Finding, FindingKind, find_differences
from invaract_orchestration.intake.header_match import match_columns as match_columns
from invaract_orchestration.intake.wording import LONGEST_PLACE, by_place, counted, quoted_list, shown


@dataclass(frozen=True, slots=True)
class _Kind:
    """One check of the header: the findings that break it, what it expects, and how to mend it."""

    name: str
    findings: tuple[FindingKind, ...]
    expected: str
    hint: str


_KINDS = (
    _Kind(
        "missing", ("missing",), "a first line with the column names",
        "deliver every file with its header line, an empty one too",
    ),
    _Kind(
        "encoding", ("encoding",), "a header in the declared encoding",
        "write the file in that encoding, or declare source.options.encoding (utf-8, latin-1, utf-16)",
    ),
    _Kind(
        "mismatch", ("mismatch", "delimiter", "look_alike"), "names written character by character as in the contract",
        "compare the delimiter, the quotes and the code points of the names with the contract",
    ),
    _Kind(
        "blank_name", ("blank_name",), "a name for every column",
        "remove the empty column; where every line ends with one delimiter more, declare "
        "source.options.trailing_delimiter: accept",
    ),
    _Kind(
        "duplicate", ("duplicate",), "names that differ in more than letter case",
        "rename or remove one of the columns: a reader that ignores letter case would take one for the other",
    ),
    _Kind(
        "case", ("case",), "the letter case of the contract",
        "rename the column in the file or in the contract",
    ),
    _Kind(
        "whitespace", ("whitespace",), "names without blanks or quotes around them",
        "remove the blanks and stray quotes from the header line",
    ),
    _Kind(
        "missing_column", ("missing_column",), "every column of the contract",
        "add the column to the file, or declare the field may_be_absent",
    ),
    _Kind(
        "unexpected_column", ("unexpected_column",), "no column that the contract does not name",
        "agree on the column and add it to the contract, or declare schema_policy.extra_fields: accept",
    ),
    _Kind(
        "order", ("order",), "the columns in the order of the contract",
        "restore the order, or declare source.header: names when the order is free",
    ),
)  # fmt: skip


def check_headers(contract: Contract, headers: Sequence[FileHeader]) -> tuple[CheckResult, ...]:
    """One kept result when every header is as agreed, else one broken result for each kind of difference.

    No header at all to compare, or no field to compare with, is unverifiable.
    """
    expected = ExpectedColumns.of(contract)
    if not headers or not expected.fields:
        return (_unverifiable(expected, headers),)
    seen: dict[Hashable, tuple[Finding, ...]] = {}
    findings = []
    for header in headers:  # most files of a batch have one header: it is compared once
        folders = tuple(name for name, _ in header.file.partition)
        same = (header.names, header.problems, folders, header.file.folder_columns)
        if same not in seen:
            seen[same] = find_differences(expected, header)
        findings.append((header, seen[same]))
    broken = tuple(_broken_results(expected, findings))
    return broken or (_kept(expected, headers),)


def _broken_results(
    expected: ExpectedColumns, findings: Sequence[tuple[FileHeader, tuple[Finding, ...]]]
) -> Iterator[CheckResult]:
    for kind in _KINDS:
        said = [
            (header.file.name, texts)
            for header, found in findings
            if (texts := [finding.text for finding in found if finding.kind in kind.findings])
        ]
        if said:
            yield CheckResult(
                check=f"header|{kind.name}",
                stage="header",
                outcome="broken",
                expected=f"{kind.expected}: {_columns(expected)}",
                found=by_place(said, len(findings)),
                evidence="header",
                hint=kind.hint,
                place=shown(said[0][0], LONGEST_PLACE),
            )


def _columns(expected: ExpectedColumns) -> str:
    how = {"exact": "in this order", "names": "in any order", "positional": "by position"}[expected.header]
    names = quoted_list([field.name for field in expected.fields])
    return f"{counted(len(expected.fields), 'column')} {how}: {names}"


def _kept(expected: ExpectedColumns, headers: Sequence[FileHeader]) -> CheckResult:
    ignored, missed = set[str](), set[str]()
    if expected.header != "positional":
        for header in headers:
            own = {field.name for field in expected.in_file(header)}
            ignored |= set(header.names) - own
            missed |= own - set(header.names)
    absent = [field.name for field in expected.fields if field.name in missed]
    notes = [
        f"{counted(len(ignored), 'other column')} ignored" if ignored else "",
        f"{quoted_list(absent)} absent where allowed" if absent else "",
    ]
    return CheckResult(
        check="header|columns",
        stage="header",
        outcome="kept",
        expected=_columns(expected),
        found="; ".join([f"as agreed in {counted(len(headers), 'file')}", *filter(None, notes)]),
        evidence="header",
    )


def _unverifiable(expected: ExpectedColumns, headers: Sequence[FileHeader]) -> CheckResult:
    what = "no file's header was read" if not headers else "the contract names no field to compare with"
    return CheckResult(
        check="header|columns",
        stage="header",
        outcome="unverifiable",
        expected=_columns(expected),
        found=what,
        evidence="none",
        hint="state the fields of the contract" if headers else "check source.location",
    )
