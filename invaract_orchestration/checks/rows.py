"""Row checks judged: what was counted for each becomes a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from invaract_orchestration.candidate.candidate import Materialised, Tally
from invaract_orchestration.checks.result import CheckResult, Evidence, Outcome
from invaract_orchestration.checks.row_rules import DUPLICATE_KEY, MALFORMED, row_checks
from invaract_orchestration.contract.model import Contract, MaxQuarantined

_STRUCTURE = {
    MALFORMED: "every record has the header's number of cells, right quoting and right encoding",
    DUPLICATE_KEY: "no record holds the same key twice",
}
_JSON_RECORDS = (
    "every record is one JSON object, written strictly and in UTF-8",
    "open the named records in the quarantine; an object over several lines, a list of objects (source.options.shape: array), "
    "another encoding, or a line that is cut off are the usual reasons",
)
_HINTS = {
    "type": "the text is kept in the quarantine as it was written; fix it at its source, or declare its format on the field",
    "required": "fill the value at its source, or drop `required` if a missing value is fine",
    "allowed": "add the value to `allowed` if it is a new one that the consumers know",
    "pattern": "the pattern has to match the whole value, from its first to its last character",
    MALFORMED: "open the named records in the quarantine; a stray delimiter or quote is the usual reason",
    DUPLICATE_KEY: "which of the values is meant is not knowable; the producer has to decide",
}


def judge_rows(contract: Contract, materialised: Materialised) -> tuple[CheckResult, ...]:
    """One result per row check, structure first.

    With `on_row_failure: quarantine` the failing rows were set aside, so a broken check does not block; its counts say how many.
    """
    tallies = materialised.tallies
    sets_aside = contract.quality.on_row_failure == "quarantine"
    is_json = DUPLICATE_KEY in tallies
    results = [
        _structure(check, tallies[check], sets_aside, is_json) for check in (MALFORMED, DUPLICATE_KEY) if check in tallies
    ]
    for check in row_checks(contract):
        if materialised.is_stopped and check.check not in tallies:
            continue  # it would have been asked of a result that was never made
        tally = tallies[check.check]
        is_aside = sets_aside and check.severity == "error"
        results.append(
            CheckResult(
                check=check.check, stage="rows", outcome=_outcome(tally), expected=check.expected,
                severity=check.severity, is_set_aside=is_aside and _outcome(tally) != "kept",
                found=_found(tally, is_aside), evidence=_evidence(tally), rows=tally.rows, failed=tally.failed,
                undecided=tally.undecided, nulls=tally.nulls,
                hint=_HINTS.get(check.kind) if _outcome(tally) != "kept" else None,
                place=".".join(check.path) or None,
            )
        )  # fmt: skip
    results += _unasked(tallies, {r.check for r in results})
    if materialised.set_aside and not sets_aside and not any(r.is_blocking for r in results):
        results.append(_incomplete(materialised))
    return tuple(results)


def _incomplete(materialised: Materialised) -> CheckResult:
    """Rows that are left out although the whole batch is to be published: no such batch passes, whatever the reason."""
    return CheckResult(
        check="batch|complete", stage="rows", outcome="broken", expected="every row that was read is published",
        found=f"{rows_text(materialised.set_aside)} of {materialised.read} left out", evidence="write",
        rows=materialised.read, failed=materialised.set_aside,
    )  # fmt: skip


def _unasked(tallies: Mapping[str, Tally], judged: set[str]) -> Iterator[CheckResult]:
    """Whatever else an engine found wrong: a failing row never goes by unjudged."""
    for check, tally in tallies.items():
        if check not in judged and (tally.failed or tally.undecided):
            yield CheckResult(
                check=check, stage="rows", outcome=_outcome(tally), expected="every record can be read as declared",
                found=_found(tally, is_aside=False), evidence=_evidence(tally), rows=tally.rows, failed=tally.failed,
                undecided=tally.undecided,
            )  # fmt: skip


def judge_quarantine(contract: Contract, materialised: Materialised) -> tuple[CheckResult, ...]:
    """Whether no more rows were set aside than the contract allows; nothing where no row is ever set aside."""
    if contract.quality.on_row_failure != "quarantine":
        return ()
    limits, aside, read = contract.quality.max_quarantined, materialised.set_aside, materialised.read
    percent = 100 * aside / read if read else 0.0
    is_over = (limits.rows is not None and aside > limits.rows) or (
        limits.percent is not None and 100 * aside > Decimal(str(limits.percent)) * read  # as written: 0.57 is no float
    )
    return (
        CheckResult(
            check="batch|max_quarantined", stage="rows", outcome="broken" if is_over else "kept",
            expected=f"at most {_limits(limits)} set aside (inclusive)", evidence="scan" if aside else "write",
            found=f"{rows_text(aside)} set aside, {percent:.2f} percent of {read}",
            hint="look at the reasons with `invaract quarantine show`" if is_over else None,
        ),
    )  # fmt: skip


def rows_text(count: int) -> str:
    """`1 row`, `2 rows`."""
    return f"{count} row" if count == 1 else f"{count} rows"


def _limits(limits: MaxQuarantined) -> str:
    parts = [
        *([rows_text(limits.rows)] if limits.rows is not None else []),
        *([f"{limits.percent:g} percent of the rows read"] if limits.percent is not None else []),
    ]
    return " and ".join(parts) or "any number of rows"


def _structure(check: str, tally: Tally, sets_aside: bool, is_json: bool) -> CheckResult:
    outcome = _outcome(tally)
    expected, hint = _JSON_RECORDS if is_json and check == MALFORMED else (_STRUCTURE[check], _HINTS[check])
    return CheckResult(
        check=check, stage="rows", outcome=outcome, expected=expected, found=_found(tally, sets_aside),
        is_set_aside=sets_aside and outcome != "kept",
        evidence=_evidence(tally), rows=tally.rows, failed=tally.failed, undecided=tally.undecided,
        hint=hint if outcome != "kept" else None,
    )  # fmt: skip


def _outcome(tally: Tally) -> Outcome:
    if tally.failed:
        return "broken"
    return "unverifiable" if tally.undecided else "kept"


def _found(tally: Tally, is_aside: bool) -> str:
    if tally.sides is not None:
        before, after = (_found(side, is_aside) for side in tally.sides)
        return f"before the transformation {before}; after it {after}"
    checked = tally.rows - (tally.nulls or 0) - tally.undecided
    text = f"{rows_text(tally.failed)} of {tally.rows} failed" if tally.failed else f"none of {rows_text(tally.rows)} failed"
    if tally.failed and is_aside:
        text += ", set aside"
    if tally.nulls:
        text += f"; {checked} checked, {tally.nulls} null"
    if tally.undecided:
        text += f"; {tally.undecided} could not be asked (their value is not in its declared form)"
    return text


def _evidence(tally: Tally) -> Evidence:
    known: Mapping[str, Evidence] = {"write": "write", "statistics": "statistics"}
    return known.get(tally.evidence, "scan")
