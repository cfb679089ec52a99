"""`invaract init`: a first contract from a file of data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from invaract_orchestration.cli.console import printable, to_stderr, write_out
from invaract_orchestration.cli.files import write_file
from invaract_orchestration.cli.options import typed_table
from invaract_orchestration.errors import InputUnreadable, UsageError


def init(
    file: Annotated[str, Parameter(help="a CSV, JSON or Parquet file, plain or .gz")], /, *,
    write: Annotated[str | None, Parameter(help="write the contract here instead of printing it")] = None,
    name: Annotated[str | None, Parameter(help="the contract's id; by default the file's name")] = None,
    target: Annotated[str | None, Parameter(help="where to publish; by default the table reporting.NAME")] = None,
    force: Annotated[bool, Parameter(help="replace a contract that is there already")] = False,
) -> int:  # fmt: skip
    """Draft a commented contract from a file of data."""
    from invaract_orchestration.contract.load import load_contract_text
    from invaract_orchestration.contract.template import contract_id, draft_contract
    from invaract_orchestration.wiring import infer_columns

    place = Path(write) if write else None
    if place is not None and place.exists() and not force:
        raise UsageError(f"{write} is there already", hint="--force replaces it")
    own = contract_id(name or Path(file).name.split(".")[0])
    folder = (place.parent if place else Path()).absolute()
    location = os.path.relpath(Path(file).absolute(), folder)
    if "{" in location or "}" in location:
        raise UsageError(f"{location}: a brace begins a parameter in a contract", hint="rename the file")
    try:
        text = draft_contract(
            own, infer_columns(file), location=location,
            target=_from(folder, target) if target else "reporting." + own.replace(".", "_"),
        )  # fmt: skip
        load_contract_text(text, file=write or "the draft")
    except RecursionError:
        raise InputUnreadable(
            f"{file}: its records are nested deeper than a contract can say", hint="deliver the inner part as a text"
        ) from None
    if place is None:
        write_out(text)
        return 0
    write_file(str(place), text.encode())
    to_stderr(printable(f"wrote {write}"), "bold green")
    to_stderr(printable(f"Next: invaract check {write}, then invaract run {write}"), "")
    return 0


def _from(folder: Path, target: str) -> str:
    """The target as the contract in that folder says it: a relative path was typed as seen from here."""
    typed = typed_table(target) or target
    if typed == target or "://" in target:
        return target
    path = os.path.relpath(typed, folder)
    return path if "/" in path else f"./{path}"
