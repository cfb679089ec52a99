"""Delimited text read strictly: lines come from Spark, what is a record and a cell is decided here.

Spark's own CSV reader shifts cells, drops what is too much, takes text after a closing quote for a part of the value, replaces
wrong bytes and cannot tell a quoted null from an unquoted one; none of it shows in what it returns.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from invaract_orchestration.contract.model import SourceOptions
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.session import expressions
from invaract_orchestration.intake.batch import BatchFile

_LONGEST_FIRST_LINE = 1 << 22
_BOM = b"\xef\xbb\xbf"
_NO_LATIN_1 = r"[\x80-\x9f]"


@dataclass(frozen=True, slots=True)
class Layout:
    """How the lines of a file end, and its first line as bytes; none where the header goes over several lines."""

    separator: str
    header: bytes | None


def layout_of(file: BatchFile, options: SourceOptions) -> Layout:
    """Look at the beginning of a file, as the header check did."""
    path = file.file.path
    with gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb") as stream:
        start = stream.read(_LONGEST_FIRST_LINE)
    end = re.search(rb"\r\n|\n|\r", start)
    if end is None:
        return Layout("\n", start)
    separator = "\r" if end.group() == b"\r" else "\n"
    first = start[: end.start()] + (b"\r" if end.group() == b"\r\n" else b"")
    is_open = first.count(options.quote.encode()) % 2
    return Layout(separator, None if is_open else first)


def is_header(raw: str, headers: Sequence[bytes]) -> str:
    """Whether a line is the text of a header."""
    known = {h for header in headers for h in (header, header.removeprefix(_BOM), _BOM + header.removeprefix(_BOM))}
    return f"{raw} IN ({', '.join(q.text(h) for h in sorted(known))})"


def line_text(raw: str, encoding: str) -> str:
    """The text of a line that was read as bytes."""
    return f"decode(CAST({raw} AS BINARY), 'ISO-8859-1')" if encoding == "latin-1" else raw


def is_text(raw: str, encoding: str) -> str:
    """Whether the bytes of a line are text of the encoding. In latin-1 some bytes stand for no letter: such a text is of another
    encoding, mostly windows-1252.
    """
    if encoding == "latin-1":
        return f"NOT ({_found(line_text(raw, encoding), _NO_LATIN_1)})"
    return f"is_valid_utf8({raw})" if encoding == "utf-8" else "true"


@dataclass(frozen=True, slots=True)
class Cells:
    """The expressions of one way to write delimited text."""

    options: SourceOptions

    @property
    def _delimiter(self) -> str:
        return re.escape(self.options.delimiter)

    @property
    def _inside(self) -> str:
        quote, escape = re.escape(self.options.quote), re.escape(self.options.escape)
        if self.options.quote == self.options.escape:
            return f"[^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*+"
        return rf"(?:[^{quote}{escape}]|{escape}[\s\S]|{escape}\z)*+"

    @property
    def _cell(self) -> str:
        quote = re.escape(self.options.quote)
        return rf"(?:{quote}{self._inside}{quote}|(?! *{quote})[^{self._delimiter}\r\n]*+)"

    @property
    def _opened(self) -> str:
        """A quote that is open at the end of a line; cells before it may be malformed, and then the record is."""
        quote, rest = re.escape(self.options.quote), rf"[^{self._delimiter}\r\n]*+"
        before = f"(?:{quote}{self._inside}{quote}{rest}|(?!{quote}){rest}){self._delimiter}"
        return rf"(?:{before})*+{quote}{self._inside}\z"

    def stays_open(self, line: str) -> tuple[str, str]:
        """Whether a quote is open after a line, as 0 or 1: when none was before it, and when one was."""
        from_outside = _found(line, rf"\A{self._opened}")
        from_inside = _found(line, rf"\A{self._inside}\z") + " OR " + _found(line, rf"\A{self._again}")
        return f"CAST(({from_outside}) AS INT)", f"CAST(({from_inside}) AS INT)"

    @property
    def _again(self) -> str:
        quote, rest = re.escape(self.options.quote), rf"[^{self._delimiter}\r\n]*+"
        return f"{self._inside}{quote}{rest}{self._delimiter}{self._opened}"

    def split(self, line: str) -> str:
        """The cells of a record as they are written, null when it is not well quoted or has a stray line end."""
        plain = rf"split({line}, {q.text(self._delimiter)}, -1)"
        strict = _found(line, rf"\A{self._cell}(?:{self._delimiter}{self._cell})*+\z")
        delimiter = q.text(self.options.delimiter)
        each = f"regexp_extract_all(concat({delimiter}, {line}), {q.text(f'{self._delimiter}({self._cell})')}, 1)"
        has_quote = f"instr({line}, {q.text(self.options.quote)}) > 0"
        has_return = f"instr({line}, {q.text(chr(13))}) > 0"
        return f"CASE WHEN {has_quote} THEN CASE WHEN {strict} THEN {each} END WHEN NOT ({has_return}) THEN {plain} END"

    def value(self, cell: str) -> str:
        """The text of a cell: unquoted, or null where an unquoted one says so."""
        quote = q.text(self.options.quote)
        nulls = ", ".join(q.text(v) for v in self.options.null_values or ("",))
        inner = f"substring({cell}, 2, char_length({cell}) - 2)"
        if self.options.quote == self.options.escape:
            text = f"replace({inner}, {q.text(self.options.quote * 2)}, {quote})"
        else:
            quote_or_escape = f"{re.escape(self.options.escape)}([{re.escape(self.options.quote + self.options.escape)}])"
            text = f"regexp_replace({inner}, {q.text(quote_or_escape)}, {q.text('$1')})"
        return f"CASE WHEN startswith({cell}, {quote}) THEN {text} WHEN {cell} IN ({nulls}) THEN NULL ELSE {cell} END"


def _found(line: str, pattern: str) -> str:
    return f"{line} RLIKE {q.text(pattern)}"


def read_lines(spark: Any, paths: Sequence[Path], separator: str) -> Any:
    """Lines of text files as bytes (`raw`), with the file (`f`) and where in it they stand (`b`, `m`)."""
    reader = spark.read.option("lineSep", separator).option("recursiveFileLookup", "true")
    reader = reader.option("ignoreCorruptFiles", "false").option("ignoreMissingFiles", "false")
    return reader.text([q.path(p) for p in paths]).selectExpr(
        "value AS raw", "_metadata.file_path AS f", "_metadata.file_block_start AS b", "monotonically_increasing_id() AS m"
    )


def read_whole(spark: Any, paths: Sequence[Path], charset: str) -> Any:
    """Lines of files whose encoding does not let a reader find their ends: each file is held in memory as a whole."""
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    feed = q.text("\n")
    frame = reader.load([q.path(p) for p in paths]).selectExpr(
        f"split(decode(content, {q.text(charset)}), {feed}, -1) AS ls", "_metadata.file_path AS f"
    )
    # A line end at the end of the file ends the last line and begins none.
    last = "CASE WHEN ls[size(ls) - 1] = '' THEN slice(ls, 1, size(ls) - 1) ELSE ls END"
    return frame.selectExpr("f", f"posexplode({last}) AS (m, raw)").selectExpr("raw", "f", "0L AS b", "CAST(m AS BIGINT) AS m")


def read_records(lines: Any, cells: Cells, encoding: str) -> Any:
    """Numbered records (`n`, the header is 0) of lines: a line that begins inside of a quote goes on with the one before.

    Lines may end in different ways in one file. Those of a file are brought together here, which is why this way is only taken
    where the quick one is in doubt.
    """
    outside, inside = cells.stays_open("line")
    window = "OVER (PARTITION BY f ORDER BY b, m, i ROWS BETWEEN UNBOUNDED PRECEDING AND {})"
    to_here, to_last = window.format("CURRENT ROW"), window.format("1 PRECEDING")
    frame = _parted(lines, encoding).selectExpr("*", f"{outside} AS o", f"{inside} AS s")
    frame = frame.selectExpr("*", f"sum(CASE WHEN o = 1 AND s = 0 THEN 1 ELSE 0 END) {to_here} AS turns")
    # What is open before a line: what the last line left behind that leaves the same whatever was before, turned as often
    # as lines since then turn it.
    settled = "CASE WHEN o = s THEN struct(o AS left_open, turns AS at) END"
    frame = frame.selectExpr(
        "*", f"last({settled}, true) {to_last} AS before", f"coalesce(last(turns) {to_last}, 0) AS turned"
    )
    is_open = "(coalesce(before.left_open, 0) + turned - coalesce(before.at, 0)) % 2"
    frame = frame.selectExpr("*", f"sum(CASE WHEN {is_open} = 0 THEN 1 ELSE 0 END) {to_here} AS n")
    parts = "sort_array(collect_list(struct(b, m, i, line, e)))"
    records = frame.groupBy("f", "n").agg(*expressions(frame, {"xs": parts, "is_text": "bool_and(is_text)"}))
    joined = "array_join(transform(xs, (x, j) -> CASE WHEN j < size(xs) - 1 THEN concat(x.line, x.e) ELSE x.line END), '')"
    return records.selectExpr("f", "CAST(n - 1 AS BIGINT) AS n", "is_text", f"{joined} AS line")


def _parted(lines: Any, encoding: str) -> Any:
    """Lines cut where a carriage return ends them too, each with its own end `e`."""
    back, both = q.text("\r"), q.text("\r\n")
    frame = lines.selectExpr("f", "b", "m", f"{line_text('raw', encoding)} AS text", f"{is_text('raw', encoding)} AS is_text")
    frame = frame.selectExpr("*", f"CASE WHEN is_text THEN split(text, {back}, -1) ELSE array(text) END AS ps")
    frame = frame.selectExpr(
        "f", "b", "m", "is_text", "size(ps) AS w", "ps[size(ps) - 1] = '' AS is_cut", "posexplode(ps) AS (i, line)"
    )
    end = f"CASE WHEN i = w - 1 THEN {q.text(chr(10))} WHEN i = w - 2 AND is_cut THEN {both} ELSE {back} END"
    return frame.where("w = 1 OR i < w - 1 OR NOT is_cut").selectExpr("f", "b", "m", "i", "line", "is_text", f"{end} AS e")
