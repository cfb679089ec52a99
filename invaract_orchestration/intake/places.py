"""Where the names and places of a contract are on this deployment."""

from __future__ import annotations

from pathlib import Path

from invaract_orchestration.contract.model import Contract
from invaract_orchestration.errors import NotSupported, UsageError

_FILE = "file://"


def table_place(name: str, *, base: Path | None, lake_root: Path) -> str:
    """The folder of a table: a path (with a `/`) starts at `base`, a name `a.b.c` is `a/b/c` below the lake's root.

    Raises:
        NotSupported: a URL of an object store.
        UsageError: a name with an empty part or with `..` in it.
    """
    if name.startswith(_FILE):
        return name[len(_FILE) :]
    if "://" in name:
        scheme = name.partition("://")[0]
        raise NotSupported(
            f"a table on {scheme}:// is not supported by the embedded engine",
            hint="use a path of a local or mounted file system",
        )
    if "/" in name or name.startswith("."):
        path = Path(name)
        return str(path if path.is_absolute() else (base or Path.cwd()) / path)
    parts = name.split(".")
    if not all(parts) or any(p in ("..", "") for p in parts):
        raise UsageError(f"{name!r} is no table name", hint="write catalog.schema.table, or a path with a slash in it")
    return str(lake_root.joinpath(*parts))


def quarantine_place(contract: Contract, target: str, *, lake_root: Path) -> str:
    """The folder of the failing rows of a contract: where it says, or else beside the folder of its target."""
    place = contract.quarantine.location
    return table_place(place, base=contract.base, lake_root=lake_root) if place else f"{target}__quarantine"


def candidates_place(contract: Contract, target: str, *, lake_root: Path) -> str:
    """The folder of a contract's candidates: where it says, or else beside the folder of its target."""
    place = contract.publish.candidate.location if contract.publish else None
    if place:
        return table_place(place, base=contract.base, lake_root=lake_root)
    return f"{target or (contract.base or Path.cwd()) / 'checked'}__candidates"
