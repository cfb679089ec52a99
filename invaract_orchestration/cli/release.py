"""`invaract quarantine export` and `release`: failing rows as a file, and submitted again under the current contract."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from invaract_orchestration.cli.console import counted, progress, to_stderr, write_out
from invaract_orchestration.cli.files import write_file
from invaract_orchestration.cli.options import ContractFile, Environment, Params, Target, parameters, typed_table
from invaract_orchestration.cli.places import target_of
from invaract_orchestration.errors import UsageError

Submission = Annotated[str, Parameter(help="the submission whose rows are meant, or the start of its id")]


def export(
    contract: ContractFile, /, *, submission: Submission, param: Params = (), env: Environment = None,
    target: Target = None,
    write: Annotated[str | None, Parameter(help="the file to write; without it the rows are printed")] = None,
) -> int:  # fmt: skip
    """Write the quarantined rows of a submission as a file of the contract's format."""
    from invaract_orchestration.audit.release import export_rows

    agreed, rows = _rows(contract, param, env, target, submission)
    made = export_rows(agreed, rows)
    if write is None:
        write_out(made.content)
    else:
        if Path(write).exists():
            raise UsageError(f"{write} is there already", hint="name a new file")
        write_file(write, made.content, is_private=True)
    aside = f"; {counted(made.left_out, 'line')} left out, being no record" if made.left_out else ""
    to_stderr(counted(made.rows, "row") + aside)
    return 0


def release(
    contract: ContractFile, /, *, submission: Submission, param: Params = (), env: Environment = None,
    target: Target = None,
) -> int:  # fmt: skip
    """Submit the quarantined rows of a submission again, under the contract as it is now."""
    from invaract_orchestration.audit.release import export_rows
    from invaract_orchestration.cli.run import print_result
    from invaract_orchestration.intake.places import candidates_place
    from invaract_orchestration.wiring import open_gate, table_locator

    agreed, rows = _rows(contract, param, env, target, submission)
    submission = rows[0]["submission_id"]
    made = export_rows(agreed, rows)
    _, place, root = target_of(contract, param, env, target)
    candidates = Path(candidates_place(agreed, place, lake_root=root, locate=table_locator()))
    folder = candidates / agreed.contract / f"released-{submission}"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = folder / f"{agreed.version}{made.suffix}"
    file.touch(mode=0o600)
    file.write_bytes(made.content)
    try:
        with open_gate(tell=progress) as gate:
            result = gate.run(
                agreed, source=str(file), parameters=parameters(param), target=typed_table(target), environment=env,
                submission_id=f"{submission}.released.{agreed.version}", context={"released": submission},
            )  # fmt: skip
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # values stay in the quarantine alone
    print_result(result, "text")
    return result.exit_code


def _rows(contract: str, param: tuple[str, ...], env: str | None, target: str | None, submission: str) -> tuple[Any, Any]:
    from invaract_orchestration.intake.places import quarantine_place
    from invaract_orchestration.wiring import quarantined_rows, table_locator

    agreed, place, root = target_of(contract, param, env, target)
    kept = quarantined_rows(quarantine_place(agreed, place, lake_root=root, locate=table_locator()))
    chosen = _chosen(submission, {row["submission_id"] for row in kept})
    found = [row for row in kept if row["submission_id"] == chosen and row["kind"] == "quarantined"]
    if not found:
        raise UsageError(
            f"the failing rows of submission {chosen!r} were not set aside, their whole batch was rejected",
            hint="nothing of the batch was published: mend it, and submit all of it again",
        )
    return agreed, found


def _chosen(text: str, known: set[str]) -> str:
    """The submission of that id, or the only one whose id starts so."""
    named = {text} & known or {each for each in known if each.startswith(text)}
    if len(named) != 1:
        what = f"{len(named)} submissions begin like" if named else "no row is there of submission"
        raise UsageError(f"quarantine: {what} {text!r}", hint="see `invaract quarantine list`")
    return named.pop()
