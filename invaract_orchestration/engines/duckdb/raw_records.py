"""What DuckDB's CSV reader lets through or cannot read, seen on the raw text.

Even in its strict mode it takes one delimiter too many at a line's end and blanks around a quoted value, and it gives up on lines
that end in different ways. Files in which that may be are read here record by record, and a copy is written in which such a
record cannot be taken for a good one; lines end with LF there, and nothing else is changed.
"""

from __future__ import annotations

import gzip
import mmap
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from invaract_orchestration.contract.model import SourceOptions
from invaract_orchestration.intake.batch import Batch, BatchFile

MARK = "\x1einvaract"
"""Ends a record that is no record, after one more delimiter; taken off again where the original text is kept."""
_CHUNK = 1 << 24


def is_doubtful(batch: Batch, rows: int | None) -> bool:
    """Whether any file may hold something that the reader lets through. `rows` is how many records were read, where known."""
    options = batch.source.options
    if options.encoding == "utf-16":
        return True
    widths = {len(file.names) for file in batch.files}
    counts_decide = rows is not None and len(widths) == 1 and options.trailing_delimiter == "reject"
    delimiters = 0
    for file in batch.files:
        has_quote, found, is_padded, is_trailing = _looked_at(file.file.path, options, finds_trailing=not counts_decide)
        if is_padded or is_trailing or (has_quote and counts_decide and _trails(file.file.path, options)):
            return True
        if has_quote:
            counts_decide = False
        delimiters += found
    if rows is None or not counts_decide:
        return False
    return delimiters != (widths.pop() - 1) * (rows + len(batch.files))


def rewritten(batch: Batch, folder: Path) -> Batch:
    """The batch over copies of its files in which every doubtful record is plainly none."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    files = []
    for number, file in enumerate(batch.files):
        path = folder / f"records-{number}.txt"
        _rewrite(file, path, batch.source.options, is_csv=batch.source.format == "csv")
        files.append(replace(file, file=replace(file.file, path=path)))
    return replace(batch, files=tuple(files))


def blank_lines(file: BatchFile, options: SourceOptions) -> list[int]:
    """The blank lines of a file among its records, from 1; the reader counts them and gives no row for them."""
    if len(file.names) == 1:
        return []  # there a blank line is a record whose only value is null
    if options.encoding != "utf-16":
        ends = (b"\n\n", b"\r\r", b"\n\r")
        if not any(_holds(ends, chunk, b"") or chunk[:1] in b"\r\n" for chunk in _chunks(file.file.path)):
            return []
    encoding = options.encoding
    with _text(file.file.path, encoding, "replace") as source:
        records = enumerate(_records(source, options, len(file.names)), 1)
        return [number for number, (record, _) in records if not record]


def _looked_at(path: Path, options: SourceOptions, *, finds_trailing: bool) -> tuple[bool, int, bool, bool]:
    quote, delimiter = options.quote.encode(), options.delimiter.encode()
    has_quote = is_padded = is_trailing = False
    delimiters, last = 0, b""
    for chunk in _chunks(path):
        seen = last + chunk[:1] if last else b""
        has_quote = has_quote or chunk.find(quote) >= 0
        is_padded = is_padded or (has_quote and _holds((b" " + quote, quote + b" "), chunk, seen))
        if finds_trailing and options.trailing_delimiter == "reject":
            is_trailing = is_trailing or _holds((delimiter + b"\n", delimiter + b"\r"), chunk, seen)
        elif not has_quote:
            delimiters += chunk.count(delimiter)
        last = chunk[-1:]
    is_trailing = is_trailing or (finds_trailing and options.trailing_delimiter == "reject" and last == delimiter)
    return has_quote, delimiters, is_padded, is_trailing


def _trails(path: Path, options: SourceOptions) -> bool:
    return _looked_at(path, options, finds_trailing=True)[3]


def _holds(words: tuple[bytes, ...], chunk: bytes, seam: bytes) -> bool:
    return any(chunk.find(word) >= 0 or word == seam for word in words)


def _chunks(path: Path) -> Iterator[bytes]:
    with _opened(path) as file:
        if isinstance(file, gzip.GzipFile) or not path.stat().st_size:
            while chunk := file.read(_CHUNK):
                yield chunk
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            for at in range(0, len(mapped), _CHUNK):
                yield mapped[at : at + _CHUNK]


def _opened(path: Path) -> Any:
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")


def _rewrite(file: BatchFile, copy: Path, options: SourceOptions, *, is_csv: bool) -> None:
    if not is_csv:
        with _opened(file.file.path) as lines, copy.open("wb") as copied:
            for line in lines:
                copied.write(b"\n".join(line.removesuffix(b"\n").removesuffix(b"\r").split(b"\r")) + b"\n")
        return
    encoding = {"utf-8": "utf-8", "latin-1": "latin-1", "utf-16": "utf-16"}[options.encoding]
    errors = "surrogateescape" if encoding == "utf-8" else "strict"
    with _text(file.file.path, encoding, errors) as source, copy.open("w", encoding=encoding, errors=errors, newline="") as out:
        for number, (record, is_right) in enumerate(_records(source, options, len(file.names))):
            out.write(record if is_right or not number else record + options.delimiter + MARK)
            out.write("\n")


def _text(path: Path, encoding: str, errors: str) -> IO[str]:
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding=encoding, errors=errors, newline="")
    return path.open(encoding=encoding, errors=errors, newline="")


def _records(source: IO[str], options: SourceOptions, width: int) -> Iterator[tuple[str, bool]]:
    """Each record without its line end, and whether it is written as a record is."""
    closed = _quoted_value(options)
    most = width - 1 + (options.trailing_delimiter == "accept")
    parts: list[str] = []
    for line in source:
        parts.append(line)
        bare = "".join(parts).removesuffix("\n").removesuffix("\r")
        form = _form(bare, options, closed, most)
        if form is not None:
            yield bare, form
            parts = []
    if parts:
        yield "".join(parts), True  # a quote that is never closed: the reader says so itself


def _quoted_value(options: SourceOptions) -> re.Pattern[str]:
    quote, escape = re.escape(options.quote), re.escape(options.escape)
    if options.quote == options.escape:
        return re.compile(f"{quote}(?:[^{quote}]|{quote}{quote})*+{quote}(?!{quote})")
    return re.compile(f"{quote}(?:[^{quote}{escape}]|{escape}.)*+{quote}", re.DOTALL)


def _form(record: str, options: SourceOptions, closed: re.Pattern[str], most: int) -> bool | None:
    """Whether a record is well formed; none while a quote is open."""
    quote, delimiter = options.quote, options.delimiter
    if quote not in record:
        return not (record.endswith(delimiter) and record.count(delimiter) > most)
    at = cells = 0
    while True:
        if record.startswith(quote, at):
            match = closed.match(record, at)
            if match is None:
                return None
            at = match.end()
            if at < len(record) and not record.startswith(delimiter, at):
                return False
        else:
            end = record.find(delimiter, at)
            cell = record[at:] if end < 0 else record[at:end]
            if cell.lstrip(" ").startswith(quote):
                return False
            at += len(cell)
        if at >= len(record):
            return True
        at, cells = at + 1, cells + 1
        if at == len(record):
            return cells <= most
