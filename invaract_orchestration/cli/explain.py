"""`invaract explain`: what a run will do, without reading a row."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from invaract_orchestration.cli.console import print_table, to_stdout, write_out
from invaract_orchestration.cli.options import (
    ContractFile,
    Engine,
    Environment,
    Params,
    Source,
    Target,
    parameters,
    typed_place,
    typed_table,
)  # fmt: skip
from invaract_orchestration.cli.sql_files import Dialect, Sql, read_transform

if TYPE_CHECKING:
    from invaract_orchestration.audit.explanation import Explanation
    from invaract_orchestration.audit.log import AttemptView
    from invaract_orchestration.contract.model import Contract

_PUBLICATIONS = 20
"""How far back the last publication with a plan is looked for."""


def explain(
    contract: ContractFile, /, *, source: Source = None, param: Params = (), env: Environment = None, target: Target = None,
    transform: Sql = None, dialect: Dialect = "spark", engine: Engine = None,
    output: Annotated[Literal["text", "json"], Parameter(help="for people or for programs")] = "text",
) -> int:  # fmt: skip
    """The plan, where each column comes from, the rules on it, the evidence of each check, and what will be read."""
    from invaract_orchestration.audit.report import json_text, plain
    from invaract_orchestration.contract.load import load_contract

    agreed, place = load_contract(contract, env=env), typed_table(target)
    agreed = agreed.with_target(place) if place else agreed
    told = _explained(agreed, typed_place(source), read_transform(transform, dialect), parameters(param), engine)
    if output == "json":
        write_out(json_text({"format": 1, **plain(told)}))
    else:
        _print(told)
    return 1 if told.is_blocked else 0


def _explained(
    contract: Contract, source: str | None, given: Any, params: dict[str, str], engine: str | None
) -> Explanation:
    from invaract_orchestration.audit.explanation import explain as build
    from invaract_orchestration.intake.places import table_place
    from invaract_orchestration.intake.receive import receive, slice_of, transformed
    from invaract_orchestration.intake.transform import rows_and_transform
    from invaract_orchestration.settings import read_settings
    from invaract_orchestration.wiring import choose_engine, utc_now

    agreed = contract.with_query(given) if isinstance(given, str) else contract
    rows, function = rows_and_transform(None, given)
    location = source or (agreed.source.location if agreed.source else None)
    own = slice_of(agreed, agreed.publish.target if agreed.publish else "", params, location)
    (works, publisher), root = choose_engine(engine=engine), read_settings().lake_root

    def place(name: str, base: Path | None = agreed.base) -> str:
        return table_place(name, base=base, lake_root=root, locate=works.locate)

    with tempfile.TemporaryDirectory() as scratch, works.open(Path(scratch) / "explain", place) as session:
        received = receive(
            agreed, own, location=source, frame=rows, given_id="explain", table_version=publisher.version, table_place=place
        )
        batch = transformed(received, function).batch
        return build(agreed, batch, session, _published(agreed.contract), utc_now())


def _published(contract: str) -> tuple[AttemptView, ...]:
    """The last publications under the contract; none where nothing was ever run."""
    from invaract_orchestration.errors import AuditMissing
    from invaract_orchestration.wiring import open_audit

    try:
        with open_audit(read_only=True) as audit:
            return tuple(audit.attempts(contract=contract, states=("published",), limit=_PUBLICATIONS))
    except AuditMissing:
        return ()


def _print(told: Explanation) -> None:
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
