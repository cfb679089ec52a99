"""`invaract explain`: what a run will do, without reading a row."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from invaract_orchestration.cli.console import print_table, to_stdout, write_out
from invaract_orchestration.cli.options import ContractFile, Engine, Environment, Params, parameters
from invaract_orchestration.cli.sql_files import Dialect, Sql, read_transform


def explain(
    contract: ContractFile, /, *, sql: Sql = None, dialect: Dialect = "spark", param: Params = (), env: Environment = None,
    engine: Engine = None,
    output: Annotated[Literal["text", "json"], Parameter(help="for people or for programs")] = "text",
) -> int:  # fmt: skip
    """The plan, where each column comes from, the rules on it, the evidence of each check, and what will be read."""
    from invaract_orchestration.audit.explanation import explain as build
    from invaract_orchestration.audit.report import json_text, plain
    from invaract_orchestration.contract.load import load_contract
    from invaract_orchestration.intake.places import table_place
    from invaract_orchestration.intake.receive import receive, slice_of, transformed
    from invaract_orchestration.intake.transform import rows_and_transform
    from invaract_orchestration.wiring import open_audit, open_gate

    agreed = load_contract(contract, env=env)
    given = read_transform(sql, dialect)
    agreed = agreed.with_query(given) if isinstance(given, str) else agreed
    rows, function = rows_and_transform(None, given)
    target = agreed.publish.target if agreed.publish else ""
    own = slice_of(agreed, target, parameters(param), agreed.source.location if agreed.source else None)
    with open_gate(engine=engine) as gate, open_audit() as audit, tempfile.TemporaryDirectory() as scratch:

        def place(name: str, base: Path | None = agreed.base) -> str:
            return table_place(name, base=base, lake_root=gate.lake_root, locate=gate.engine.locate)

        with gate.engine.open(Path(scratch) / "explain", place) as session:
            received = receive(
                agreed, own, location=None, frame=rows, given_id="explain", table_version=gate.publisher.version,
                table_place=place,
            )  # fmt: skip
            received = transformed(received, function)
            published = audit.attempts(contract=agreed.contract, states=("published",), limit=20)
            told = build(agreed, received.batch, session, published, gate.clock())
    if output == "json":
        write_out(json_text({"format": 1, **plain(told)}))
        return 1 if told.is_blocked else 0
    to_stdout("plan")
    to_stdout("".join(f"  {line}\n" for line in told.plan.splitlines()).rstrip())
    print_table(
        ("column", "from", "how", "tags"),
        [
            (name, ", ".join(one["sources"]) or "-", " ".join([one["kind"], *one["through"]]), ", ".join(told.tags.get(name, ())))
            for name, one in told.lineage.items()
        ],
    )
    if told.steps:
        print_table(("step", "kind", "phase"), list(told.steps))
    if told.rules:
        print_table(("plan rule", "outcome", "found"), [(r.check, r.outcome, r.found) for r in told.rules])
    print_table(("check", "will rest on"), list(told.evidence))
    to_stdout("the run will start: " + ", ".join(f"{count} x {what}" for what, count in told.passes if count))
    if told.drift:
        to_stdout("the plan differs from that of the last publication:")
        to_stdout("\n".join(f"  {line}" for line in told.drift))
    return 1 if told.is_blocked else 0
