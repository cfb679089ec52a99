"""Waivers that were granted for exactly the rows of a candidate, looked up and applied."""

from __future__ import annotations

from typing import Any

from invaract_orchestration.audit.log import ROWS_DIGEST, WaiverLog
from invaract_orchestration.audit.trail import Trail
from invaract_orchestration.candidate.candidate import Materialised
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.verdict.waivers import apply_waivers, is_waivable


def waive(
    judged: tuple[CheckResult, ...], materialised: Materialised, session: Any, log: WaiverLog, trail: Trail, contract: str
) -> tuple[CheckResult, ...]:
    """The results, with the waiver's id on each that one lets through.

    None where rows were left out of the candidate, as then others would be published than the waiver was given for, and none
    where something blocks that no waiver can let through. The digest of the rows is put on record, for `invaract waive`.
    """
    blocking = [c for c in judged if c.is_blocking]
    is_whole = materialised.candidate.rows == materialised.read and not materialised.set_aside  # steps may make as many rows
    if not blocking or not is_whole or not all(is_waivable(c) for c in blocking):
        return judged
    digest = session.rows_digest(materialised.candidate)
    trail.step("materialised", "these rows can be waived", {ROWS_DIGEST: digest})
    now = trail.clock()
    granted = {w.check: w.waiver_id for w in log.waivers(digest) if w.contract == contract and w.expires_at > now}
    return apply_waivers(judged, granted)
