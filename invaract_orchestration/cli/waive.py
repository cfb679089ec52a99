"""`invaract waive`: let one check of one rejected batch through."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Annotated

from cyclopts import Parameter

from invaract_orchestration.cli.console import to_stdout
from invaract_orchestration.errors import UsageError


def waive(
    attempt: Annotated[str, Parameter(help="the rejected attempt, or the start of its id")], /, *,
    check: Annotated[str, Parameter(help="the check to let through, such as id|unique")],
    approver: Annotated[str, Parameter(help="who answers for it")],
    reason: Annotated[str, Parameter(help="why it is right to publish these rows")],
    expires: Annotated[str, Parameter(help="how long the waiver holds, such as 2d")] = "1d",
) -> int:  # fmt: skip
    """Let one check of one rejected batch through; the batch has to be submitted again."""
    from invaract_orchestration.audit.log import WAIVABLE
    from invaract_orchestration.audit.records import Waiver
    from invaract_orchestration.contract.scalars import duration_seconds
    from invaract_orchestration.verdict.waivers import is_waivable
    from invaract_orchestration.wiring import open_audit

    if not approver.strip() or not reason.strip():
        raise UsageError("a waiver needs an approver and a reason that are not blank")
    try:
        lasts = timedelta(seconds=duration_seconds(expires))
    except ValueError as error:
        raise UsageError(f"--expires: {error}", hint="a waiver is for one batch: some days are enough") from None
    with open_audit(read_only=True) as audit:
        view = audit.attempt(attempt)
    if view is None:
        raise UsageError(f"there is no attempt {attempt!r}, or several begin like this", hint="see `invaract history`")
    digest = next((str(e.detail[WAIVABLE]) for e in reversed(view.events) if WAIVABLE in e.detail), None)
    blocking = [r for r in view.verdict.results if r.is_blocking] if view.verdict else []
    named = next((r for r in blocking if r.check == check), None)
    if named is None:
        raise UsageError(
            f"check {check!r} did not block attempt {view.attempt.attempt_id}",
            hint="checks that did: " + (", ".join(r.check for r in blocking) or "none"),
        )
    if digest is None or not is_waivable(named):
        raise UsageError(
            f"check {check!r} of this attempt cannot be waived",
            hint="only rules on rows, keys and the whole batch can, when every row of the batch is in the candidate and neither "
            "the publish mode nor constraints: mirror rests on them",
        )
    now = datetime.now(UTC)
    waiver = Waiver(
        waiver_id=f"w-{uuid.uuid4().hex[:16]}", contract=view.submission.contract, check=check, candidate_digest=digest,
        approver=approver.strip(), reason=reason.strip(), granted_at=now, expires_at=now + lasts,
    )  # fmt: skip
    with open_audit() as audit:
        audit.grant(waiver)
    to_stdout(f"waiver {waiver.waiver_id}: {check} of exactly these rows, until {waiver.expires_at:%Y-%m-%d %H:%M} UTC")
    to_stdout("submit the same batch again; any other row, contract, target or finding, and the waiver does not hold")
    return 0
