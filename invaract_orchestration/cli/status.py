"""`invaract status`: where every contract stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from cyclopts import Parameter

from invaract_orchestration.audit.log import ContractStatus
from invaract_orchestration.cli.console import print_table, to_stdout, write_out

_NAMED = 5
"""How many reasons a line names."""


def status(
    *, output: Annotated[Literal["text", "json"], Parameter(help="for people or for programs")] = "text",
) -> int:  # fmt: skip
    """Where every contract stands: last data, last attempt, and why it is blocked."""
    from invaract_orchestration.audit.report import json_text, plain
    from invaract_orchestration.wiring import open_audit

    with open_audit(read_only=True) as audit:
        found = audit.statuses()
    if output == "json":
        write_out(json_text({"format": 1, "contracts": plain(found)}))
    elif found:
        columns = ("contract", "last accepted data (UTC)", "last attempt (UTC)", "blocked since", "reasons")
        print_table(columns, [_row(each) for each in found])
    else:
        to_stdout("no contract is known yet; `invaract run CONTRACT` submits the first batch")
    return 0


def _row(status: ContractStatus) -> tuple[str, ...]:
    published, last = status.last_published, status.last_attempt
    accepted = (
        f"{published.publication.committed_at:%Y-%m-%d %H:%M} version {published.publication.table_version}"
        if published
        else "none"
    )
    return (
        f"{status.contract} {status.version}",
        accepted,
        f"{last.attempt.started_at:%Y-%m-%d %H:%M} {last.state}" if last else "none",
        status.blocked_since[:16].replace("T", " ") if status.blocked_since else "-",
        _reasons(status.reasons) or "-",
    )


def _reasons(reasons: Sequence[str]) -> str:
    more = f", and {len(reasons) - _NAMED} more" if len(reasons) > _NAMED else ""
    return ", ".join(reasons[:_NAMED]) + more
