"""Attempts in lists."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from invaract_orchestration.audit.browse import AuditPages, RunFilter, RunPage, Scope
from invaract_orchestration.audit.log import AttemptView
from invaract_orchestration.audit.records import Counts
from invaract_orchestration.ui.answers import RowCounts, Runs, RunSummary
from invaract_orchestration.ui.wording import word_of


def list_runs(
    reader: AuditPages, scope: Scope, wanted: RunFilter, *, limit: int, before: str | None = None, after: str | None = None
) -> Runs:
    """A page of attempts."""
    page = reader.runs(wanted, scope, limit=limit, before=before, after=after)
    return Runs(runs=[summary_of(view) for view in page.runs], **page_fields(page))


def page_fields(page: RunPage) -> dict[str, Any]:
    """What every answer says of its page."""
    return {"total": page.total, "newer": page.newer, "older": page.older, "unreadable": list(page.unreadable)}


def summary_of(view: AttemptView) -> RunSummary:
    """An attempt in a list."""
    return RunSummary(**summary_fields(view))


def summary_fields(view: AttemptView) -> dict[str, Any]:
    """The fields of a summary, which a whole attempt has too."""
    attempt, outcome, word = view.attempt, view.outcome, word_of(view)
    return {
        "attempt_id": attempt.attempt_id,
        "submission_id": attempt.submission_id,
        "contract": view.submission.contract,
        "version": attempt.contract_version.version,
        "target": view.submission.target,
        "kind": attempt.kind,
        "state": view.state,
        "state_label": word.label,
        "tone": word.tone,
        "environment": attempt.environment,
        "engine": attempt.engine,
        "parameters": dict(view.submission.parameters),
        "context": dict(attempt.context),
        "started_at": attempt.started_at,
        "ended_at": outcome.at if outcome else None,
        "seconds": _seconds(outcome.at - attempt.started_at) if outcome else None,
        "code": outcome.code if outcome else None,
        "message": outcome.message if outcome else (view.events[-1].message if view.events else ""),
        "reasons": list(view.verdict.reasons) if view.verdict else [],
        "counts": counts_of(view),
        "table_version": outcome.publication.table_version if outcome and outcome.publication else None,
    }


def counts_of(view: AttemptView) -> RowCounts:
    """The last counts that were recorded."""
    known = view.outcome.counts if view.outcome else view.verdict.counts if view.verdict else Counts()
    return RowCounts.model_validate(known)


def _seconds(length: timedelta) -> float:
    return max(length.total_seconds(), 0.0)
