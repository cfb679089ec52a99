"""`invaract reconcile`: settle open attempts and write lost records again, from the target's own log."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from invaract_orchestration.cli.console import counted, print_table, to_stdout, write_out
from invaract_orchestration.cli.options import ContractFile, Environment, Params, Target
from invaract_orchestration.cli.places import target_of


def reconcile(
    contract: ContractFile, /, *, param: Params = (), env: Environment = None, target: Target = None,
    output: Annotated[Literal["text", "json"], Parameter(help="for people or for programs")] = "text",
) -> int:  # fmt: skip
    """Settle open attempts, write lost records again, and list commits that by-passed the gate."""
    from invaract_orchestration.audit.adopt import adopted_version
    from invaract_orchestration.audit.reconcile import reconcile as run
    from invaract_orchestration.audit.report import json_text, plain
    from invaract_orchestration.wiring import open_audit, open_gate

    agreed, place, _ = target_of(contract, param, env, target)
    with open_gate() as gate, open_audit() as audit:
        adopted = adopted_version(audit, agreed.contract, place)
        found = run(gate.audit, gate.publisher, agreed.contract, place, gate.clock, adopted=adopted)
    if output == "json":
        write_out(json_text({"format": 1, "target": place, **plain(found)}))
    else:
        for attempt, state in found.settled:
            to_stdout(f"settled {attempt}: {state}")
        for submission in found.rebuilt:
            to_stdout(f"written again: {submission}")
        for submission in found.refused:
            to_stdout(f"cannot be written: {submission}; the record has another content under its id or its contract's version")
        for attempt in found.open:
            to_stdout(f"still open: {attempt}")
        oldest = found.oldest_version
        reach = "there is no table yet" if oldest is None else f"the log reaches back to version {oldest}"
        to_stdout(
            f"{len(found.settled)} settled, {len(found.rebuilt)} written again, {len(found.open)} open, "
            f"{counted(len(found.bypassed), 'commit')} by-passed the gate; {reach}"
        )
        if found.bypassed:
            rows = [(str(c.version), c.operation, f"{c.committed_at:%Y-%m-%d %H:%M:%S}") for c in found.bypassed]
            print_table(("version", "operation", "at (UTC)"), rows)
    return 1 if found.bypassed else 0
