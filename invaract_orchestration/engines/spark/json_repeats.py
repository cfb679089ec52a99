"""Objects that hold a key twice: Spark refuses all of the JSON around one, so it is put out of the text before it is read again.

A text is cut into tokens, and one walk over them finds the objects. Only texts that are JSON and were refused come here, so what
a clean batch takes does not grow by it.
"""

from __future__ import annotations

from invaract_orchestration.engines.spark import sql_text as q

_MARK = "\uf8ffr"
_TOKEN = r'"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"|[{}:]|[^"{}:]++'
_TOP = "element_at(s.open, -1)"
_OBJECT_BEGIN = q.text('{"r":')
_OPEN = "ARRAY<STRUCT<at: INT, keys: ARRAY<STRING>>>"
_FOUND = "ARRAY<STRUCT<begin: INT, end: INT>>"
_STRICT = (
    "map('allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false', 'allowComments', 'false', "
    "'allowUnquotedFieldNames', 'false', 'mode', 'PERMISSIVE')"
)


def is_json(text: str) -> str:
    """Whether a text that Spark makes no variant of is one JSON value all the same, an object; never null."""
    # What follows the value is an error inside of an array, or what closes the array is one inside of an object.
    read = f"from_json(concat('[', {text}, ']'), 'ARRAY<MAP<STRING, STRING>>', {_STRICT})"
    inside = f"from_json(concat({_OBJECT_BEGIN}, {text}, {q.text('}')}), 'MAP<STRING, STRING>', {_STRICT})"
    return (
        f"coalesce(json_object_keys({text}) IS NOT NULL AND size({read}) = 1 AND {read}[0] IS NOT NULL "
        f"AND {inside} IS NOT NULL, false)"
    )


def is_value(text: str) -> str:
    """Whether a text is one JSON value and nothing else, of any kind; null where there is no text."""
    listed = f"from_json(concat('[', {text}, ']'), 'ARRAY<STRING>', {_STRICT})"
    held = f"from_json(concat({_OBJECT_BEGIN}, {text}, {q.text('}')}), 'MAP<STRING, STRING>', {_STRICT})"
    return f"(size({listed}) = 1 AND {held} IS NOT NULL)"


def tokens(text: str) -> str:
    """The strings, braces and colons of a JSON text, and what stands between them."""
    return f"regexp_extract_all({text}, {q.text(_TOKEN)}, 0)"


def repeating(tokens: str) -> str:
    """Where each object that holds a key twice begins and ends among the tokens.

    A colon outside of a string stands behind a key of the object that was opened last.
    """
    keys = f"from_json(concat('[', array_join({_TOP}.keys, ','), ']'), 'ARRAY<STRING>')"
    is_once = f"size({_TOP}.keys) = size(array_distinct({keys}))"
    outer = "slice(s.open, 1, size(s.open) - 1)"
    begun = _object("x.at", "CAST(array() AS ARRAY<STRING>)")
    known = _object(f"{_TOP}.at", f"array_append({_TOP}.keys, s.last)")
    found = f"CASE WHEN {is_once} THEN s.found ELSE array_append(s.found, named_struct('begin', {_TOP}.at, 'end', x.at)) END"
    step = (
        f"CASE WHEN x.t = '{{' THEN {_state(open_=f'array_append(s.open, {begun})')} "
        f"WHEN x.t = ':' THEN {_state(open_=f'array_append({outer}, {known})')} "
        f"WHEN x.t = '}}' THEN {_state(open_=outer, found=found)} "
        f"WHEN startswith(x.t, {q.text(chr(34))}) THEN {_state(last='x.t')} ELSE s END"
    )
    zero = _state("''", f"CAST(array() AS {_OPEN})", f"CAST(array() AS {_FOUND})")
    placed = f"transform({tokens}, (t, i) -> named_struct('t', t, 'at', i))"
    return f"aggregate({placed}, {zero}, (s, x) -> {step}, s -> s.found)"


def _state(last: str = "s.last", open_: str = "s.open", found: str = "s.found") -> str:
    return f"named_struct('last', {last}, 'open', {open_}, 'found', {found})"


def _object(at: str, keys: str) -> str:
    return f"named_struct('at', {at}, 'keys', {keys})"


def marked(tokens: str, found: str) -> str:
    """The text with a mark in the place of each object that was found; it is an object that no type takes."""
    inside = f"exists({found}, o -> i > o.begin AND i <= o.end)"
    begins = f"exists({found}, o -> i = o.begin)"
    mark = q.text('{"' + _MARK + '":true}')
    each = f"CASE WHEN {inside} THEN '' WHEN {begins} THEN {mark} ELSE t END"
    return f"array_join(transform({tokens}, (t, i) -> {each}), '')"


def is_marked(j: str) -> str:
    """Whether a variant is such a mark; never null."""
    return f"coalesce(try_variant_get({j}, {q.text('$.' + _MARK)}, 'boolean'), false)"
