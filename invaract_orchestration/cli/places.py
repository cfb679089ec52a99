"""A contract of a call with the place of its target."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from invaract_orchestration.cli.options import parameters, typed_table
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.errors import UsageError


def target_of(file: str, param: Sequence[str], env: str | None, target: str | None) -> tuple[Contract, str, Path]:
    """(contract, place of its target, lake root).

    Raises:
        ContractError: the contract cannot be loaded.
        UsageError: no target is named.
    """
    from invaract_orchestration.contract.load import load_contract
    from invaract_orchestration.intake.parameters import fill
    from invaract_orchestration.intake.places import table_place
    from invaract_orchestration.settings import read_settings
    from invaract_orchestration.wiring import table_locator

    contract, root = load_contract(file, env=env), read_settings().lake_root
    named = typed_table(target) or (contract.publish.target if contract.publish else None)
    if named is None:
        raise UsageError(f"contract {contract.contract}: no target is named", hint="name it with --target")
    filled = fill(named, parameters(param))
    return contract, table_place(filled, base=contract.base, lake_root=root, locate=table_locator()), root
