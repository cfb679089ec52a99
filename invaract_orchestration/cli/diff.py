"""`invaract diff`: what changed between two versions of a contract, and whether the new version says so."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from invaract_orchestration.cli.console import counted, printable, to_stdout, write_out
from invaract_orchestration.errors import UsageError


def diff(
    old: Annotated[str, Parameter(help="the contract's file as it was")],
    new: Annotated[str, Parameter(help="the contract's file as it is now")], /, *,
    output: Annotated[Literal["text", "json"], Parameter(help="for people or for programs")] = "text",
) -> int:  # fmt: skip
    """What changed between two versions of a contract, and whether the new version says so."""
    from invaract_orchestration.audit.report import json_text, plain
    from invaract_orchestration.contract.diff import differences, is_enough, needed_version
    from invaract_orchestration.contract.load import load_contract

    before, after = load_contract(old), load_contract(new)
    if before.contract != after.contract:
        raise UsageError(
            f"{new}: expected another version of {before.contract}, found the contract {after.contract}",
            hint="an id stays when the version changes",
        )  # fmt: skip
    changes = differences(before, after)
    needed = needed_version(before, changes)
    is_fit = is_enough(after.version, needed)
    code = 0 if is_fit else 1
    if output == "json":
        document = {"format": 1, "exit_code": code, "changes": plain(changes), "version": after.version, "needed": needed}
        write_out(json_text(document))
        return code
    for change in changes:
        to_stdout(printable(str(change)))
    verdict = "fits" if is_fit else "does not fit"
    to_stdout(f"{before.contract}: {counted(len(changes), 'change')}; version {before.version} -> {after.version} {verdict}")
    if not is_fit:
        to_stdout(f'Hint: write version: "{needed}"')
    return code
