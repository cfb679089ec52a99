"""Where the names and places of a contract are on this deployment."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from invaract_orchestration.contract.model import Contract
from invaract_orchestration.errors import NotSupported, UsageError

_FILE = "file://"

Locate = Callable[[str], str | None]
"""The folder of the table that a catalog has, or would make, under a name; none where names are folders of the lake."""


def no_catalog(_: str) -> None:
    """Names are folders below the lake's root."""


def is_table_name(name: str) -> bool:
    """Whether a text names a table; anything with a slash in it, or a dot before it, is a path."""
    return "/" not in name and not name.startswith(".")


def table_place(name: str, *, base: Path | None, lake_root: Path, locate: Locate = no_catalog) -> str:
    """The folder of a table: a path (with a `/`) starts at `base`; a name `a.b.c` is where the catalog says, or else `a/b/c`
    below the lake's root. Steps such as `..` are taken, links are not followed: one folder has one spelling.

    Raises:
        GateError: the catalog has no such database, or has something else under that name.
        NotSupported: a URL of an object store.
        UsageError: a name with an empty part.
    """
    if name.startswith(_FILE):
        return os.path.normpath(name[len(_FILE) :])
    if "://" in name:
        scheme = name.partition("://")[0]
        raise NotSupported(
            f"a table on {scheme}:// is not supported by the embedded engine",
            hint="use a path of a local or mounted file system",
        )
    if not is_table_name(name):
        path = Path(name)
        return os.path.normpath(path if path.is_absolute() else (base or Path.cwd()) / path)
    parts = name.split(".")
    if not all(parts):
        raise UsageError(f"{name!r} is no table name", hint="write catalog.schema.table, or a path with a slash in it")
    return locate(name) or str(lake_root.joinpath(*parts))


def place_identity(place: str, *, base: Path | None, lake_root: Path) -> str:
    """What a table's folder is called in the identity of a slice: the same however the contract spells it, and on every host that
    has the lake, or the contract beside its data, somewhere else.
    """
    below = _below(place, lake_root)
    if below:
        return ".".join(below) if all("." not in part for part in below) else "/".join(below)
    beside = _below(place, base) if base is not None else ()
    return "./" + "/".join(beside) if beside else place


def _below(place: str, root: Path) -> tuple[str, ...]:
    folder, above = Path(place), Path(os.path.normpath(root.absolute()))
    return folder.relative_to(above).parts if folder.is_relative_to(above) else ()


def quarantine_place(contract: Contract, target: str, *, lake_root: Path, locate: Locate = no_catalog) -> str:
    """The folder of the failing rows of a contract: where it says, or else beside the folder of its target."""
    place = contract.quarantine.location
    if place:
        return table_place(place, base=contract.base, lake_root=lake_root, locate=locate)
    return f"{target}__quarantine"


def candidates_place(contract: Contract, target: str, *, lake_root: Path, locate: Locate = no_catalog) -> str:
    """The folder of a contract's candidates: where it says, or else beside the folder of its target."""
    place = contract.publish.candidate.location if contract.publish else None
    if place:
        return table_place(place, base=contract.base, lake_root=lake_root, locate=locate)
    return f"{target or (contract.base or Path.cwd()) / 'checked'}__candidates"


def find_named_places(contract: Contract, place: Callable[[str], str]) -> None:
    """Ask for the place of every name in a contract that is used after rows were read, so that a wrong one is told before."""
    if contract.quarantine.location:
        place(contract.quarantine.location)
    for rule in contract.quality.dataset_rules:
        if rule.references is not None:
            place(rule.references.table)
