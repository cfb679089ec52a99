"""Failing rows by attempt: how many, and which checks they failed. Never what stood in them."""

from __future__ import annotations

from collections.abc import Iterable

from invaract_orchestration.audit.browse import AuditPages, RunFilter, Scope
from invaract_orchestration.audit.log import AttemptView
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.ui.answers import Quarantine, QuarantineEntry, Reason
from invaract_orchestration.ui.summaries import page_fields, summary_of


def quarantine(
    reader: AuditPages, scope: Scope, *, contract: str | None, limit: int, before: str | None = None,
    after: str | None = None,
) -> Quarantine:  # fmt: skip
    """A page of attempts with failing rows."""
    wanted = RunFilter(contract=contract, kind="run", has_failing_rows=True)
    page = reader.runs(wanted, scope, limit=limit, before=before, after=after, with_results=True)
    return Quarantine(entries=[_entry(view) for view in page.runs], **page_fields(page))


def _entry(view: AttemptView) -> QuarantineEntry:
    counts = view.outcome.counts if view.outcome else None
    aside = (counts.quarantined or 0) if counts else 0
    return QuarantineEntry(
        run=summary_of(view),
        kind="quarantined" if aside and view.state != "rejected" else "rejected",  # too many of them reject the batch
        rows=aside or ((counts.failing or 0) if counts else 0),
        reasons=_reasons(view.verdict.results if view.verdict else ()),
    )


def _reasons(results: Iterable[CheckResult]) -> list[Reason]:
    failed = [r for r in results if r.rows is not None and (r.failed or r.undecided)]
    failed.sort(key=lambda r: -((r.failed or 0) + r.undecided))
    return [
        Reason(
            check=r.check, failed=r.failed or 0, undecided=r.undecided, rows=r.rows, is_set_aside=r.is_set_aside
        )
        for r in failed
    ]  # fmt: skip
