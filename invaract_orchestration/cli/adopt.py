"""`invaract adopt`: an existing table becomes the baseline of its contract."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from invaract_orchestration.cli.console import progress
from invaract_orchestration.cli.options import ContractFile, Environment, Params, Target, parameters, typed_table
from invaract_orchestration.cli.run import print_result


def adopt(
    contract: ContractFile, /, *, param: Params = (), env: Environment = None, target: Target = None,
    output: Annotated[Literal["text", "json"], Parameter(help="for people or for programs")] = "text",
) -> int:  # fmt: skip
    """Take in an existing table as the baseline of its contract."""
    from invaract_orchestration.audit.adopt import adopt_table
    from invaract_orchestration.contract.load import load_contract
    from invaract_orchestration.wiring import open_gate

    agreed = load_contract(contract, env=env)
    place = typed_table(target)
    with open_gate(tell=progress) as gate:
        result = adopt_table(
            agreed.with_target(place) if place else agreed, publisher=gate.publisher, audit=gate.audit,
            lake_root=gate.lake_root, clock=gate.clock, parameters=parameters(param), tell=progress, locate=gate.engine.locate,
        )  # fmt: skip
    print_result(result, output)
    return result.exit_code
