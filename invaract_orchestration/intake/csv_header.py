"""The first record of a CSV file, read without an engine: what the columns are called, before anything is loaded.

Quoting follows RFC 4180, with the delimiter, quote, escape and encoding of the contract; lines end with LF, CRLF or CR.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import IO, Literal

from invaract_orchestration.contract.model import SourceOptions
from invaract_orchestration.errors import InputUnreadable
from invaract_orchestration.intake.csv_record import RecordReader
from invaract_orchestration.intake.listing import ListedFile
from invaract_orchestration.intake.text_files import BOMS, opened, refuse_containers
from invaract_orchestration.intake.wording import LONGEST_PLACE, quoted

LONGEST_HEADER = 1 << 20
"""Characters; a first record that is longer is refused."""
_CHUNK = 1 << 16
ProblemCode = Literal["header.missing", "header.malformed", "input.encoding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderProblem:
    """Why a file has no header that can be compared; the sentence holds no text of the file."""

    code: ProblemCode
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHeader:
    """The first record of one file. With problems there are no names.

    `has_rows` says whether anything but line ends follows it, null when not known. `trailing_delimiter` says that the
    line ends with one delimiter more; where the contract accepts that, the empty name after it is not among the names.
    `encoding` is the codec that the file was read with, such as `utf-8` or `utf-16-be`.
    """

    file: ListedFile
    names: tuple[str, ...] = ()
    problems: tuple[HeaderProblem, ...] = ()
    has_rows: bool | None = None
    trailing_delimiter: bool = False
    encoding: str = "utf-8"


def read_header(file: ListedFile, options: SourceOptions) -> FileHeader:
    """The first record of one file, plain or gzip.

    Raises:
        InputUnreadable: the file cannot be opened, is cut off, is no text, or its first record is longer than a million
            characters.
    """
    with opened(file) as stream:
        start = stream.read(_CHUNK)
        refuse_containers(file, start)
        if not start:
            return _unusable(file, "header.missing", "the file is empty (0 bytes)")
        encoding, skip, sentence = _encoding(start, options.encoding)
        if sentence is not None:
            return _unusable(file, "input.encoding", sentence)
        return _first_record(file, stream, start[skip:], encoding, options)


def _unusable(file: ListedFile, code: ProblemCode, sentence: str) -> FileHeader:
    return FileHeader(file=file, problems=(HeaderProblem(code=code, sentence=sentence),))


def _encoding(start: bytes, declared: str) -> tuple[str, int, str | None]:
    """The codec to read with, the bytes of the mark to skip, and why it cannot be read as declared."""
    seen = next((bom for bom in BOMS if start.startswith(bom[0])), None)
    if seen is not None:
        mark, family, codec = seen
        if family.lower() == declared:
            return codec, len(mark), None
        return codec, 0, f"{family} byte order mark seen, expected {declared} text"
    if declared == "utf-16":
        low, high = start[1::2].count(0), start[0::2].count(0)
        return ("utf-16-be" if high > low else "utf-16-le"), 0, None
    return declared, 0, None


def _first_record(
    file: ListedFile, stream: IO[bytes], start: bytes, encoding: str, options: SourceOptions
) -> FileHeader:
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    reader = RecordReader(options.delimiter, options.quote, options.escape)
    chunk, read = start, 0
    while True:
        is_last = not chunk
        try:
            text = decoder.decode(chunk, final=is_last)
        except UnicodeDecodeError as problem:
            text = _decoded_part(problem, encoding)
            reader.feed(text)
            if not reader.is_done:
                at = read + len(chunk) - len(problem.object) + problem.start  # the decoder holds bytes back
                sentence = f"the first line is not valid {options.encoding} text near byte {at}"
                return _unusable(file, "input.encoding", sentence)
        else:
            reader.feed(text)
        if reader.is_done or is_last:
            return _header(file, stream, reader, encoding, options)
        read += len(chunk)
        if read > LONGEST_HEADER * 4 or reader.length > LONGEST_HEADER:
            raise InputUnreadable(
                f"file {quoted(file.name, LONGEST_PLACE)}: the first line is longer than {LONGEST_HEADER:,} characters",
                hint="look for a quote that is never closed, or a file without line ends",
            )
        chunk = stream.read(_CHUNK)


def _decoded_part(problem: UnicodeDecodeError, encoding: str) -> str:
    return bytes(problem.object[: problem.start]).decode(encoding)


def _header(
    file: ListedFile, stream: IO[bytes], reader: RecordReader, encoding: str, options: SourceOptions
) -> FileHeader:
    cells = reader.finish()
    if reader.problem is not None:
        return _unusable(file, "header.malformed", reader.problem)
    if nul := sum(cell.count("\0") for cell in cells):
        is_wide = 3 * nul >= sum(map(len, cells))
        looks = "UTF-16 without a byte order mark" if is_wide else "binary data"
        sentence = f"NUL character in the first line, expected {options.encoding} text; it looks like {looks}"
        return _unusable(file, "input.encoding", sentence)
    if len(cells) == 1 and not cells[0].strip():
        return _unusable(file, "header.missing", "the first line is blank")
    is_trailing = len(cells) > 1 and cells[-1] == ""
    names = cells[:-1] if is_trailing and options.trailing_delimiter == "accept" else cells
    return FileHeader(
        file=file,
        names=tuple(names),
        has_rows=_has_rows(reader.rest, stream, encoding),
        trailing_delimiter=is_trailing,
        encoding=encoding,
    )


def _has_rows(rest: str, stream: IO[bytes], encoding: str) -> bool | None:
    if rest.strip("\r\n"):
        return True
    more = stream.read(_CHUNK)
    if not more:
        return False
    return True if more.decode(encoding, errors="replace").strip("\r\n") else None
