"""`invaract quarantine`: failing rows that were kept. `show` is the one command that prints values, to whoever asks for them."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

from cyclopts import Parameter

from invaract_orchestration.cli.console import counted, print_table, printable, to_stdout, write_out
from invaract_orchestration.cli.options import ContractFile, Environment, Limit, Params, Target, parameters, typed_table
from invaract_orchestration.errors import UsageError

_KEYS = ["submission_id", "attempt_id", "kind", "version", "rule_ids"]


def list_(
    contract: ContractFile, /, *, param: Params = (), env: Environment = None, target: Target = None,
    output: Annotated[Literal["text", "json"], Parameter(help="for people or for programs")] = "text",
) -> int:  # fmt: skip
    """What is in a contract's quarantine, without its rows."""
    from invaract_orchestration.audit.report import json_text
    from invaract_orchestration.wiring import quarantined_rows

    place = _place(contract, param, env, target)
    found = Counter(
        (*(str(row[key]) for key in _KEYS[:4]), ", ".join(row["rule_ids"])) for row in quarantined_rows(place, _KEYS)
    )
    if output == "json":
        names = ("submission_id", "attempt_id", "kind", "version", "rules")
        entries = [{**dict(zip(names, key, strict=True)), "rows": count} for key, count in sorted(found.items())]
        write_out(json_text({"format": 1, "location": place, "entries": entries}))
        return 0
    to_stdout(f"{counted(sum(found.values()), 'row')} in {place}")
    if found:
        columns = ("submission", "attempt", "kind", "rows", "rules")
        rows = [(s, a[:10], kind, f"{n:,}", rules) for (s, a, kind, _, rules), n in sorted(found.items())]
        print_table(columns, rows)
    return 0


def show(
    contract: ContractFile, /, *, param: Params = (), env: Environment = None, target: Target = None,
    submission: Annotated[str | None, Parameter(help="only rows of this submission, or the start of its id")] = None,
    rule: Annotated[str | None, Parameter(help="only rows that failed this check")] = None,
    limit: Limit = 20,
) -> int:  # fmt: skip
    """Failing rows with their original values, printed to this terminal alone."""
    from invaract_orchestration.wiring import quarantined_rows

    rows = [
        row
        for row in quarantined_rows(_place(contract, param, env, target))
        if row["submission_id"].startswith(submission or "") and (rule is None or rule in row["rule_ids"])
    ]
    for row in rows[:limit]:
        to_stdout(f"{printable(row['source_file'])}, record {row['record_number']}: {', '.join(row['rule_ids'])}")
        to_stdout(f"    {printable(row['payload'])}")
    to_stdout(f"{min(len(rows), limit):,} of {counted(len(rows), 'row')} shown")
    return 0


def _place(file: str, param: tuple[str, ...], env: str | None, target: str | None) -> str:
    from invaract_orchestration.contract.load import load_contract
    from invaract_orchestration.intake.parameters import fill
    from invaract_orchestration.intake.places import quarantine_place, table_place
    from invaract_orchestration.settings import read_settings
    from invaract_orchestration.wiring import table_locator

    contract, root = load_contract(file, env=env), read_settings().lake_root
    named = typed_table(target) or (contract.publish.target if contract.publish else None)
    if named is None:
        raise UsageError(f"contract {contract.contract}: no target is named", hint="name it with --target")
    locate = table_locator()
    place = table_place(fill(named, parameters(param)), base=contract.base, lake_root=root, locate=locate)
    return quarantine_place(contract, place, lake_root=root, locate=locate)
