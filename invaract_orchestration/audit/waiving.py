"""Waivers that were granted for exactly what was found in a batch, looked up and applied."""

from __future__ import annotations

import hashlib
from typing import Any

from invaract_orchestration.audit.chain import canonical_json
from invaract_orchestration.audit.log import WAIVABLE, WaiverLog
from invaract_orchestration.audit.trail import Trail
from invaract_orchestration.candidate.candidate import Materialised
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.verdict.waivers import apply_waivers, is_relied_on, is_waivable


def waive(
    judged: tuple[CheckResult, ...], materialised: Materialised, session: Any, log: WaiverLog, trail: Trail, contract: Contract,
    slice_digest: str,
) -> tuple[CheckResult, ...]:  # fmt: skip
    """The results, with the waiver's id on each that one lets through.

    None where rows were left out of the candidate, as then others would be published than the waiver was given for, and none
    where something blocks that no waiver can let through. What a waiver can be given for is put on record, for `invaract waive`.
    """
    blocking = [c for c in judged if c.is_blocking]
    is_whole = materialised.candidate.rows == materialised.read and not materialised.set_aside  # steps may make as many rows
    if not blocking or not is_whole or not all(is_waivable(c) and not is_relied_on(c, contract) for c in blocking):
        return judged
    rows = session.rows_digest(materialised.candidate)
    digest = _digest([rows, trail.attempt.contract_version.digest, slice_digest, *map(_finding, blocking)])
    trail.step("materialised", "these rows can be waived", {WAIVABLE: digest})
    now = trail.clock()
    granted = {w.check: w.waiver_id for w in log.waivers(digest) if w.contract == contract.contract and w.expires_at > now}
    return apply_waivers(judged, granted)


def _finding(result: CheckResult) -> list[str | int | None]:
    """What was found. A key and a rule over the batch may be about other tables too, whose rows are not the batch's: there the
    counts belong to it."""
    counts = [result.failed, result.undecided] if result.stage in ("keys", "dataset") else []
    return [result.check, result.outcome, *counts]


def _digest(parts: list[Any]) -> str:
    return "sha256:" + hashlib.sha256(canonical_json(parts).encode()).hexdigest()
