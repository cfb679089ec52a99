"""`invaract freshness`: is the table's data on time, and if not, why."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from invaract_orchestration.cli.console import to_stdout
from invaract_orchestration.cli.options import ContractFile, Environment, Params, Target
from invaract_orchestration.cli.places import target_of


def freshness(
    contract: ContractFile, /, *, param: Params = (), env: Environment = None, target: Target = None,
    tell: Annotated[bool, Parameter(name="--notify", help="tell those whom the contract names for `late`")] = False,
) -> int:  # fmt: skip
    """Whether data was published in time, and if not, whether nothing was delivered or it was rejected."""
    from invaract_orchestration.audit.freshness import judge_freshness
    from invaract_orchestration.audit.notify import notify
    from invaract_orchestration.wiring import newest_moment, open_audit, utc_now

    agreed, place, _ = target_of(contract, param, env, target)
    expected = agreed.freshness
    by_row = expected is not None and expected.max_age is not None and expected.column is not None
    newest = newest_moment(place, expected.column or "", agreed.timezone) if by_row and expected else None
    with open_audit(read_only=True) as audit:
        report = judge_freshness(agreed, audit.attempts(contract=agreed.contract, limit=200), utc_now(), newest)
    age = "never published" if report.age is None else f"last published {_spoken(report.age.total_seconds())} ago"
    due = f", due {report.due:%Y-%m-%d %H:%M %Z}" if report.due else ""
    to_stdout(f"{agreed.contract}: {report.state} ({report.reason}){due}; {age}")
    if expected is None:
        to_stdout("Hint: `freshness` in the contract says when data is expected")
    if tell and report.state == "late":
        said = {"contract": agreed.contract, "reason": report.reason, "attempt": report.last_attempt}
        for failure in notify(agreed, "late", said):
            to_stdout(failure)
    return 1 if report.state == "late" else 0


def _spoken(seconds: float) -> str:
    for size, word in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{int(seconds // size)} {word}"
    return f"{int(seconds)} seconds"
