"""What the input files hold, as digests: equal contents under equal names are the same batch, whenever written."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime

from invaract_orchestration.errors import InputUnreadable
from invaract_orchestration.intake.listing import ListedFile
from invaract_orchestration.intake.wording import LONGEST_PLACE, quoted

_CHUNK = 1 << 20
_GZIP_MEMBER = 31
"""zlib's window for gzip with header and checksum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDigest:
    """A file's name, size in bytes, time of last change, and the SHA-256 of its content in hexadecimal digits."""

    name: str
    size: int
    modified: datetime
    digest: str


def digest_files(files: Sequence[ListedFile]) -> tuple[FileDigest, ...]:
    """The digest of every file, in the order that is given. A gzip file is also unpacked, so that a damaged one is noticed.

    Raises:
        InputUnreadable: a file cannot be read whole, has another size than listed, or is damaged gzip data.
    """
    with ThreadPoolExecutor(max_workers=2) as threads:
        return tuple(threads.map(_digest_file, files))


def intake_digest(files: Sequence[FileDigest]) -> str:
    """The digest of a batch of files: of their relative names and contents, in the order of the names, no times."""
    return _digest(["files", sorted((file.name, file.digest) for file in files)])


def tables_digest(versions: Mapping[str, int]) -> str:
    """The digest of a batch that comes from tables: of their names and the versions that are read."""
    return _digest(["tables", sorted(versions.items())])


def linked_digest(batch: str, links: str) -> str:
    """The digest of a batch whose steps read links: of both."""
    return _digest(["linked", batch, links])


def query_digest(sql: str, versions: Mapping[str, int], files: Mapping[str, Sequence[FileDigest]]) -> str:
    """The digest of a batch that a query gives: of its text, the versions of its Delta tables, and the files of others."""
    contents = [(name, sorted((file.name, file.digest) for file in found)) for name, found in files.items()]
    return _digest(["query", sql, sorted(versions.items()), sorted(contents)])


def _digest(parts: list[object]) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True, separators=(",", ":")).encode("ascii")).hexdigest()


def _digest_file(file: ListedFile) -> FileDigest:
    content, size = hashlib.sha256(), 0
    gzip = _GzipProof() if file.name.lower().endswith(".gz") else None
    try:
        with file.path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                content.update(chunk)
                size += len(chunk)
                if gzip is not None:
                    gzip.feed(chunk)
    except (OSError, zlib.error) as cause:
        why = "it is damaged gzip data" if isinstance(cause, zlib.error) else "reading it failed"
        raise _unreadable(file, why) from cause
    if size != file.size:
        raise InputUnreadable(
            f"file {quoted(file.name, LONGEST_PLACE)} changed while it was read: {file.size:,} bytes listed, "
            f"{size:,} read",
            hint="start the gate when the delivery is complete",
            code="input.changed",
        )
    if gzip is not None and not gzip.is_whole:
        raise _unreadable(file, "its gzip data is cut off")
    modified = datetime.fromtimestamp(file.modified_ns / 1e9, UTC)
    return FileDigest(name=file.name, size=size, modified=modified, digest=content.hexdigest())


def _unreadable(file: ListedFile, why: str) -> InputUnreadable:
    return InputUnreadable(
        f"file {quoted(file.name, LONGEST_PLACE)} cannot be read: {why}",
        hint="ask for the file again, or wait until it is written whole",
    )


class _GzipProof:
    """Unpacks gzip data to nowhere, member by member, in bounded memory; zlib checks their lengths and checksums."""

    __slots__ = ("_has_member", "_unpacker")

    def __init__(self) -> None:
        self._unpacker: zlib._Decompress | None = None
        self._has_member = False

    @property
    def is_whole(self) -> bool:
        return self._has_member and self._unpacker is None

    def feed(self, data: bytes) -> None:
        while data:
            if self._unpacker is None:
                data = data.lstrip(b"\0") if self._has_member else data  # padding between members is allowed
                if not data:
                    return
                self._unpacker = zlib.decompressobj(_GZIP_MEMBER)
                self._has_member = True
            self._unpacker.decompress(data, _CHUNK)
            data = self._unpacker.unconsumed_tail
            if self._unpacker.eof:
                data = self._unpacker.unused_data
                self._unpacker = None
