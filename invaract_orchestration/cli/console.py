"""Printing: results to stdout, progress and errors to stderr, and never a control character of the data's names."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_WIDTH_OF_FILES = 200
_STYLES = {
    "PUBLISHED": "bold green", "WOULD PUBLISH": "bold green", "NO OP": "bold green", "REJECTED": "bold red",
    "FAILED": "bold red", "CONFLICT": "bold red", "UNKNOWN": "bold red", "broken": "red", "unverifiable": "red",
    "warning": "yellow", "set aside": "yellow", "Hint:": "cyan", "Error:": "bold red",
}  # fmt: skip


@functools.cache
def _console(*, is_stderr: bool) -> Console:
    from rich.console import Console

    stream = sys.stderr if is_stderr else sys.stdout
    return Console(
        stderr=is_stderr, highlight=False, markup=False, emoji=False, soft_wrap=True,
        width=None if stream.isatty() else _WIDTH_OF_FILES,
    )  # fmt: skip


def to_stdout(text: str) -> None:
    """Lines of a report; a line that starts with a known word is coloured on a terminal."""
    for line in text.removesuffix("\n").split("\n"):
        _print(line, _style_of(line), is_stderr=False)


def to_stderr(line: str, style: str = "dim") -> None:
    """One line of progress."""
    _print(line, style, is_stderr=True)


def progress(line: str) -> None:
    """What the gate is doing."""
    to_stderr(f"  {printable(line)}")


def printable(line: str) -> str:
    """The line with control characters as escapes."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in line)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table; the last column takes what room is left."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, name in enumerate(columns):
        table.add_column(name, overflow="fold", no_wrap=number < len(columns) - 1)
    for row in rows:
        table.add_row(*(Text(printable(cell), _style_of(cell.upper())) for cell in row))
    _console(is_stderr=False).print(table, soft_wrap=False)


def _print(line: str, style: str, *, is_stderr: bool) -> None:
    from rich.text import Text

    console = _console(is_stderr=is_stderr)
    console.print(Text(line, style), soft_wrap=True)


def _style_of(line: str) -> str:
    start = line.strip()
    return next((style for word, style in _STYLES.items() if start.startswith(word)), "")
