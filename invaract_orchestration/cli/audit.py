"""`invaract audit verify`: whether the record is whole."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from invaract_orchestration.cli.console import to_stdout


def verify(
    *, expected_head: Annotated[
        str | None, Parameter(help="a head noted earlier, POSITION:HASH; the chain must still pass through it")
    ] = None,
) -> int:  # fmt: skip
    """Whether the record is whole: no row edited, removed, reordered or added."""
    from invaract_orchestration.wiring import open_audit

    with open_audit(read_only=True) as audit:
        findings = audit.verify(expected_head=expected_head)
        head = audit.head()
    for finding in findings:
        to_stdout(str(finding))
    if findings:
        to_stdout(f"{len(findings)} things do not fit: the record was changed behind the gate's back")
        return 1
    to_stdout(f"the record at {audit.place} is whole: {head.position if head else 0:,} events fit together")
    if head:
        to_stdout(f"Note its head elsewhere, and give it to --expected-head later: {head}")
    return 0
