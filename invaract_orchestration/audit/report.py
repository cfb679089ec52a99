"""A result as text for people, as JSON for programs, and as JUnit XML for build servers.

All three are made of names, counts and texts of the contract, which is all that a result has: no cell value can show here.
"""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any

from invaract_orchestration.audit.records import Counts
from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.checks.result import CheckResult

FORMAT = 1
"""Number of the JSON form; it rises when a key is removed or changes its meaning, never when one is added."""
_WIDTH = 110
_LABEL = 13
_OUTCOMES = ("kept", "broken", "unverifiable", "set aside", "warning")


def headline(result: GateResult) -> str:
    """The state in one word or two."""
    if result.is_check and result.state == "judged":
        return "WOULD PUBLISH"
    if result.state == "published" and not result.is_recorded:
        return "PUBLISHED, NOT RECORDED"
    if result.state == "published" and result.counts.quarantined:
        return "PUBLISHED, ROWS QUARANTINED"
    word = result.code if result.state == "no_op" and result.code else result.state
    return word.upper().replace("_", " ")


def text_report(result: GateResult) -> str:
    """Some lines for people: how it ended, every check that is not kept, where the rows went, and how to look further."""
    slice_ = "".join(f", {name}={value}" for name, value in sorted(result.parameters.items()))
    lines = [f"{headline(result)}  {result.contract} {result.version}{slice_}"]
    lines += _wrapped("", result.message)
    if result.hint:
        lines += _wrapped("", f"Hint: {result.hint}")
    lines += check_lines([c for c in result.checks if c.outcome != "kept"])
    lines.append("")
    lines += [f"    {label:<{_LABEL - 2}} {text}" for label, text in _facts(result)]  # paths and ids are for copying
    return "\n".join(_printable(line) for line in lines) + "\n"


def check_lines(checks: Sequence[CheckResult]) -> list[str]:
    """A paragraph for each check: its outcome, expected against found, and the hint last."""
    lines: list[str] = []
    for check in checks:
        lines += ["", _printable(f"  {_outcome(check):<{_LABEL}} {check.check}")]
        if check.place:
            lines += _wrapped("place", check.place)
        lines += _wrapped("expected", check.expected)
        lines += _wrapped("found", f"{check.found} [{check.evidence}]")
        if check.hint:
            lines += _wrapped("", f"Hint: {check.hint}")
    return lines


def counts_text(counts: Counts) -> str:
    """Where the rows went, in words; what is not known is left out, and so is a nothing that nobody asks about."""
    always = ("read", "good")
    left_out = {"candidate"} | ({"failing"} if counts.failing == counts.quarantined else set())
    found = ((f.name, getattr(counts, f.name)) for f in fields(counts) if f.name not in left_out)
    return ", ".join(f"{n:,} {name}" for name, n in found if n is not None and (n or name in always)) or "not read"


def result_document(result: GateResult) -> dict[str, Any]:
    """The result as plain values, the content of `json_report`."""
    verdict = result.verdict
    return {
        "format": FORMAT,
        "state": result.state,
        "exit_code": result.exit_code,
        "code": result.code,
        "message": result.message,
        "hint": result.hint,
        "contract": result.contract,
        "version": result.version,
        "target": result.target,
        "environment": result.environment,
        "parameters": dict(result.parameters),
        "submission_id": result.submission_id,
        "attempt_id": result.attempt_id,
        "is_check": result.is_check,
        "is_recorded": result.is_recorded,
        "started_at": result.started_at.isoformat(),
        "finished_at": result.finished_at.isoformat(),
        "counts": plain(result.counts),
        "quarantine": result.quarantine,
        "lineage": {column: [list(pair) for pair in sources] for column, sources in result.lineage.items()},
        "publication": plain(result.publication),
        "verdict": verdict and {"passed": verdict.passed, "reasons": list(verdict.reasons), "bound": plain(verdict.bound)},
        "checks": plain(result.checks),
        "files": plain(result.files),
    }


def json_report(result: GateResult) -> str:
    """The result as JSON, with the same keys whatever happened: what is not known or does not apply is null."""
    return json_text(result_document(result))


def json_text(document: object) -> str:
    """JSON as this package prints it: indented, ASCII, a line end at the end."""
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def plain(value: Any) -> Any:
    """A record of the audit as plain values for JSON: times as ISO 8601, tuples as lists.

    A check's result gets `passed` and `is_blocking` too.
    """
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if is_dataclass(value) and not isinstance(value, type):
        content = {f.name: plain(getattr(value, f.name)) for f in fields(value)}
        if isinstance(value, CheckResult):
            content |= {"passed": value.passed, "is_blocking": value.is_blocking}
        return content
    return value


def outcomes_text(checks: Sequence[CheckResult]) -> str:
    """How many checks are kept, broken, unverifiable, only warned of or set aside: `41 kept, 1 broken`."""
    found = Counter(_outcome(check) for check in checks)
    return ", ".join(f"{found[name]} {name}" for name in _OUTCOMES if found[name]) or "none"





def _outcome(check: CheckResult) -> str:
    if check.outcome == "kept":
        return "kept"
    if check.severity == "warn":
        return "warning"
    return "set aside" if check.is_set_aside else check.outcome


def _facts(result: GateResult) -> Iterator[tuple[str, str]]:
    yield "checks", outcomes_text(result.checks)
    yield "rows", counts_text(result.counts)
    if result.target:
        yield "target", result.target
        yield "published", _published(result)
    if result.quarantine:
        yield "quarantine", result.quarantine
    if result.submission_id:
        yield "submission", result.submission_id
    if result.submission_id and result.is_recorded:
        yield "attempt", f"{result.attempt_id}  (invaract show {result.attempt_id[:10]})"


def _published(result: GateResult) -> str:
    if result.publication:
        return f"version {result.publication.table_version}"
    return "not known yet" if result.state == "unknown" else "nothing"


def _wrapped(label: str, text: str) -> list[str]:
    start = f"    {label:<{_LABEL - 2}} " if label else "    "
    rest = " " * len(start)
    return [
        line
        for part in text.splitlines() or [""]
        for line in textwrap.wrap(
            part, _WIDTH, initial_indent=start, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
        )
    ]  # fmt: skip


def _printable(line: str) -> str:
    """A terminal obeys control characters, and names of files and columns may hold some."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in line)
