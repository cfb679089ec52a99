"""Files of text, plain or gzip: opened by what they are, and refused by name where they are something else."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from invaract_orchestration.errors import InputUnreadable
from invaract_orchestration.intake.listing import ListedFile
from invaract_orchestration.intake.wording import LONGEST_PLACE, quoted

_START = 1 << 12
BOMS = (
    (codecs.BOM_UTF8, "UTF-8", "utf-8"),
    (codecs.BOM_UTF32_LE, "UTF-32", ""),
    (codecs.BOM_UTF32_BE, "UTF-32", ""),
    (codecs.BOM_UTF16_LE, "UTF-16", "utf-16-le"),
    (codecs.BOM_UTF16_BE, "UTF-16", "utf-16-be"),
)
_CONTAINERS = (
    (b"PK\x03\x04", "a zip archive"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"BZh91AY&SY", "bzip2 data"),
)
_GZIP = b"\x1f\x8b"
_OTHER_ENDINGS = (".bz2", ".deflate", ".lz4", ".snappy", ".xz", ".zst")
"""Names by which a reader would unpack a file in another way."""


@contextmanager
def opened(file: ListedFile) -> Iterator[IO[bytes]]:
    """The file's bytes, unpacked; what goes wrong while reading them is the input's fault, said without its content.

    Raises:
        InputUnreadable: the file cannot be opened, is cut off, or is not what its name says.
    """
    if file.path.suffix.lower() in _OTHER_ENDINGS:
        raise InputUnreadable(
            f"file {quoted(file.name, LONGEST_PLACE)} is called {file.path.suffix}: only plain text and gzip are read",
            hint="unpack the file, or name it after what it is",
        )
    try:
        with file.path.open("rb") as raw:
            is_gzip = raw.read(2) == _GZIP
            raw.seek(0)
            if is_gzip != file.name.lower().endswith(".gz") and file.size:
                found = "holds gzip data but is not called .gz" if is_gzip else "is called .gz but holds no gzip data"
                raise InputUnreadable(
                    f"file {quoted(file.name, LONGEST_PLACE)} {found}", hint="name the file after what it is"
                )
            if not is_gzip:
                yield raw
                return
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield unpacked  # type: ignore[misc]
    except (OSError, EOFError, zlib.error) as cause:
        why = "the gzip data is cut off or damaged" if not getattr(cause, "errno", None) else "reading it failed"
        raise InputUnreadable(
            f"file {quoted(file.name, LONGEST_PLACE)} cannot be read: {why}",
            hint="ask for the file again, or wait until it is written whole",
        ) from cause


def refuse_containers(file: ListedFile, start: bytes) -> None:
    """Raises InputUnreadable when a file begins as no text does."""
    for magic, kind in _CONTAINERS:
        if start.startswith(magic):
            raise InputUnreadable(
                f"file {quoted(file.name, LONGEST_PLACE)} is {kind}, not text", hint="deliver plain text or gzip (.gz)"
            )


def check_utf8_start(files: Sequence[ListedFile]) -> None:
    """Raises InputUnreadable when a file is packed in another way than its name says, or begins with the mark of another
    encoding than UTF-8.
    """
    for file in files:
        with opened(file) as stream:
            start = stream.read(_START)
        refuse_containers(file, start)
        family = next((family for mark, family, _ in BOMS if start.startswith(mark)), "UTF-8")
        if family != "UTF-8":
            raise InputUnreadable(
                f"file {quoted(file.name, LONGEST_PLACE)}: {family} byte order mark seen, expected UTF-8 text",
                hint="write JSON as UTF-8", code="input.encoding",
            )  # fmt: skip
