"""`invaract export`: a contract as an Open Data Contract."""

from __future__ import annotations

from invaract_orchestration.cli.console import printable, to_stderr, write_out
from invaract_orchestration.cli.options import ContractFile


def export(contract: ContractFile, /) -> int:
    """Write a contract as an Open Data Contract (ODCS 3), and say what that cannot hold."""
    from invaract_orchestration.contract.load import load_contract
    from invaract_orchestration.contract.odcs_export import to_odcs

    text, left_out = to_odcs(load_contract(contract))
    write_out(text)
    for place in left_out:
        to_stderr(printable(f"left out, as ODCS does not say it: {place}"), "yellow")
    return 0
