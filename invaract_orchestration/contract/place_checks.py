"""Places and times: locations with their parameters, zones, when data is expected, whom to tell."""

from __future__ import annotations

import re
from collections.abc import Iterator

from invaract_orchestration.contract.field_checks import is_zone, report_zone
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.contract.report import Path, Report, shown
from invaract_orchestration.contract.scalars import duration_seconds

_TEMPLATE = re.compile(r"(?:[^{}]|\{[A-Za-z_]\w*\})*\Z", re.ASCII)
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]\Z", re.ASCII)
_NOTIFIED = re.compile(r"((webhook|command):env:[A-Za-z_][A-Za-z0-9_]*|log)\Z", re.ASCII)
_INPUT = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)


def check_places(contract: Contract, report: Report) -> None:
    """Report places that are blank, hold half a parameter, a control character or a password."""
    for path, text in _places(contract):
        if not isinstance(text, str) or not report.is_sound(path):
            continue
        if not text.strip():
            report.add(path, "expected a name or a place, found a blank text")
        elif any(c < " " for c in text):
            report.add(path, "a place holds a control character")
        elif not _TEMPLATE.match(text):
            hint = "a parameter is a word in braces, such as {day}"
            report.add(path, f"expected a place, found braces that hold no parameter in {shown(text)}", hint=hint)
        elif re.search(r"://[^/@]*:[^/@]*@", text):
            hint = "credentials come from the environment or the orchestrator's connection"
            report.add(path, "a place never holds a password", hint=hint)


def _places(contract: Contract) -> Iterator[tuple[Path, str | None]]:
    if contract.source is not None:
        yield ("source", "location"), contract.source.location
        for name, table in (contract.source.inputs or {}).items():
            yield ("source", "inputs", name), table
    if contract.publish is not None:
        yield ("publish", "target"), contract.publish.target
        if contract.publish.candidate is not None:
            yield ("publish", "candidate", "location"), contract.publish.candidate.location
        for name, value in (contract.publish.partition or {}).items():
            yield ("publish", "partition", name), value
    yield ("quarantine", "location"), contract.quarantine.location
    for at, link in enumerate(contract.links):
        yield ("links", at, "location"), link.location
    for name, overlay in contract.environments.items():
        for key, text in overlay.items():
            yield ("environments", name, key), text
    for at, rule in enumerate(contract.quality.dataset_rules):
        base: Path = ("quality", "dataset_rules", at)
        if rule.covers is not None:
            yield (*base, "covers", "reference"), rule.covers.reference
        if rule.references is not None:
            yield (*base, "references", "table"), rule.references.table


def check_times(contract: Contract, report: Report) -> None:
    """Report zones that do not exist and times of day that are none."""
    if report.is_sound(("timezone",)) and not is_zone(contract.timezone):
        report_zone(("timezone",), contract.timezone, report)
    freshness = contract.freshness
    every = freshness.every if freshness is not None and report.is_sound(("freshness", "every")) else None
    if every is not None and not duration_seconds(every):
        message = f"expected a time between two publications, found {shown(every)}"
        report.add(("freshness", "every"), message, hint="such as 1d")
    expected = freshness.expected_by if freshness is not None else None
    if expected is not None and not _CLOCK.match(expected):
        message = f"expected a time of day such as '01:30', found {shown(expected)}"
        report.add(("freshness", "expected_by"), message, hint="hours from 00 to 23, in the contract's timezone")


def check_notifications(contract: Contract, report: Report) -> None:
    """Report notifications that name anything but an environment variable: a contract never holds a secret."""
    for at, notification in enumerate(contract.notifications):
        path: Path = ("notifications", at, "to")
        if report.is_sound(path) and not _NOTIFIED.match(notification.to):
            start = shown(notification.to.split(":")[0])
            message = f"expected webhook:env:NAME, command:env:NAME or log, found {start} in another form"
            report.add(path, message, hint="NAME is the environment variable that holds the address")


def check_source(contract: Contract, report: Report) -> None:
    """Report options of the source that contradict each other."""
    source = contract.source
    if source is None or not report.is_sound(("source",)):
        return
    options = source.options
    if options.delimiter in (options.quote, options.escape, "\n", "\r"):
        report.add(("source", "options", "delimiter"), "the delimiter is the quote, the escape or a line end too")
    for number, text in enumerate(options.null_values):
        if any(c in text for c in (options.delimiter, options.quote, "\n", "\r")):
            path = ("source", "options", "null_values", number)
            report.add(path, f"{shown(text)} holds the delimiter, the quote or a line end, and so is no unquoted value")
    for name in source.inputs:
        if not _INPUT.match(name):
            report.add(("source", "inputs", name), f"{shown(name)} cannot be a table's name in a query")
