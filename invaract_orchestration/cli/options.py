"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from invaract_orchestration.errors import UsageError

ContractFile = Annotated[str, Parameter(help="the contract's file")]
Params = Annotated[
    tuple[str, ...],
    Parameter(
        name=["--param", "-p"],
        help="NAME=VALUE for a {NAME} of the contract, such as day=2026-11-30; may be repeated",
    ),
]  # fmt: skip
Environment = Annotated[str | None, Parameter(name="--env", help="put in the names and places of this environment")]
Target = Annotated[str | None, Parameter(help="the table or path to publish to, instead of the contract's")]
Source = Annotated[str | None, Parameter(help="files, a folder or a glob to read instead of the contract's")]
Limit = Annotated[int, Parameter(validator=validators.Number(gte=1), help="how many at most")]

Engine = Annotated[str | None, Parameter(help="duckdb (the default) or spark")]


def parameters(given: Sequence[str]) -> dict[str, str]:
    """The parameters of a call.

    Raises:
        UsageError: one is not NAME=VALUE, or is given twice.
    """
    found: dict[str, str] = {}
    for text in given:
        name, is_pair, value = text.partition("=")
        if not is_pair or not name:
            raise UsageError("--param: expected NAME=VALUE, found no '=' with a name before it", hint="--param day=2026-11-30")
        if name in found:
            raise UsageError(f"--param: {name!r} is given twice", hint="leave one of them out")
        found[name] = value
    return found


def typed_place(text: str | None, option: str = "--source") -> str | None:
    """A place that somebody typed: a relative path starts where they are, not at the contract's file.

    Raises:
        UsageError: it is blank, as a variable is that was never set.
    """
    if text is not None and not text.strip():
        raise UsageError(f"{option}: expected a place, found a blank text", hint="leave the option out, or name a place")
    if text is None or "://" in text or Path(text).is_absolute():
        return text
    return f"{Path.cwd()}/{text.removeprefix('./')}"


def typed_table(text: str | None) -> str | None:
    """A table that somebody typed: a name stays a name, a path is one with a slash or a leading dot."""
    is_name = text is not None and text.strip() and "/" not in text and not text.startswith(".")
    return text if is_name else typed_place(text, "--target")
