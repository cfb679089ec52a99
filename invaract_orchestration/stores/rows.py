"""Records to rows and back. A row holds text, whole numbers and times; what is nested is canonical JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from datetime import datetime
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from invaract_orchestration.audit.chain import canonical_json, utc_text
from invaract_orchestration.audit.records import (
    Attempt,
    ContractVersion,
    Counts,
    Event,
    InputFile,
    OutcomeRecord,
    PublicationRecord,
    Submission,
    VerdictRecord,
    Waiver,
)
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.errors import AuditError
from invaract_orchestration.stores.models import zoned

Values = dict[str, Any]

# PostgreSQL stores no NUL, and neither database a lone surrogate (a file name that is not UTF-8 has them).
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(values: Values) -> Values:
    """The same row with characters that no database stores written as escapes."""
    return {name: _storable(value) if isinstance(value, str) else value for name, value in values.items()}


def _storable(value: str) -> str:
    return _UNSTORABLE.sub(_escaped, value)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("ascii", "backslashreplace").decode().replace("\0", "\\x00")


def contract_row(record: ContractVersion, position: int) -> Values:
    """A version of a contract."""
    return storable({
        "contract": record.contract, "version": record.version, "position": position,
        "digest": record.digest, "document": record.document,
    })  # fmt: skip


def submission_row(record: Submission, position: int) -> Values:
    """A submission; parameters and files are JSON."""
    return storable({
        "submission_id": record.submission_id, "position": position, "contract": record.contract,
        "target": record.target, "parameters": canonical_json(dict(record.parameters)),
        "slice_digest": record.slice_digest, "intake_digest": record.intake_digest,
        "files": canonical_json([_file_json(file) for file in record.files]),
    })  # fmt: skip


def _file_json(file: InputFile) -> Values:
    modified = None if file.modified is None else utc_text(zoned(file.modified))
    return {"name": file.name, "size": file.size, "modified": modified, "digest": file.digest}


def attempt_row(record: Attempt, position: int) -> Values:
    """An attempt, without its context."""
    return storable({
        "attempt_id": record.attempt_id, "position": position, "submission_id": record.submission_id,
        "kind": record.kind, "contract": record.contract_version.contract, "version": record.contract_version.version,
        "environment": record.environment, "engine": record.engine, "host": record.host,
        "started_at": zoned(record.started_at),
    })  # fmt: skip


def context_rows(record: Attempt) -> list[Values]:
    """An attempt's context, a row for each name."""
    return [
        storable({"attempt_id": record.attempt_id, "name": name, "value": value})
        for name, value in sorted(record.context.items())
    ]


def event_row(record: Event) -> Values:
    """A step, without what ties it into the chain."""
    return storable({
        "attempt_id": record.attempt_id, "state": record.state, "at": zoned(record.at), "message": record.message,
        "detail": canonical_json(dict(record.detail)),
    })  # fmt: skip


def verdict_row(record: VerdictRecord, ordinal: int, position: int) -> Values:
    """A verdict, without its results."""
    return storable({
        "attempt_id": record.attempt_id, "ordinal": ordinal, "position": position, "passed": record.passed,
        "contract_digest": record.contract_digest, "candidate_digest": record.candidate_digest,
        "schema_digest": record.schema_digest, "target_version": record.target_version, "engine": record.engine,
        "reasons": canonical_json(list(record.reasons)), **_counts_row(record.counts), "at": zoned(record.at),
    })  # fmt: skip


def result_rows(record: VerdictRecord, ordinal: int) -> list[Values]:
    """A verdict's results, numbered in their order."""
    return [
        storable({
            "attempt_id": record.attempt_id, "verdict": ordinal, "ordinal": number,
            **{_result_column(name): getattr(result, name) for name in RESULT_FIELDS},
        })
        for number, result in enumerate(record.results)
    ]  # fmt: skip


RESULT_FIELDS = tuple(field.name for field in fields(CheckResult))


def _result_column(name: str) -> str:
    return "check_id" if name == "check" else name


def outcome_row(record: OutcomeRecord, ordinal: int, position: int) -> Values:
    """How an attempt ended, without the publication."""
    return storable({
        "attempt_id": record.attempt_id, "ordinal": ordinal, "position": position, "state": record.state,
        "code": record.code, "message": record.message, **_counts_row(record.counts),
        "is_published": record.publication is not None, "at": zoned(record.at),
    })  # fmt: skip


def publication_row(record: PublicationRecord, contract: str, position: int) -> Values:
    """A publication."""
    return storable({
        "submission_id": record.submission_id, "position": position, "attempt_id": record.attempt_id,
        "contract": contract,
        "target": record.target, "table_version": record.table_version, "mode": record.mode, "method": record.method,
        "committed_at": zoned(record.committed_at),
    })  # fmt: skip


def waiver_row(record: Waiver, position: int) -> Values:
    """A waiver."""
    return storable({
        "waiver_id": record.waiver_id, "position": position, "contract": record.contract, "check_id": record.check,
        "candidate_digest": record.candidate_digest, "approver": record.approver, "reason": record.reason,
        "granted_at": zoned(record.granted_at), "expires_at": zoned(record.expires_at),
    })  # fmt: skip


COUNT_FIELDS = tuple(field.name for field in fields(Counts))


def _counts_row(counts: Counts) -> Values:
    return {f"rows_{name}": getattr(counts, name) for name in COUNT_FIELDS}


def _counts(row: Mapping[str, Any]) -> Counts:
    return Counts(**{name: row[f"rows_{name}"] for name in COUNT_FIELDS})


P = ParamSpec("P")
R = TypeVar("R")


def readable(decode: Callable[P, R]) -> Callable[P, R]:
    """A row that someone changed by hand may not be a record any more; that is an audit error, not a crash."""

    @wraps(decode)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        with suppress(ValueError, TypeError, KeyError):
            return decode(*args, **kwargs)
        raise no_record()

    return guarded


def no_record() -> AuditError:
    """The error for a row that someone changed by hand."""
    return AuditError("The audit holds a row that is no record", hint="run `invaract audit verify`")


@readable
def contract_of(row: Mapping[str, Any]) -> ContractVersion:
    """A version of a contract."""
    return ContractVersion(
        contract=row["contract"], version=row["version"], digest=row["digest"], document=row["document"]
    )


@readable
def submission_of(row: Mapping[str, Any]) -> Submission:
    """A submission."""
    names = ("submission_id", "contract", "target", "slice_digest", "intake_digest")
    return Submission(
        **{name: row[name] for name in names},
        parameters=json.loads(row["parameters"]),
        files=tuple(_file(file) for file in json.loads(row["files"])),
    )


def _file(value: Mapping[str, Any]) -> InputFile:
    modified = value["modified"]
    return InputFile(
        name=value["name"], size=value["size"], digest=value["digest"],
        modified=None if modified is None else datetime.fromisoformat(modified),
    )  # fmt: skip


@readable
def attempt_of(row: Mapping[str, Any], version: ContractVersion, context: Mapping[str, str]) -> Attempt:
    """An attempt."""
    names = ("attempt_id", "submission_id", "kind", "environment", "engine", "host", "started_at")
    return Attempt(**{name: row[name] for name in names}, contract_version=version, context=context)


@readable
def event_of(row: Mapping[str, Any]) -> Event:
    """A step."""
    names = ("attempt_id", "state", "at", "message")
    return Event(**{name: row[name] for name in names}, detail=json.loads(row["detail"]))


@readable
def verdict_of(row: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> VerdictRecord:
    """A verdict with these results."""
    names = (
        "attempt_id", "passed", "contract_digest", "candidate_digest", "schema_digest", "target_version", "engine",
        "at",
    )  # fmt: skip
    return VerdictRecord(
        **{name: row[name] for name in names},
        reasons=tuple(json.loads(row["reasons"])),
        counts=_counts(row),
        results=tuple(_result(result) for result in results),
    )


def _result(row: Mapping[str, Any]) -> CheckResult:
    return CheckResult(**{name: row[_result_column(name)] for name in RESULT_FIELDS})


@readable
def outcome_of(row: Mapping[str, Any], publication: PublicationRecord | None) -> OutcomeRecord:
    """How an attempt ended; `publication` is its submission's, and counts only when the outcome says so."""
    names = ("attempt_id", "state", "code", "message", "at")
    known = publication if row["is_published"] else None
    return OutcomeRecord(**{name: row[name] for name in names}, counts=_counts(row), publication=known)


@readable
def publication_of(row: Mapping[str, Any]) -> PublicationRecord:
    """A publication."""
    names = ("submission_id", "attempt_id", "target", "table_version", "mode", "method", "committed_at")
    return PublicationRecord(**{name: row[name] for name in names})


@readable
def waiver_of(row: Mapping[str, Any]) -> Waiver:
    """A waiver."""
    names = ("waiver_id", "contract", "candidate_digest", "approver", "reason", "granted_at", "expires_at")
    return Waiver(**{name: row[name] for name in names}, check=row["check_id"])


def waiver_event(record: Waiver) -> Values:
    """The event of a waiver, which belongs to no attempt."""
    message = f"{record.approver} waived {record.check!r} for one candidate"
    return storable({
        "attempt_id": None, "state": None, "at": zoned(record.granted_at), "message": message, "detail": "{}",
    })  # fmt: skip
