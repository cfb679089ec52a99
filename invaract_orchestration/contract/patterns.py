"""Regular expressions that mean the same on every engine: the subset of RE2 that java.util.regex reads alike.

Source of the syntax: RE2's own list (github.com/google/re2/wiki/Syntax). What Java reads differently is refused too.
"""

from __future__ import annotations

import re

MAX_REPEAT = 1000
MAX_LENGTH = 2000
_LETTERS = "aAbBdDfnQrsStwWxzpP"
_LITERAL_ESCAPES = frozenset("\\.^$|?*+()[]{}-/&~#@%!\"',:;<=>_` ")
_HEX = re.compile(r"\\x(?:[0-9A-Fa-f]{2}|\{(?:10|[0-9A-Fa-f])?[0-9A-Fa-f]{1,4}\})")
_PROPERTY = re.compile(r"\\[pP](?:\{(?:[A-Z][a-z]?)\}|[LMNPSZC])")
_REPEAT = re.compile(r"\{(\d+)(,(\d*))?\}", re.ASCII)
_GROUP = re.compile(r"\(\?(?:[ims]+(?:-[ims]+)?|-[ims]+)?:|\(\?(?:[ims]+(?:-[ims]+)?|-[ims]+)\)", re.ASCII)
_REFUSED_GROUPS = (
    ("(?=", "a look-ahead"), ("(?!", "a look-ahead"), ("(?<=", "a look-behind"), ("(?<!", "a look-behind"),
    ("(?>", "an atomic group"), ("(?P=", "a back reference"), ("(?P<", "a named group"), ("(?<", "a named group"),
    ("(?#", "a comment"), ("(?(", "a condition"), ("(?|", "a branch reset"),
)  # fmt: skip
_REFUSED_ESCAPES = {
    "k": "a back reference", "g": "a back reference", "Z": "\\Z, the end with or without a newline", "G": "\\G",
    "K": "\\K", "R": "\\R", "X": "\\X", "h": "\\h", "H": "\\H", "v": "\\v", "V": "\\V", "N": "\\N", "u": "\\u",
    "U": "\\U", "c": "a control escape", "e": "\\e", "C": "\\C",
}  # fmt: skip


class PatternError(ValueError):
    """A pattern outside of the subset; `offset` is the character at which it leaves it."""

    def __init__(self, sentence: str, offset: int, hint: str | None = None) -> None:
        self.offset = offset
        self.hint = hint
        super().__init__(f"{sentence} at character {offset + 1}")


def check_pattern(pattern: str) -> None:
    """Refuse a pattern that RE2 cannot run or that Java would read in another way.

    Raises:
        PatternError: with the place and what stands there.
    """
    if len(pattern) > MAX_LENGTH:
        raise PatternError(f"the pattern is longer than {MAX_LENGTH} characters", MAX_LENGTH)
    _Scanner(pattern).run()


class _Scanner:
    """One pass over a pattern; keeps for each open group where it began and how often its content may repeat."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.open: list[tuple[int, int]] = []
        self.repeats = 1
        """The largest product of nested counted repeats inside the group that is open."""
        self.last: int | None = None
        """The repeats inside of the atom before; none where there is nothing to repeat."""

    def run(self) -> None:
        while self.at < len(self.pattern):
            self._step(self.pattern[self.at])
        if self.open:
            raise PatternError("a group '(' is not closed", self.open[-1][0])

    def _refuse(self, what: str, hint: str | None = None) -> PatternError:
        return PatternError(f"{what} is not in the RE2 subset", self.at, hint)

    def _atom(self, width: int, repeats: int | None = 1) -> None:
        self.at += width
        self.last = repeats

    def _step(self, c: str) -> None:
        if c == "(":
            self._group()
        elif c == ")":
            self._close()
        elif c == "[":
            self._class()
        elif c == "\\":
            self._escape()
        elif c in "*+?{":
            self._repeat(c)
        elif c in "|^$":
            self._atom(1, None)
        elif c in "]}":
            raise self._refuse(f"a lone '{c}'", f"write '\\{c}' for the character itself")
        else:
            self._atom(1)

    def _group(self) -> None:
        if self.pattern.startswith("(?", self.at):
            match = _GROUP.match(self.pattern, self.at)
            if match is None:
                rest = self.pattern[self.at :]
                what = next((name for sign, name in _REFUSED_GROUPS if rest.startswith(sign)), f"{rest[:3]!r}")
                raise self._refuse(what, "a rule of `quality.row_rules` can say what a pattern cannot")
            if match.group().endswith(")"):
                self._atom(match.end() - self.at, None)
                return
            width = match.end() - self.at
        else:
            width = 1
        self.open.append((self.at, self.repeats))
        self.repeats = 1
        self._atom(width, None)

    def _close(self) -> None:
        if not self.open:
            raise self._refuse("a ')' without its '('", "write '\\)' for the character itself")
        inside = self.repeats
        self.repeats = max(self.open.pop()[1], inside)
        self._atom(1, inside)

    def _repeat(self, c: str) -> None:
        if self.last is None:
            hint = f"write '\\{c}' for the character itself"
            raise PatternError(f"'{c}' has nothing to repeat", self.at, hint)
        width, most = 1, 1
        if c == "{":
            match = _REPEAT.match(self.pattern, self.at)
            if match is None:
                raise self._refuse("a '{' that is no repeat such as {2,5}", "write '\\{' for the character itself")
            width, most = match.end() - self.at, self._bound(match)
        repeats = self.last * max(most, 1)
        if repeats > MAX_REPEAT:
            raise PatternError(f"repeats of more than {MAX_REPEAT}, counting nested ones, stand", self.at)
        self.repeats = max(self.repeats, repeats)
        self._atom(width, None)
        following = self.pattern[self.at : self.at + 1]
        if following == "+":
            raise self._refuse("a possessive repeat", "leave the second '+' out")
        if following == "?":
            self.at += 1

    def _bound(self, match: re.Match[str]) -> int:
        low = int(match.group(1)[:6])
        high = int(match.group(3)[:6]) if match.group(3) else low
        if high < low:
            raise PatternError(f"the repeat {match.group()} has its bounds in the wrong order", self.at)
        return high

    def _escape(self) -> None:
        following = self.pattern[self.at + 1 : self.at + 2]
        if following == "Q":
            end = self.pattern.find("\\E", self.at + 2)
            if end <= self.at + 2:
                raise self._refuse("an empty or unclosed \\Q", "close it with \\E")
            self._atom(end + 2 - self.at)
            return
        width = self._escape_width(in_class=False)
        self._atom(width, None if following in "AbBz" else 1)

    def _escape_width(self, *, in_class: bool) -> int:
        following = self.pattern[self.at + 1 : self.at + 2]
        if not following:
            raise self._refuse("a '\\' at the end", "write '\\\\' for the character itself")
        if following in "pPx":
            match = (_HEX if following == "x" else _PROPERTY).match(self.pattern, self.at)
            if match is None:
                raise self._refuse(f"this form of '\\{following}'", "forms: \\x41, \\x{20AC}, \\pL, \\p{Lu}")
            return match.end() - self.at
        if following.isdigit():
            raise self._refuse("a back reference" if following != "0" else "an octal escape")
        if following in _REFUSED_ESCAPES:
            raise self._refuse(_REFUSED_ESCAPES[following])
        if following in _LETTERS and not (in_class and following in "AbBzQ"):
            return 2
        if following not in _LITERAL_ESCAPES:
            raise self._refuse(f"'\\{following}'", "escape only what has a meaning of its own")
        return 2

    def _class(self) -> None:
        start = self.at
        self.at += 2 if self.pattern.startswith("[^", self.at) else 1
        low: str | None = None
        is_first = True
        while True:
            c = self.pattern[self.at : self.at + 1]
            if not c:
                raise PatternError("a class '[' is not closed", start)
            if c == "]":
                if is_first:
                    raise self._refuse("a ']' at the start of a class", "write '\\]' for the character itself")
                break
            low = self._member(c, low)
            is_first = False
        self._atom(1)

    def _member(self, c: str, low: str | None) -> str | None:
        """Take one member of a class; gives what a range could begin with."""
        if c == "[" or self.pattern.startswith("&&", self.at):
            what = "'['" if c == "[" else "'&&'"
            raise self._refuse(f"{what} inside a class", "write '\\[' or '\\&' for the character itself")
        if c == "-" and low is not None and self.pattern[self.at + 1 : self.at + 2] not in ("]", ""):
            self.at += 1
            self._range(low)
            return None
        width = self._escape_width(in_class=True) if c == "\\" else 1
        text = self.pattern[self.at : self.at + width]
        self.at += width
        return _single(text)

    def _range(self, low: str) -> None:
        c = self.pattern[self.at]
        if c == "[":
            raise self._refuse("'[' inside a class", "write '\\[' for the character itself")
        width = self._escape_width(in_class=True) if c == "\\" else 1
        high = _single(self.pattern[self.at : self.at + width])
        if high is None or high < low:
            raise PatternError("a range of a class does not go from a lower to a higher character", self.at)
        self.at += width


def _single(text: str) -> str | None:
    """The one character that a class member stands for, or none where it stands for several."""
    if len(text) == 1:
        return text
    if text.startswith("\\x"):
        return chr(int(text[2:].strip("{}"), 16))
    return {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "a": "\a"}.get(text[1], None if text[1].isalpha() else text[1])


_UNBOUNDED = re.compile(r"(?<!\\)(?:[*+]|\{\d+,\})")
_QUANTIFIED_GROUP = re.compile(r"\)[*+{]")
_OWN_TO_RE2 = re.compile(r"\\[pPQzx]|\(\?[imsU-]+\)")
_MAX_TRIED = 200


def find_refusal(pattern: str, value: str) -> bool | None:
    """Whether the pattern, anchored at both ends, refuses the value; none where that cannot be told cheaply.

    Python's own matcher backtracks, so patterns that could make it slow, or that it spells differently, are not tried.
    """
    if len(value) > _MAX_TRIED or _OWN_TO_RE2.search(pattern) or _QUANTIFIED_GROUP.search(pattern):
        return None
    if len(_UNBOUNDED.findall(pattern)) > 2:
        return None
    try:
        return re.compile(f"(?:{pattern})", re.ASCII).fullmatch(value) is None
    except (re.error, OverflowError):
        return None
