"""Problems of one contract with their places, gathered until all of them are known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from invaract_orchestration.contract.yaml_tree import Mark, Node, ScalarNode
from invaract_orchestration.errors import Problem

Path = tuple[str | int, ...]
"""Where a value stands in the model: attribute names and list positions."""

_LONGEST_SHOWN = 80


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like the given one, or none that is like it; letter case does not matter."""
    by_lower = {k.lower(): k for k in known}
    found = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def quoted_list(names: Iterable[str]) -> str:
    """Names sorted and quoted, for a message."""
    return ", ".join(f"'{n}'" for n in sorted(names))


def shown(text: str) -> str:
    """A text of the contract, quoted and cut to what fits a message."""
    return repr(text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "...")


def suggest(word: str, known: Iterable[str], what: str) -> str:
    """A hint: the nearest known word, and otherwise all of them."""
    names = list(known)
    like = nearest(word, names)
    if like is not None:
        return f"did you mean '{like}'?"
    return f"{what}: {quoted_list(names)}" if names else f"there is no {what}"


class Report:
    """Collects problems; knows for each path of the model where it was written and how it is called in the file."""

    def __init__(self, file: str | None) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self._marks: dict[Path, Mark] = {}
        self._scalars: dict[Path, ScalarNode] = {}
        self._labels: dict[Path, str] = {(): ""}
        self._unsound: set[Path] = set()

    def locate(self, path: Path, node: Node, label: str) -> None:
        """Remember where the value of a path stands and how its place is called."""
        self._marks[path] = node.at
        self._labels[path] = label
        if isinstance(node, ScalarNode):
            self._scalars[path] = node

    def places(self) -> dict[Path, tuple[int, int]]:
        """Line and column of every part that was written."""
        return {path: (mark.line, mark.column) for path, mark in self._marks.items()}

    def label(self, path: Path) -> str:
        """How a place is called in the file, such as `fields.status.allowed`."""
        known = path
        while known not in self._labels:
            known = known[:-1]
        rest = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path[len(known) :])
        return (self._labels[known] + rest).removeprefix(".")

    def is_sound(self, path: Path) -> bool:
        """Whether nothing was found wrong at the path or beneath it."""
        return path not in self._unsound

    def add(
        self, path: Path, message: str, *, hint: str | None = None, code: str = "contract.invalid",
        at: Mark | None = None, offset: int = 0,
    ) -> None:  # fmt: skip
        """Record a problem at a path; `offset` is the character of its text at which it stands."""
        for end in range(len(path) + 1):
            self._unsound.add(path[:end])
        mark = at or self._mark(path, offset)
        self.problems.append(
            Problem(
                message=message, path=self.label(path), file=self.file, hint=hint, code=code,
                line=mark.line if mark else None, column=mark.column if mark else None,
            )
        )  # fmt: skip

    def _mark(self, path: Path, offset: int) -> Mark | None:
        scalar = self._scalars.get(path)
        if scalar is not None and offset and scalar.is_on_one_line:
            return Mark(scalar.at.line, scalar.at.column + offset + (0 if scalar.is_plain else 1))
        known = path
        while known and known not in self._marks:
            known = known[:-1]
        return self._marks.get(known)

    def sorted_problems(self) -> tuple[Problem, ...]:
        """All problems in the order of the file, each once."""
        unique = dict.fromkeys(self.problems)
        return tuple(sorted(unique, key=lambda p: (p.line or 0, p.column or 0)))
