"""Findings about what surrounds the rules: source, publishing, quarantine, freshness."""

from __future__ import annotations

from collections.abc import Iterator

from invaract_orchestration.contract.field_checks import is_nested
from invaract_orchestration.contract.lint_finding import LintFinding
from invaract_orchestration.contract.model import Contract, SourceOptions

_CSV_ONLY = ("delimiter", "quote", "escape", "encoding", "null_values", "trailing_delimiter")
_WRITTEN_FORM = ("format", "decimal_separator", "group_separator")
_TEXT_FORMATS = ("csv", "json")


def lint_setup(contract: Contract) -> Iterator[LintFinding]:
    """Findings about source, publishing, quarantine and freshness."""
    yield from _source(contract)
    yield from _publish(contract)
    yield from _quarantine(contract)
    yield from _freshness(contract)
    if not contract.fields and not contract.rules:
        yield LintFinding(code="SET-001", level="warning", message="no field and no rule: nothing would be checked")


def _source(contract: Contract) -> Iterator[LintFinding]:
    source = contract.source
    if source is None:
        return
    defaults = SourceOptions()
    for key in _CSV_ONLY:
        if source.format != "csv" and getattr(source.options, key) != getattr(defaults, key):
            yield _unread(("source", "options", key), f"option '{key}'", source.format)
    if source.format != "json" and source.options.shape != defaults.shape:
        yield _unread(("source", "options", "shape"), "option 'shape'", source.format)
    for at, spec in enumerate(contract.fields):
        if source.format == "csv" and is_nested(spec.type):
            yield LintFinding(
                code="SRC-002", level="error", path=("fields", at, "type"),
                message=f"{spec.name}: a CSV file cannot hold a value of type {spec.type}",
                hint="declare it string, or give the data as json, parquet or delta",
            )  # fmt: skip
        for key in _WRITTEN_FORM:
            if source.format not in _TEXT_FORMATS and getattr(spec, key) not in (None, "."):
                yield _unread(("fields", at, key), f"{spec.name}: '{key}'", source.format)


def _unread(path: tuple[str | int, ...], what: str, format_: str) -> LintFinding:
    message = f"{what} is never read: the source is of format {format_}"
    return LintFinding(code="SRC-001", level="warning", path=path, message=message)


def _publish(contract: Contract) -> Iterator[LintFinding]:
    publish = contract.publish
    if publish is None:
        return
    optional = {f.name for f in contract.fields if not f.required or f.severity == "warn"}
    for name in sorted({*publish.partition_by, *publish.partition} & optional):
        if publish.mode == "replace_partitions" or name in publish.partition:
            yield LintFinding(
                code="PUB-001", level="warning", path=("publish",),
                message=f"partition column {name!r} is not required, and a null partition is a failure",
                hint=f"write required: true on {name!r}",
            )  # fmt: skip
    if publish.allow_empty_overwrite and publish.mode == "append":
        yield LintFinding(
            code="PUB-002", level="warning", path=("publish", "allow_empty_overwrite"),
            message="'allow_empty_overwrite' is never read: mode append overwrites nothing",
        )  # fmt: skip
    if publish.keys and publish.mode not in ("merge", "scd2"):
        yield LintFinding(
            code="PUB-003", level="warning", path=("publish", "keys"),
            message=f"mode {publish.mode} matches no rows; the keys of publish are only checked to be unique",
            hint="write them as `keys` of the contract",
        )  # fmt: skip


def _quarantine(contract: Contract) -> Iterator[LintFinding]:
    quality, limit = contract.quality, contract.quality.max_quarantined
    is_limited = limit.rows is not None or limit.percent is not None
    if is_limited and quality.on_row_failure == "reject":
        yield LintFinding(
            code="QUA-001", level="warning", path=("quality", "max_quarantined"),
            message="'max_quarantined' is never reached: a failing row rejects the batch",
            hint="write on_row_failure: quarantine",
        )  # fmt: skip
    if quality.on_row_failure == "quarantine" and (limit.rows == 0 or limit.percent == 0):
        yield LintFinding(
            code="QUA-002", level="warning", path=("quality", "max_quarantined"),
            message="no row may be set aside, so on_row_failure: quarantine is reject",
        )  # fmt: skip


def _freshness(contract: Contract) -> Iterator[LintFinding]:
    freshness = contract.freshness
    if freshness is not None and freshness.column is not None and freshness.max_age is None:
        yield LintFinding(
            code="FRS-001", level="warning", path=("freshness", "column"),
            message="the freshness column is never read: 'max_age' says how old its rows may be",
        )  # fmt: skip
    for at, notification in enumerate(contract.notifications):
        if "late" in notification.on and freshness is None:
            yield LintFinding(
                code="FRS-002", level="warning", path=("notifications", at),
                message="nobody is ever told 'late': 'freshness' says when data is expected",
            )  # fmt: skip
