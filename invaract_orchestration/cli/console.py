"""Printing: results to stdout, progress and errors to stderr, and never a control character of the data's names.

Whether anybody reads it changes nothing: a reader who has enough (`| head -1`) ends no run and changes no exit code.
"""

from __future__ import annotations

import functools
import io
import os
import sys
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING

from invaract_orchestration.errors import InvaractError

if TYPE_CHECKING:
    from rich.console import Console

_WIDTH_OF_FILES = 200
_LAST_COLUMN = 30
"""The room below which the last column is not folded any more."""
_STYLES = {
    "PUBLISHED": "bold green", "WOULD PUBLISH": "bold green", "NO OP": "bold green", "REJECTED": "bold red",
    "FAILED": "bold red", "CONFLICT": "bold red", "UNKNOWN": "bold red", "broken": "red", "unverifiable": "red",
    "warning": "yellow", "set aside": "yellow", "Hint:": "cyan", "Error:": "bold red",
}  # fmt: skip


@functools.cache
def _console(*, is_stderr: bool) -> Console:
    from rich.console import Console

    class Unread(Console):
        def on_broken_pipe(self) -> None:  # as it comes with rich, it ends the program with exit code 1
            _drop(self.file)

    stream = sys.stderr if is_stderr else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")  # a terminal may not know every letter of a name
    return Unread(
        stderr=is_stderr, highlight=False, markup=False, emoji=False, soft_wrap=True,
        width=None if stream.isatty() else _WIDTH_OF_FILES,
    )  # fmt: skip


def to_stdout(text: str) -> None:
    """Lines of a report; a line that starts with a known word is coloured on a terminal."""
    try:
        for line in text.removesuffix("\n").split("\n"):
            _print(line, _style_of(line), is_stderr=False)
    except OSError as error:
        _unwritten(error)


def to_stderr(line: str, style: str = "dim") -> None:
    """One line of progress. That it cannot be written stops nothing."""
    try:
        _print(line, style, is_stderr=True)
    except OSError:
        _drop(sys.stderr)


def write_out(document: str | bytes) -> None:
    """A document to stdout for a program or a file; a text is in UTF-8 whatever the terminal has.

    Raises:
        InvaractError: it cannot be written.
    """
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(document if isinstance(document, bytes) else document.encode(errors="backslashreplace"))
        sys.stdout.buffer.flush()
    except OSError as error:
        _unwritten(error)


def progress(line: str) -> None:
    """What the gate is doing."""
    to_stderr(f"  {printable(line)}")


def printable(line: str) -> str:
    """The line with control characters as escapes."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in line)


def counted(number: int, noun: str) -> str:
    """The number with its noun, in the plural where it is one."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table whose last column takes what room is left; on a terminal without room for it a paragraph for each row."""
    shown = [[printable(cell) for cell in row] for row in rows]
    wide = [max(map(len, column)) for column in zip(columns, *shown, strict=True)]
    try:
        needed = sum(wide[:-1]) + 3 * (len(wide) - 1) + min(wide[-1], _LAST_COLUMN)
        if _console(is_stderr=False).width < needed:
            _print_paragraphs(columns, shown)
        else:
            _print_lines(columns, shown)
    except OSError as error:
        _unwritten(error)


def _print_lines(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, name in enumerate(columns):
        table.add_column(name, overflow="fold", no_wrap=number < len(columns) - 1)
    for row in rows:
        table.add_row(*(Text(cell, _style_of(cell.upper())) for cell in row))
    _console(is_stderr=False).print(table, soft_wrap=False)


def _print_paragraphs(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    label = max(map(len, columns))
    for number, row in enumerate(rows):
        if number:
            _print("", "", is_stderr=False)
        for name, cell in zip(columns, row, strict=True):
            if cell:
                _print(f"{name:<{label}}  {cell}", _style_of(cell.upper()), is_stderr=False)


def _print(line: str, style: str, *, is_stderr: bool) -> None:
    from rich.text import Text

    console = _console(is_stderr=is_stderr)
    console.print(Text(line, style), soft_wrap=True)


def _style_of(line: str) -> str:
    start = line.strip()
    return next((style for word, style in _STYLES.items() if start.startswith(word)), "")


def _unwritten(error: OSError) -> None:
    _drop(sys.stdout)
    if not isinstance(error, BrokenPipeError):
        raise InvaractError(
            f"the output could not be written: {error.strerror}", hint="`invaract history` says what was done and how it ended"
        ) from None


def _drop(stream: IO[str]) -> None:
    """What is still to be written there goes nowhere, also what the interpreter has left at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
