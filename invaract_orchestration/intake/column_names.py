"""Names compared in every way in which two of them can look alike."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from invaract_orchestration.contract.fields import fold as fold
from invaract_orchestration.intake.wording import LONGEST_SHOWN, listed

Relation = Literal["same", "case", "whitespace", "look_alike"]

_WHITESPACE = " \t\r\n"
_MOST_COMPARED = 500

# Letters of other scripts that most fonts draw like a Latin one (a part of Unicode's confusables), and dashes.
_LOOK_ALIKE = str.maketrans(
    "АВЕКМНОРСТУХЅІЈԚԜаеорсухѕіјԁԛԝһӏвкмнт" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαονρικυτχ" + "ϲıɡℓօսհո‐‑‒–—―−﹘﹣－",
    "ABEKMHOPCTYXSIJQWaeopcyxsijdqwhlbkmht" + "ABEZHIKMNOPTYXaovpikutx" + "ciglouhn----------",
)
_VALUE_LIKE = re.compile(
    r"[\s+\-.,:/%€$£()]*\d[\d\s+\-.,:/%€$£()eE]*"  # numbers, dates, times, phone numbers
    r"|\d{4}-\d\d-\d\d[T ]\S+|\S+@\S+\.\S+|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
)


def code_points(name: str) -> str:
    """Where a name has characters that the eye cannot tell: `U+0430 at character 1`."""
    unusual = [f"U+{ord(c):04X} at character {i}" for i, c in enumerate(name, 1) if not " " < c <= "~"]
    return listed(unusual)


def is_value_like(name: str) -> bool:
    """Whether a name is written like a number, a date, an address or an identifier, so that it may be data."""
    return _VALUE_LIKE.fullmatch(name.strip()[:LONGEST_SHOWN]) is not None


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The closest of the names, or none that is close."""
    candidates = islice((n for n in names if len(n) <= LONGEST_SHOWN), _MOST_COMPARED)
    by_fold = {fold(n): n for n in candidates}
    found = difflib.get_close_matches(fold(name[:LONGEST_SHOWN]), by_fold, n=1, cutoff=0.6)
    return by_fold[found[0]] if found else None


def _trimmed(name: str) -> str:
    text = name.strip(_WHITESPACE)
    is_wrapped = len(text) > 2 and text[0] == text[-1] and text[0] in "\"'"
    return (text[1:-1].strip(_WHITESPACE) if is_wrapped else text).casefold()


def _skeleton(name: str) -> str:
    """The name without what the eye does not see, in plain letters."""
    plain = unicodedata.normalize("NFKC", name.translate(_LOOK_ALIKE))
    spaced = " ".join(plain.split())
    visible = "".join(c for c in spaced if unicodedata.category(c) not in ("Cf", "Cc"))
    return unicodedata.normalize("NFKC", visible.strip().translate(_LOOK_ALIKE)).casefold()


@dataclass(frozen=True, slots=True)
class NameIndex:
    """Known names, findable by what they are and by what they look like."""

    exact: frozenset[str]
    by_case: dict[str, str]
    by_trimmed: dict[str, str]
    by_skeleton: dict[str, str]

    @classmethod
    def of(cls, names: Iterable[str]) -> NameIndex:
        """The index of these names; of two that look alike, the first is found."""
        known = list(names)[::-1]
        return cls(
            frozenset(known),
            {n.casefold(): n for n in known},
            {_trimmed(n): n for n in known},
            {_skeleton(n): n for n in known},
        )

    def find(self, name: str) -> tuple[str, Relation] | None:
        """The known name that this one is or looks like, and in which way; none when it is another name."""
        if name in self.exact:
            return name, "same"
        if (found := self.by_case.get(name.casefold())) is not None:
            return found, "case"
        if (trimmed := self.by_trimmed.get(_trimmed(name))) is not None and _trimmed(name):
            return trimmed, "whitespace"
        alike = self.by_skeleton.get(_skeleton(name))
        return (alike, "look_alike") if alike is not None and _skeleton(name) else None
