"""A DuckDB connection for one attempt, and the translation of its errors.

DuckDB's messages quote values, lines and paths of the data, so none is passed on: its class and a known part of its text choose
an error of ours.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from invaract_orchestration.engines.parquet_tables import TOO_FINE, TOO_FINE_HINT, TOO_FINE_SENTENCE
from invaract_orchestration.errors import EngineFailure, GateError, InputUnreadable, InvaractError

BREACH = "invaract: a value is not in its declared form"
_NO_TEXT = ("a text is no UTF-8", "mend it where it comes from, or declare the column as binary there")
_KNOWN = (  # what the machine says comes before what a file may be
    (TOO_FINE, TOO_FINE_SENTENCE, TOO_FINE_HINT),
    ("invaract: outside of the years", "a date or time lies outside of the years 1 to 9999", "mend it where it comes from"),
    ("no space left", "the disk is full", "free some space, then submit the batch again; nothing was published"),
    ("out of memory", "the engine ran out of memory", "raise INVARACT_MEMORY_LIMIT or give more disk to spill to"),
    ("permission denied", "a place cannot be written or read", "check the permissions of source and candidate location"),
    ("read-only file system", "a place cannot be written", "check the candidate's location"),
    ("unexpected end of gzip", "a compressed file is cut off or damaged", "ask for the file again and submit it anew"),
    ("gzip", "a compressed file is damaged", "ask for the file again and submit it anew"),
    ("not valid utf8", *_NO_TEXT),
    ("invalid unicode", *_NO_TEXT),
    ("could not convert blob to utf8", *_NO_TEXT),
    ("snappy", "a Parquet file is damaged", None),
    ("no magic bytes", "a file is not a Parquet file, or is cut off", "check source.format and the file's size"),
    ("too small to be a parquet", "a file is not a Parquet file, or is cut off", "check source.format and the file's size"),
    ("parquet", "a Parquet file is damaged or not one", "check source.format, and ask for the file again"),
    ("cannot open file", "a file cannot be opened", "check that it is still there, and its permissions"),
    ("no files found", "a file has vanished since it was listed", "submit the batch again"),
    ("thrift", "a Parquet file is damaged", None),
    ("overflow in", "a calculation of the query overflows its type", "cast its operands to a wider type"),
    ("could not convert string", "a text is used as a number or date and is none", "cast it in the query: CAST gives null there"),
    ("is not utf-16 encoded", "a file is not utf-16 text, or is cut off", "check source.options.encoding"),
)
_STATEMENT = re.compile(r"\n\nLINE \d+: ")
"""Where a message goes on with the statement, whose words (`read_parquet`, a path) say nothing of what went wrong."""


class UnevenLineEnds(Exception):
    """Lines of a file end in different ways, or some are no text of the declared encoding: the reader gives up on all of it."""


class DeclaredFormBreach(Exception):
    """The guarded write met a record that is not in its declared form; the counting pass says what and how often."""


def connect(temp_directory: Path, memory_limit: str | None, threads: int | None) -> duckdb.DuckDBPyConnection:
    """A private in-memory database that spills beside the candidate, with the zone fixed to UTC.

    Raises:
        GateError: DuckDB does not take the memory limit.
    """
    connection = duckdb.connect(":memory:")
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET preserve_insertion_order = false")
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET autoinstall_known_extensions = false")
    # It turns `a * 4 > 0` into `a > 0`: a product that overflows would be true, where the contract's meaning is null.
    connection.execute("SET disabled_optimizers = 'expression_rewriter'")
    connection.execute("SET temp_directory = ?", [str(temp_directory)])
    if threads:
        connection.execute("SET threads = ?", [threads])
    if memory_limit:
        _limit_memory(connection, memory_limit)
    return connection


def _limit_memory(connection: duckdb.DuckDBPyConnection, limit: str) -> None:
    try:
        connection.execute("SET memory_limit = ?", [limit])
    except duckdb.Error:
        connection.close()
        raise GateError(
            f"INVARACT_MEMORY_LIMIT: expected a number with a unit, found {limit!r}", code="engine.setting",
            hint="write it as 4GB or 512MiB",
        ) from None  # fmt: skip


def register_text_functions(connection: duckdb.DuckDBPyConnection) -> None:
    """casefold and NFKC, which DuckDB does not have; used by keys that declare them."""
    known = {"casefold": str.casefold, "nfkc": lambda s: unicodedata.normalize("NFKC", s)}
    for name, function in known.items():
        connection.create_function(name, function, ["VARCHAR"], "VARCHAR")


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turn whatever DuckDB raises into an error of ours, without its text and without its chain."""
    try:
        yield
    except InvaractError:
        raise
    except duckdb.Error as error:
        raise _translate(doing, error) from None


def _translate(doing: str, error: duckdb.Error) -> Exception:
    message = _STATEMENT.split(str(error))[0].lower()
    if BREACH.lower() in message or any(part in message for part in ("csv error", "malformed json", "json array with format")):
        return DeclaredFormBreach()
    if "csv parser state machine" in message or "is not latin-1 encoded" in message:
        return UnevenLineEnds()
    for part, sentence, hint in _KNOWN:
        if part in message:
            return InputUnreadable(f"{doing}: {sentence}", hint=hint)
    return EngineFailure(
        f"{doing}: the engine failed with {type(error).__name__}",
        hint="its own message may hold values and is withheld; run `invaract lint` on the contract and check the files",
    )
