"""Whether JSON files hold one record a line or one array of records, by what they begin with."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from typing import IO, Literal, cast

from invaract_orchestration.errors import InputUnreadable
from invaract_orchestration.intake.listing import ListedFile

_CHUNK = 1 << 12


def json_shape(files: Sequence[ListedFile]) -> Literal["lines", "array"]:
    """The shape of all files; lines where none of them holds anything.

    Raises:
        InputUnreadable: some are of one shape and some of the other, or a file cannot be read.
    """
    found = {shape for file in files if (shape := _shape(file)) is not None}
    if len(found) > 1:
        raise InputUnreadable(
            "some files begin with '[' and some do not, so they are not of one shape",
            hint="deliver one record a line in all of them, or one array of records in each",
        )
    return next(iter(found), "lines")


def _shape(file: ListedFile) -> Literal["lines", "array"] | None:
    try:
        with _opened(file) as stream:
            while chunk := stream.read(_CHUNK):
                start = chunk.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
                if start:
                    return "array" if start[:1] == b"[" else "lines"
    except OSError:
        raise InputUnreadable(f"file {file.name!r} cannot be read", hint="check its permissions, and that it is whole") from None
    return None


def _opened(file: ListedFile) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(file.path, "rb")) if file.name.lower().endswith(".gz") else file.path.open("rb")
