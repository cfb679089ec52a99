"""`invaract history`: attempts, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from cyclopts import Parameter

from invaract_orchestration.audit.log import AttemptView
from invaract_orchestration.audit.records import State
from invaract_orchestration.cli.console import print_table, to_stdout, write_out
from invaract_orchestration.cli.options import Limit

_LONGEST = 60


def history(
    *, contract: Annotated[str | None, Parameter(help="only attempts under the contract of this id")] = None,
    state: Annotated[tuple[State, ...], Parameter(help="only attempts in this state; may be repeated")] = (),
    kind: Annotated[Literal["run", "check", "adopt"] | None, Parameter(help="only attempts of this kind")] = None,
    limit: Limit = 20,
    output: Annotated[Literal["text", "json"], Parameter(help="for people or for programs")] = "text",
) -> int:  # fmt: skip
    """Attempts, newest first."""
    from invaract_orchestration.audit.report import json_text, plain
    from invaract_orchestration.wiring import open_audit

    with open_audit(read_only=True) as audit:
        views = audit.attempts(contract=contract, states=state, kind=kind, limit=limit)
    if output == "json":
        write_out(json_text({"format": 1, "attempts": plain(views)}))
    elif views:
        print_attempts(views)
    else:
        to_stdout("no attempt is recorded" + (" that is like this" if contract or state or kind else ""))
    return 0


def print_attempts(views: Sequence[AttemptView]) -> None:
    """A table with one line for each attempt."""
    print_table(
        ("started (UTC)", "state", "contract", "parameters", "attempt", "what happened"),
        [
            (
                f"{view.attempt.started_at:%Y-%m-%d %H:%M:%S}",
                view.state if view.attempt.kind == "run" else f"{view.state} ({view.attempt.kind})",
                f"{view.submission.contract} {view.attempt.contract_version.version}",
                ", ".join(f"{k}={v}" for k, v in sorted(view.submission.parameters.items())),
                view.attempt.attempt_id[:10],
                what_happened(view),
            )
            for view in views
        ],
    )


def what_happened(view: AttemptView) -> str:
    """The last thing recorded of an attempt, in few words."""
    text = view.outcome.message if view.outcome else view.events[-1].message if view.events else ""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
