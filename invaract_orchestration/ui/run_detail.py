"""One attempt whole."""

from __future__ import annotations

from invaract_orchestration.audit.browse import AuditPages, RunFilter, Scope
from invaract_orchestration.audit.log import AttemptView
from invaract_orchestration.audit.records import Event
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.ui.answers import Check, File, Publication, Run, RunSummary, Step, VerdictAnswer
from invaract_orchestration.ui.plan_picture import plan_of
from invaract_orchestration.ui.summaries import summary_fields, summary_of

_SIBLINGS = 20
_TOLD_APART = ("plan", "plan_digest", "lineage", "tags")


def run_detail(reader: AuditPages, scope: Scope, attempt_id: str) -> Run | None:
    """An attempt that the viewer may see; null when there is none."""
    view = reader.attempt(attempt_id)
    if view is None or not scope.allows(view.attempt.context):
        return None
    version, submission = view.attempt.contract_version, view.submission
    return Run(
        **summary_fields(view),
        host=view.attempt.host,
        contract_digest=version.digest,
        intake_digest=submission.intake_digest,
        slice_digest=submission.slice_digest,
        verdict=_verdict(view),
        checks=[check_of(result) for result in view.verdict.results] if view.verdict else [],
        steps=_steps(view.events),
        files=[File.model_validate(file) for file in submission.files],
        publication=_publication(view),
        other_attempts=_siblings(reader, scope, view),
        plan=plan_of(view.events),
    )


def check_of(result: CheckResult) -> Check:
    """What one check said."""
    return Check.model_validate(result)


def _verdict(view: AttemptView) -> VerdictAnswer | None:
    return VerdictAnswer.model_validate(view.verdict) if view.verdict else None


def _publication(view: AttemptView) -> Publication | None:
    found = view.outcome.publication if view.outcome else None
    return Publication.model_validate(found) if found else None


def _steps(events: tuple[Event, ...]) -> list[Step]:
    following = [*(event.at for event in events[1:]), None][: len(events)]
    return [
        Step(
            state=event.state, at=event.at, message=event.message,
            detail={name: value for name, value in event.detail.items() if name not in _TOLD_APART},
            seconds=max((until - event.at).total_seconds(), 0.0) if until else None,
        )
        for event, until in zip(events, following, strict=True)
    ]  # fmt: skip


def _siblings(reader: AuditPages, scope: Scope, view: AttemptView) -> list[RunSummary]:
    wanted = RunFilter(submission_id=view.submission.submission_id)
    page = reader.runs(wanted, scope, limit=_SIBLINGS)
    return [summary_of(each) for each in page.runs if each.attempt.attempt_id != view.attempt.attempt_id]
