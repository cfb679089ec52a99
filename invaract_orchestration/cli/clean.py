"""`invaract clean`: carry out `keep` of candidates and quarantine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from invaract_orchestration.cli.console import to_stdout
from invaract_orchestration.cli.options import ContractFile, Environment, Params, Target
from invaract_orchestration.cli.places import target_of


def clean(
    contract: ContractFile, /, *, param: Params = (), env: Environment = None, target: Target = None,
    dry_run: Annotated[bool, Parameter(negative="", help="say what would be removed, and remove nothing")] = False,
) -> int:  # fmt: skip
    """Remove candidates and quarantined rows whose time is over; nothing of an unsettled submission."""
    from invaract_orchestration.audit.clean import clean_candidates, expired_attempts
    from invaract_orchestration.intake.places import candidates_place, quarantine_place
    from invaract_orchestration.wiring import open_audit, open_gate, quarantined_rows, remove_quarantined

    agreed, place, root = target_of(contract, param, env, target)
    with open_gate() as gate, open_audit(read_only=True) as audit:
        now = gate.clock()
        cleaned = clean_candidates(
            agreed, Path(candidates_place(agreed, place, lake_root=root, locate=gate.engine.locate)), audit, now, dry_run=dry_run
        )
        quarantine = quarantine_place(agreed, place, lake_root=root, locate=gate.engine.locate)
        held = sorted({row["attempt_id"] for row in quarantined_rows(quarantine, ["attempt_id"])})
        expired = expired_attempts(agreed, held, audit, now)
        rows = 0 if dry_run or not expired else remove_quarantined(quarantine, expired)
    word = "would remove" if dry_run else "removed"
    to_stdout(f"{word} {len(cleaned.removed)} candidates, {cleaned.freed:,} bytes")
    to_stdout(f"{word} the failing rows of {len(expired)} attempts" + (f", {rows:,} rows" if rows else ""))
    if cleaned.left:
        to_stdout(f"left {len(cleaned.left)} candidates alone: unsettled, or not on record")
    return 0
