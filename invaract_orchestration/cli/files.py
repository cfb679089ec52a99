"""A file that a command writes where it was told to."""

from __future__ import annotations

from pathlib import Path

from invaract_orchestration.errors import InvaractError


def write_file(place: str, content: bytes, *, is_private: bool = False) -> None:
    """Write the file, with the folders above it. A private file is its owner's alone from the start.

    Raises:
        InvaractError: the place cannot be written.
    """
    path = Path(place)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if is_private:
            path.touch(mode=0o600, exist_ok=False)
        path.write_bytes(content)
    except OSError as error:
        raise InvaractError(f"{place} cannot be written: {error.strerror}", hint="name another place with --write") from None
