"""Builders of audit records with everything filled in; what a test is about is given by name."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from invaract_orchestration.audit.log import AuditLog
from invaract_orchestration.audit.records import (
    Attempt,
    ContractVersion,
    Counts,
    Event,
    InputFile,
    OutcomeRecord,
    PublicationRecord,
    State,
    Submission,
    VerdictRecord,
    Waiver,
)
from invaract_orchestration.checks.result import CheckResult

Values = dict[str, Any]

START = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


def build_version(contract: str = "flights", version: str = "1.0.0", **given: Any) -> ContractVersion:
    """A contract's version."""
    defaults: Values = {"digest": "d1", "document": "{}"}
    return ContractVersion(contract=contract, version=version, **defaults | given)


def build_submission(submission_id: str = "sub-1", **given: Any) -> Submission:
    """A submission of one file."""
    file = InputFile(name="2013-01.csv", size=12, modified=START, digest="f1")
    defaults: Values = {
        "contract": "flights", "target": "lake/flights", "parameters": {"month": "1"}, "slice_digest": "slice-1",
        "intake_digest": f"intake of {submission_id}", "files": (file,),
    }  # fmt: skip
    return Submission(submission_id=submission_id, **defaults | given)


def build_attempt(attempt_id: str = "att-1", submission_id: str = "sub-1", **given: Any) -> Attempt:
    """A run of a submission."""
    defaults: Values = {
        "kind": "run", "contract_version": build_version(), "environment": "dev", "engine": "duckdb 2", "host": "here",
        "started_at": START, "context": {},
    }  # fmt: skip
    return Attempt(attempt_id=attempt_id, submission_id=submission_id, **defaults | given)


def build_event(attempt_id: str = "att-1", state: State = "received", **given: Any) -> Event:
    """A step of an attempt."""
    defaults: Values = {"at": START, "message": f"is {state}", "detail": {}}
    return Event(attempt_id=attempt_id, state=state, **defaults | given)


def build_result(check: str = "dest|required", **given: Any) -> CheckResult:
    """A check that is kept on ten rows."""
    defaults: Values = {
        "stage": "rows", "outcome": "kept", "expected": "a value", "found": "10 values", "evidence": "scan",
        "rows": 10, "failed": 0,
    }  # fmt: skip
    return CheckResult(check=check, **defaults | given)


def build_verdict(attempt_id: str = "att-1", **given: Any) -> VerdictRecord:
    """A verdict that passes."""
    defaults: Values = {
        "passed": True, "contract_digest": "d1", "candidate_digest": "c1", "schema_digest": "s1",
        "target_version": 4, "engine": "duckdb 2", "reasons": (), "counts": Counts(read=10, good=10),
        "results": (build_result(),), "at": START,
    }  # fmt: skip
    return VerdictRecord(attempt_id=attempt_id, **defaults | given)


def build_publication(submission_id: str = "sub-1", attempt_id: str = "att-1", **given: Any) -> PublicationRecord:
    """A publication as version 5."""
    defaults: Values = {
        "target": "lake/flights", "table_version": 5, "mode": "append", "method": "promoted", "committed_at": START,
    }  # fmt: skip
    return PublicationRecord(submission_id=submission_id, attempt_id=attempt_id, **defaults | given)


def build_outcome(attempt_id: str = "att-1", state: State = "published", **given: Any) -> OutcomeRecord:
    """An outcome without a publication."""
    defaults: Values = {
        "code": None, "message": f"ended {state}", "counts": Counts(read=10, inserted=10), "publication": None,
        "at": START,
    }  # fmt: skip
    return OutcomeRecord(attempt_id=attempt_id, state=state, **defaults | given)


def build_waiver(waiver_id: str = "w-1", **given: Any) -> Waiver:
    """A waiver of one day."""
    defaults: Values = {
        "contract": "flights", "check": "dest|required", "candidate_digest": "c1", "approver": "Ada", "reason": "known",
        "granted_at": START, "expires_at": START + timedelta(days=1),
    }  # fmt: skip
    return Waiver(waiver_id=waiver_id, **defaults | given)


def record_published(audit: AuditLog, number: int, **given: Any) -> None:
    """Record attempt `att-N` of submission `sub-N`, from its first event to its publication as version N."""
    attempt_id, submission_id = f"att-{number}", f"sub-{number}"
    _open(audit, number, given)
    audit.record_verdict(build_verdict(attempt_id, target_version=number - 1), build_event(attempt_id, "judged"))
    audit.append(build_event(attempt_id, "publishing"))
    publication = build_publication(submission_id, attempt_id, table_version=number)
    audit.record_outcome(build_outcome(attempt_id, publication=publication), build_event(attempt_id, "published"))


def record_rejected(audit: AuditLog, number: int, *checks: str, **given: Any) -> None:
    """Record attempt `att-N` of submission `sub-N`, rejected because two rows break each of the checks."""
    attempt_id = f"att-{number}"
    _open(audit, number, given)
    results = (build_result("kept"), *(build_result(check, outcome="broken", failed=2) for check in checks))
    verdict = build_verdict(attempt_id, passed=False, reasons=checks, results=results)
    audit.record_verdict(verdict, build_event(attempt_id, "judged"))
    outcome = build_outcome(attempt_id, "rejected", code="row_failures")
    audit.record_outcome(outcome, build_event(attempt_id, "rejected"))


def _open(audit: AuditLog, number: int, given: dict[str, Any]) -> None:
    attempt_id, submission_id = f"att-{number}", f"sub-{number}"
    contract = given.pop("contract", "flights")
    submission = build_submission(submission_id, contract=contract)
    version = build_version(contract)
    attempt = build_attempt(attempt_id, submission_id, **{"contract_version": version} | given)
    audit.open_attempt(submission, attempt, build_event(attempt_id))
