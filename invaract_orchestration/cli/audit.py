"""`invaract audit verify`: whether the record is whole."""

from __future__ import annotations

import re
from typing import Annotated

from cyclopts import Parameter

from invaract_orchestration.cli.console import to_stdout
from invaract_orchestration.errors import UsageError

_HEAD = re.compile("[0-9]+:[0-9a-f]{64}")


def verify(
    *, expected_head: Annotated[
        str | None, Parameter(help="a head noted earlier, POSITION:HASH; the chain must still pass through it")
    ] = None,
) -> int:  # fmt: skip
    """Whether the record is whole: no row edited, removed, reordered or added."""
    from invaract_orchestration.wiring import open_audit

    if expected_head is not None and not _HEAD.fullmatch(expected_head):
        raise UsageError(
            f"--expected-head: expected POSITION:HASH, found {expected_head!r}", hint="`invaract audit verify` prints it"
        )
    with open_audit(read_only=True) as audit:
        findings = audit.verify(expected_head=expected_head)
        head = audit.head()
    for finding in findings:
        to_stdout(str(finding))
    if findings:
        does = "thing does" if len(findings) == 1 else "things do"
        to_stdout(f"{len(findings):,} {does} not fit: the record was changed behind the gate's back")
        return 1
    to_stdout(f"the record at {audit.place} is whole: {head.position if head else 0:,} events fit together")
    if head:
        to_stdout(f"Note its head elsewhere, and give it to --expected-head later: {head}")
    return 0
