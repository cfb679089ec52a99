"""The cells of one CSV record, read character by character until the record ends."""

from __future__ import annotations

from typing import Literal

_State = Literal["start", "plain", "quoted", "escaped", "closed", "done"]


class RecordReader:
    """Reads the first record of a text that comes in parts; what follows the record is kept in `rest`."""

    __slots__ = ("_cell", "_cells", "_delimiter", "_escape", "_quote", "_state", "length", "problem", "rest")

    def __init__(self, delimiter: str, quote: str, escape: str) -> None:
        self._delimiter, self._quote, self._escape = delimiter, quote, escape
        self._state: _State = "start"
        self._cell: list[str] = []
        self._cells: list[str] = []
        self.length = 0
        self.problem: str | None = None
        self.rest = ""

    @property
    def is_done(self) -> bool:
        """Whether the record has ended, or cannot be read."""
        return self._state == "done"

    def feed(self, text: str) -> None:
        """Read on until the record ends or the text does."""
        for at, character in enumerate(text):
            if self._state == "done":
                self.rest += text[at:]
                return
            self._take(character)
        self.length += len(text)

    def finish(self) -> list[str]:
        """The cells of the record; the text has no more characters."""
        if self._state in ("quoted", "escaped"):
            self._refuse("a quote is opened and never closed")
        elif self._state != "done":
            self._end_cell()
            self._state = "done"
        return self._cells

    def _take(self, character: str) -> None:
        match self._state:
            case "quoted":
                self._inside(character)
            case "escaped":
                self._cell += [character] if character in (self._quote, self._escape) else [self._escape, character]
                self._state = "quoted"
            case "closed" if character == self._quote == self._escape:
                self._cell.append(character)
                self._state = "quoted"
            case "start" if character == self._quote:
                self._state = "quoted"
            case _:
                self._outside(character)

    def _inside(self, character: str) -> None:
        if character == self._quote:
            self._state = "closed"
        elif character == self._escape:
            self._state = "escaped"
        else:
            self._cell.append(character)

    def _outside(self, character: str) -> None:
        if character == self._delimiter:
            self._end_cell()
            self._state = "start"
        elif character in "\r\n":
            self._end_cell()
            self._state = "done"
        elif self._state == "closed":
            self._refuse("text follows a closing quote")
        else:
            self._cell.append(character)
            self._state = "plain"

    def _end_cell(self) -> None:
        self._cells.append("".join(self._cell))
        self._cell.clear()

    def _refuse(self, what: str) -> None:
        self.problem = f"the first line is not well quoted: {what} in column {len(self._cells) + 1}"
        self._state = "done"
