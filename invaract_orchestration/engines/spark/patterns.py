"""Patterns of the RE2 subset as Java's matcher reads them alike.

Java ends a line at more characters than RE2, lets `$` match before a last line feed, counts the vertical tab as blank and
draws the border of a word by other letters.
"""

from __future__ import annotations

_BLANK = r"\t\n\f\r "
_WORD = "0-9A-Za-z_"
_BORDER = f"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))"
_INSIDE = f"(?:(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}]))"
_OUTSIDE_CLASS = {"s": f"[{_BLANK}]", "S": f"[^{_BLANK}]", "b": _BORDER, "B": _INSIDE}
_IN_CLASS = {"s": _BLANK, "S": f"[^{_BLANK}]"}


def whole(pattern: str) -> str:
    """A Java pattern that matches exactly the texts which the pattern matches from first to last character."""
    return rf"\A(?:{_translated(pattern)})\z"


def part(pattern: str) -> str:
    """A Java pattern that is found exactly where the pattern is found."""
    return _translated(pattern)


def _translated(pattern: str) -> str:
    out, at, in_class, is_multiline = ["(?d)"], 0, False, "(?m" in pattern or "(?im" in pattern or "(?sm" in pattern
    while at < len(pattern):
        c = pattern[at]
        if c == "\\" and pattern.startswith("\\Q", at) and not in_class:
            end = pattern.find("\\E", at)
            end = len(pattern) if end < 0 else end + 2
            out.append(pattern[at:end])
            at = end
            continue
        if c == "\\":
            known = _IN_CLASS if in_class else _OUTSIDE_CLASS
            out.append(known.get(pattern[at + 1 : at + 2], pattern[at : at + 2]))
            at += 2
            continue
        if in_class:
            in_class = c != "]"
        elif c == "[":
            in_class = True
        elif c == "$" and not is_multiline:
            c = r"\z"
        elif pattern.startswith("(?i", at) or pattern.startswith("(?mi", at) or pattern.startswith("(?si", at):
            out.append("(?u")  # letters outside of ASCII have a case too
            at += 2
            continue
        out.append(c)
        at += 1
    return "".join(out)
