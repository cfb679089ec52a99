"""Faults that real deliveries have, put into a month's lines. The first line is the header."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

_DELAY, _ARRIVAL_DELAY = 5, 8
"""Positions of dep_delay and arr_delay."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What happened to a delivery, in words, and how its lines are changed."""

    what: str
    apply: Callable[[list[str]], list[str]]


def inserted_column(lines: list[str]) -> list[str]:
    """A new column stands before dep_delay, so that every later value moves one place."""
    return [_with_cells(lines[0], _inserted("gate_hold")), *(_with_cells(line, _inserted("0")) for line in lines[1:])]


def swapped_headers(lines: list[str]) -> list[str]:
    """The names of dep_delay and arr_delay change places, their values stay."""
    return [_with_cells(lines[0], _swapped), *lines[1:]]


def repeated_key(lines: list[str]) -> list[str]:
    """The last row is there twice."""
    return [*lines, lines[-1]]


def bad_value(lines: list[str]) -> list[str]:
    """One delay is a word."""
    middle = len(lines) // 2
    return [*lines[:middle], _with_cells(lines[middle], _worded), *lines[middle + 1 :]]


FAULTS: dict[str, Fault] = {
    "2013-03": Fault("a column was inserted before another one", inserted_column),
    "2013-05": Fault("two headers were swapped", swapped_headers),
    "2013-08": Fault("a row was delivered twice", repeated_key),
    "2013-11": Fault("a number was written as a word", bad_value),
}
"""The months whose first delivery is at fault."""


def _with_cells(line: str, change: Callable[[list[str]], list[str]]) -> str:
    text = line.rstrip("\r\n")
    return ",".join(change(text.split(","))) + line[len(text) :]  # no value of these files is quoted


def _inserted(cell: str) -> Callable[[list[str]], list[str]]:
    return lambda cells: [*cells[:_DELAY], cell, *cells[_DELAY:]]


def _swapped(cells: list[str]) -> list[str]:
    cells[_DELAY], cells[_ARRIVAL_DELAY] = cells[_ARRIVAL_DELAY], cells[_DELAY]
    return cells


def _worded(cells: list[str]) -> list[str]:
    return [*cells[:_DELAY], "late", *cells[_DELAY + 1 :]]
