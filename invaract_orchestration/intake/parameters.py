"""Names that come from outside (parameters, ids), checked before any becomes a path, and the places that they fill."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from invaract_orchestration.contract.literals import canonical_literal
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.errors import UsageError
from invaract_orchestration.intake.column_names import nearest
from invaract_orchestration.intake.wording import quoted, quoted_list

LONGEST = 200
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\Z")
_MARKS = frozenset("_-.:+@=,|~")
_HINT = f"use letters, digits and {' '.join(sorted(_MARKS))}, at most {LONGEST} characters, without '..' and '--'"


class UnsafeName(UsageError):
    """An id or a parameter that could leave its place: a path, SQL, markup, a pattern or control characters in it."""

    code = "input.unsafe_name"


class UnfitValue(UnsafeName):
    """A parameter whose value is none of the column that it stands for: the slice would have a name that no row has."""

    code = "input.unfit_parameter"


def check_identifier(kind: str, text: str) -> str:
    """The text itself when it is safe as an id or a parameter's value; `kind` says in the message what it is.

    Raises:
        UnsafeName: the text is empty, too long, or holds a character or sequence that is not allowed.
        UsageError: it is no text: a number or a date could be written in more than one way.
    """
    if not isinstance(text, str):
        found = type(text).__name__
        raise UsageError(f"{kind} is of type {found}, and only a text is taken", hint="give it as a text, such as '2026'")
    reason = _reason(text)
    if reason is not None:
        raise UnsafeName(f"{kind} {quoted(text)} is not allowed: {reason}", hint=_HINT)
    return text


def _reason(text: str) -> str | None:
    if not text:
        return "it is empty"
    if len(text) > LONGEST:
        return f"it has {len(text)} characters, more than {LONGEST}"
    for position, character in enumerate(text, 1):
        if character not in _MARKS and unicodedata.category(character)[0] not in "LN":
            return f"character {position} (U+{ord(character):04X}) is not one of the allowed ones"
    if unicodedata.normalize("NFC", text) != text:
        return "it is not in Unicode's composed form (NFC)"
    if ".." in text or text == ".":
        return "it holds a step of a path"
    if "--" in text:
        return "it holds '--', which starts a comment in SQL"
    return None


def placeholders(text: str) -> tuple[str, ...]:
    """The names in braces in a text, each once, in the order written."""
    return tuple(dict.fromkeys(_PLACEHOLDER.findall(text)))


def fill(location: str, parameters: Mapping[str, str]) -> str:
    """The location with every `{name}` replaced by that parameter's value, each value checked before.

    A parameter that this text does not use is no mistake here, as another place may: see `check_parameters`.

    Raises:
        UsageError: a placeholder has no parameter (all missing names are said), or a brace is left that is none.
        UnsafeName: a name or a value is not safe.
    """
    _check_names_and_values(parameters)
    _check_missing(placeholders(location), parameters)
    rest = _PLACEHOLDER.sub("", location)
    if "{" in rest or "}" in rest:
        raise UsageError(
            f"location {quoted(location, 200)} holds a brace that is not part of a {{name}}",
            hint="a placeholder is a name in braces: letters, digits and '_'; a pattern in braces is not supported",
        )
    return _PLACEHOLDER.sub(lambda match: parameters[match.group(1)], location)


def check_parameters(parameters: Mapping[str, str], *texts: str) -> None:
    """Every parameter is used by one of the texts, and every placeholder of them has one.

    Raises:
        UsageError: names every missing or unknown parameter.
        UnsafeName: a name or a value is not safe.
    """
    _check_names_and_values(parameters)
    wanted = tuple(dict.fromkeys(name for text in texts for name in placeholders(text)))
    _check_missing(wanted, parameters)
    unknown = sorted(set(parameters) - set(wanted))
    if unknown:
        known = f"known: {quoted_list(sorted(wanted))}" if wanted else "the contract has no placeholder"
        raise UsageError(f"parameter {quoted_list(unknown)} is used nowhere in the contract", hint=known)


def check_partition(contract: Contract) -> None:
    """Every value of the declared partition, its parameters filled in, is written in the form of its column's type.

    Raises:
        UnfitValue: one is not, such as 2026-02-30 for a date or 007 for a whole number.
    """
    for column, value in (contract.publish.partition if contract.publish is not None else {}).items():
        spec = contract.field(column)
        try:
            if spec is not None:
                canonical_literal(value, spec.type)
        except ValueError as error:
            hint = "give the parameter in the form of the column's type"
            raise UnfitValue(f"partition {quoted(column)}: {error}", hint=hint) from None


def _check_names_and_values(parameters: Mapping[str, str]) -> None:
    for name, value in parameters.items():
        if not _NAME.match(name):
            raise UnsafeName(
                f"parameter name {quoted(name)} is not allowed", hint="use letters, digits and '_', a letter first"
            )
        check_identifier(f"the value of parameter {quoted(name)}", value)


def _check_missing(wanted: tuple[str, ...], parameters: Mapping[str, str]) -> None:
    missing = [name for name in wanted if name not in parameters]
    if not missing:
        return
    close = nearest(missing[0], parameters)
    given = f"given: {quoted_list(sorted(parameters))}" if parameters else "no parameter is given"
    raise UsageError(
        f"parameter {quoted_list(missing)} is needed and not given",
        hint=f"{given}" + (f"; did you mean {quoted(missing[0])} for {quoted(close)}?" if close else ""),
    )
