"""What DuckDB's CSV reader lets through or cannot read, seen on the raw text.

Even in its strict mode it takes one delimiter too many at a line's end and blanks around a quoted value, and it gives up on lines
that end in different ways; where every line is to end with a delimiter it takes a value behind the last one. Files in which that
may be are read here record by record, and a copy is written in which such a record cannot be taken for a good one; lines end with
LF there and are UTF-8, and nothing else is changed.
"""

from __future__ import annotations

import functools
import gzip
import mmap
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import duckdb

from invaract_orchestration.contract.model import SourceOptions
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.session import translated
from invaract_orchestration.intake.batch import Batch, BatchFile

_ESCAPE = "\x1e"
_BAD = f"{_ESCAPE}b"
"""What a bad record begins with in a copy; the reader may cut its end off where it is long."""
_MARK = f"{_ESCAPE}invaract"
_NO_LATIN_1 = re.compile("[\x80-\x9f]")
"""Bytes that stand for no letter there: such a text is of another encoding, mostly windows-1252."""
_CHUNK = 1 << 24
_LONGEST_LINE = 16 * 1024 * 1024


@dataclass(slots=True)
class _Seen:
    """What stands in one file. Delimiters are counted while there is no quote."""

    has_quote: bool = False
    delimiters: int = 0
    feeds: int = 0
    returns: int = 0
    both: int = 0

    @property
    def is_uneven(self) -> bool:
        """Whether lines end in different ways; inside of quotes they may."""
        return bool(self.returns) and not (self.feeds == self.returns == self.both or self.feeds == 0)


def is_doubtful(connection: duckdb.DuckDBPyConnection, batch: Batch, rows: int | None, malformed: int) -> bool:
    """Whether any file may hold something that the reader takes for what it is not. `rows` is how many records were read, where
    that is known: without a quote, the number of delimiters then says whether a line has one too many. `malformed` of them were
    none: where there are quotes, the reader may have taken good records for a part of a bad one.
    """
    options = batch.source.options
    if options.encoding == "utf-16":
        return True
    if options.escape != options.quote and any(_has_escape(file.file.path, options.escape) for file in batch.files):
        return True  # in a quoted value the reader drops every escape, also one that stands before a plain character
    found = [_looked_at(file.file.path, options) for file in batch.files]
    if any(seen.is_uneven or (malformed and seen.has_quote) for seen in found):
        return True
    widths = {len(file.names) for file in batch.files}
    is_counted = rows is not None and len(widths) == 1 and options.trailing_delimiter == "reject"
    if is_counted and rows is not None and not any(seen.has_quote for seen in found):
        return sum(seen.delimiters for seen in found) != (widths.pop() - 1) * (rows + len(batch.files))
    return any(
        _has_doubtful_line(connection, [f for f in batch.files if len(f.names) == width], width, options)
        for width in widths
    )


def read_surely(connection: duckdb.DuckDBPyConnection, batch: Batch) -> Batch:
    """Files beside a batch, or copies of them where the reader would take something for what it is not, or would give up."""
    if batch.source.format == "csv":
        is_sure = not is_doubtful(connection, batch, None, 0)
    else:
        is_sure = not any(_looked_at(file.file.path, batch.source.options).is_uneven for file in batch.files)
    if is_sure:
        return batch
    (scratch,) = connection.execute("SELECT current_setting('temp_directory')").fetchall()[0]
    return rewritten(batch, Path(scratch) / f"beside-{uuid.uuid4().hex}")


def _has_doubtful_line(
    connection: duckdb.DuckDBPyConnection, files: list[BatchFile], width: int, options: SourceOptions
) -> bool:
    """Whether a line has blanks around a quote, or ends with a delimiter or lacks one there, and is not well formed by itself.

    The engine looks for such lines on all cores; only those are then read character by character. A piece of a record that
    goes over several lines is none that is well formed by itself, so it is a doubt too.
    """
    quote, delimiter = options.quote, options.delimiter
    mark, cell = re.escape(quote), re.escape(delimiter)
    most = width - 1 + (options.trailing_delimiter == "accept")
    around = f"(^|{cell}) +{mark}|{mark} +({cell}|\r?$)"
    near = f"(contains(line, {q.text(' ' + quote)}) OR contains(line, {q.text(quote + ' ')}))"
    padded = f"({near} AND regexp_matches(line, {q.text(around)}))"
    ends = f"ends_with(line, {q.text(delimiter)})"
    many = f"(length(line) - length(replace(line, {q.text(delimiter)}, ''))) > {most}"
    trailing = f"({ends} AND (contains(line, {q.text(quote)}) OR {many}))"
    if options.trailing_delimiter == "accept":
        headers = [delimiter.join(file.names) for file in files]
        trailing += f" OR NOT ({ends} OR rtrim(line, '\r') IN ({', '.join(map(q.text, ['', *headers]))}))"
    lines = (
        f"read_csv({q.paths(f.file.path for f in files)}, auto_detect=false, header=false, delim='\\x00', quote='', "
        f"escape='', columns={{'line': 'VARCHAR'}}, nullstr='', ignore_errors=true, encoding={q.text(options.encoding)}, "
        f"max_line_size={_LONGEST_LINE}, buffer_size={2 * _LONGEST_LINE}, hive_partitioning=false)"
    )
    with translated("reading the lines"):
        found = connection.execute(f"SELECT line FROM {lines} WHERE {padded} OR {trailing}")
        while batch := found.fetchmany(10_000):
            if any(_Form(options, most).read(line.removesuffix("\r")) is not True for (line,) in batch):
                return True
    return False


def mark_of(batch: Batch) -> str:
    """What is written after a record that is none: more delimiters than any record of the batch has, and a word of ours. It is
    taken off where the original text is kept.
    """
    return batch.source.options.delimiter * (max(len(file.names) for file in batch.files) + 2) + _MARK


def rewritten(batch: Batch, folder: Path) -> Batch:
    """The batch over copies of its files in which every doubtful record is plainly none."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    files = []
    for number, file in enumerate(batch.files):
        path = folder / f"records-{number}.txt"
        _rewrite(file, path, batch.source.options, mark_of(batch) if batch.source.format == "csv" else None)
        files.append(replace(file, file=replace(file.file, path=path)))
    options = batch.source.options.model_copy(update={"encoding": "utf-8"})
    return replace(batch, files=tuple(files), source=batch.source.model_copy(update={"options": options}))


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


def _looked_at(path: Path, options: SourceOptions) -> _Seen:
    quote, delimiter = options.quote.encode(), options.delimiter.encode()
    seen, last = _Seen(), b""
    for chunk in _chunks(path):
        seen.has_quote = seen.has_quote or chunk.find(quote) >= 0
        if not seen.has_quote:
            seen.delimiters += chunk.count(delimiter)
        if seen.returns or chunk.find(b"\r") >= 0:
            seen.returns += chunk.count(b"\r")
            seen.both += chunk.count(b"\r\n") + (last + chunk[:1] == b"\r\n")
            seen.feeds += chunk.count(b"\n")
        elif chunk.find(b"\n") >= 0:
            seen.feeds += 1  # enough to know that one of the kinds is there
        last = chunk[-1:]
    return seen


def _has_escape(path: Path, escape: str) -> bool:
    return any(chunk.find(escape.encode()) >= 0 for chunk in _chunks(path))


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


def _rewrite(file: BatchFile, copy: Path, options: SourceOptions, mark: str | None) -> None:
    if mark is None:
        with _opened(file.file.path) as lines, copy.open("wb") as copied:
            for line in lines:
                copied.write(b"\n".join(line.removesuffix(b"\n").removesuffix(b"\r").split(b"\r")) + b"\n")
        return
    encoding = {"utf-8": "utf-8", "latin-1": "latin-1", "utf-16": "utf-16"}[options.encoding]
    errors = "surrogateescape" if encoding == "utf-8" else "strict"
    hidden = str.maketrans({character: _ESCAPE + letter for character, letter in _hidden(options).items()})
    with _text(file.file.path, encoding, errors) as source, copy.open("w", encoding="utf-8", errors=errors, newline="") as out:
        for number, (record, is_right) in enumerate(_records(source, options, len(file.names))):
            is_text = encoding != "latin-1" or record.isascii() or not _NO_LATIN_1.search(record)
            is_kept = not number or (is_right and is_text)
            out.write(_escaped(record, options) if is_kept else _BAD + record.translate(hidden) + mark)
            out.write("\n")


def _escaped(record: str, options: SourceOptions) -> str:
    """A right record with the escapes of its quoted values doubled that stand for themselves, as the reader would drop them."""
    if options.escape == options.quote or options.escape not in record:
        return record
    quote, escape = re.escape(options.quote), re.escape(options.escape)
    value = re.compile(f"(?:(?<={re.escape(options.delimiter)})|^){quote}(?:[^{quote}{escape}]|{escape}.)*+{quote}", re.DOTALL)

    def kept(pair: re.Match[str]) -> str:
        return pair[0] if pair[1] in (options.quote, options.escape) else options.escape + pair[0]

    return value.sub(lambda found: re.sub(f"{escape}(.)", kept, found[0], flags=re.DOTALL), record)


def _hidden(options: SourceOptions) -> dict[str, str]:
    """The characters by which a bad record could be more than one line with cells too many, and the letter that each becomes; the
    reader tells every cell too many, each time with the whole line.
    """
    return {options.escape: "x", options.quote: "q", options.delimiter: "d", "\n": "n", "\r": "r", _ESCAPE: "e"}


def unmarked(line: str, batch: Batch) -> str:
    """The SQL of the text of a bad record as it was written, from the copy's text of it."""
    shown = f"replace(substr({line}, {len(_BAD) + 1}), {q.text(mark_of(batch))}, '')"
    for character, letter in _hidden(batch.source.options).items():  # the escape itself comes last
        shown = f"replace({shown}, {q.text(_ESCAPE + letter)}, {q.text(character)})"
    return f"CASE WHEN starts_with({line}, {q.text(_BAD)}) THEN {shown} ELSE {line} END"


def _text(path: Path, encoding: str, errors: str) -> IO[str]:
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding=encoding, errors=errors, newline="")
    return path.open(encoding=encoding, errors=errors, newline="")


def _records(source: IO[str], options: SourceOptions, width: int) -> Iterator[tuple[str, bool]]:
    """Each record without its line end, and whether it is written as a record is."""
    most = width - 1 + (options.trailing_delimiter == "accept")
    form, parts = _Form(options, most), list[str]()
    for line in source:
        parts.append(line)
        is_right = form.read(line.removesuffix("\n").removesuffix("\r"))
        if is_right is not None:
            yield "".join(parts).removesuffix("\n").removesuffix("\r"), is_right
            form, parts = _Form(options, most), []
    if parts:
        yield "".join(parts).removesuffix("\n").removesuffix("\r"), False  # a quote that is never closed


class _Form:
    """Whether a record is well formed, line by line: a line is read once, however long the record is."""

    def __init__(self, options: SourceOptions, most: int) -> None:
        self._quote, self._delimiter, self._most = options.quote, options.delimiter, most
        self._has_end = options.trailing_delimiter == "accept"
        self._inside = _inside_of_quotes(options.quote, options.escape)
        self._is_open, self._is_right, self._cells = False, True, 0

    def read(self, line: str) -> bool | None:
        """The answer after one more line; none while a quote is open."""
        quote, delimiter = self._quote, self._delimiter
        if not self._is_open and quote not in line:
            is_ended = line.endswith(delimiter)
            return not line or ((is_ended or not self._has_end) and not (is_ended and line.count(delimiter) > self._most))
        at = 0
        while True:
            if self._is_open or line.startswith(quote, at):
                match = self._inside.match(line, at if self._is_open else at + 1)
                self._is_open = match is None
                if match is None:
                    return None
                at = match.end()
                self._is_right &= at == len(line) or line.startswith(delimiter, at)
                at = self._next(line, at)
            else:
                end = self._next(line, at)
                self._is_right &= not line[at:end].lstrip(" ").startswith(quote)
                at = end
            if at == len(line):
                return self._is_right and not self._has_end
            at, self._cells = at + 1, self._cells + 1
            if at == len(line):
                return self._is_right and self._cells <= self._most

    def _next(self, line: str, at: int) -> int:
        """Where the cell ends."""
        end = line.find(self._delimiter, at)
        return len(line) if end < 0 else end


@functools.cache
def _inside_of_quotes(quote: str, escape: str) -> re.Pattern[str]:
    """What stands in a quoted value, up to its closing quote."""
    mark, before = re.escape(quote), re.escape(escape)
    if quote == escape:
        return re.compile(f"(?:[^{mark}]|{mark}{mark})*+{mark}(?!{mark})")
    return re.compile(f"(?:[^{mark}{before}]|{before}.)*+{mark}", re.DOTALL)
