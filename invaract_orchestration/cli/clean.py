"""`invaract clean`: carry out `keep` of candidates and quarantine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from invaract_orchestration.cli.console import counted, to_stdout
from invaract_orchestration.cli.options import ContractFile, Environment, Params, Target
from invaract_orchestration.cli.places import target_of


def clean(
    contract: ContractFile, /, *, param: Params = (), env: Environment = None, target: Target = None,
    dry_run: Annotated[bool, Parameter(help="say what would be removed, and remove nothing")] = False,
) -> int:  # fmt: skip
    """Remove candidates and quarantined rows whose time is over; nothing of an unsettled submission."""
    from invaract_orchestration.audit.clean import clean_candidates, expired_attempts
    from invaract_orchestration.intake.places import candidates_place, quarantine_place
    from invaract_orchestration.wiring import open_audit, quarantined_rows, remove_quarantined, table_locator, utc_now

    agreed, place, root = target_of(contract, param, env, target)
    locate, now = table_locator(), utc_now()
    candidates = Path(candidates_place(agreed, place, lake_root=root, locate=locate))
    quarantine = quarantine_place(agreed, place, lake_root=root, locate=locate)
    with open_audit(read_only=True) as audit:
        cleaned = clean_candidates(agreed, candidates, audit, now, dry_run=dry_run)
        held = sorted({row["attempt_id"] for row in quarantined_rows(quarantine, ["attempt_id"])})
        expired = expired_attempts(agreed, held, audit, now)
        rows = 0 if dry_run else remove_quarantined(quarantine, expired)
    word = "would remove" if dry_run else "removed"
    to_stdout(f"{word} {counted(len(cleaned.removed), 'candidate')}, {counted(cleaned.freed, 'byte')}")
    to_stdout(f"{word} the failing rows of {counted(len(expired), 'attempt')}" + (f", {counted(rows, 'row')}" if rows else ""))
    if cleaned.left:
        to_stdout(f"left {counted(len(cleaned.left), 'candidate')} alone: unsettled, or not on record")
    return 0
