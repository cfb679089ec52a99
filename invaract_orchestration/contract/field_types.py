"""The types a field can have, one meaning on every engine.

Source of the names: Spark SQL's type names, which Delta tables store; the aliases are the spellings people write.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_DECIMAL_PRECISION = 38
MAX_NESTING = 30
_MAX_LENGTH = 20_000


class TypeSyntaxError(ValueError):
    """A type's text that names no type; the message says what was expected."""


@dataclass(frozen=True, slots=True)
class Primitive:
    """A type without parameters: string, boolean, a number, a date, a timestamp or binary."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Decimal:
    """An exact number of at most `precision` digits, `scale` of them after the point."""

    precision: int
    scale: int

    def __post_init__(self) -> None:
        if not 1 <= self.precision <= MAX_DECIMAL_PRECISION or not 0 <= self.scale <= self.precision:
            raise TypeSyntaxError(
                f"decimal({self.precision},{self.scale}) is not possible: precision is 1 to "
                f"{MAX_DECIMAL_PRECISION} and scale 0 to precision"
            )

    def __str__(self) -> str:
        return f"decimal({self.precision},{self.scale})"


@dataclass(frozen=True, slots=True)
class Array:
    """A list of values of one type."""

    element: FieldType

    def __str__(self) -> str:
        return f"array<{self.element}>"


@dataclass(frozen=True, slots=True)
class Map:
    """Keys of one type, each with a value of another; a key is never null."""

    key: FieldType
    value: FieldType

    def __str__(self) -> str:
        return f"map<{self.key},{self.value}>"


@dataclass(frozen=True, slots=True)
class Struct:
    """Named fields in an order; names are taken literally."""

    fields: tuple[tuple[str, FieldType], ...]

    def __str__(self) -> str:
        return "struct<" + ",".join(f"{_quoted(name)}:{type_}" for name, type_ in self.fields) + ">"


FieldType = Primitive | Decimal | Array | Map | Struct

STRING = Primitive("string")
BOOLEAN = Primitive("boolean")
TINYINT = Primitive("tinyint")
SMALLINT = Primitive("smallint")
INT = Primitive("int")
BIGINT = Primitive("bigint")
FLOAT = Primitive("float")
DOUBLE = Primitive("double")
DATE = Primitive("date")
TIMESTAMP = Primitive("timestamp")
TIMESTAMP_NTZ = Primitive("timestamp_ntz")
BINARY = Primitive("binary")

PRIMITIVES: tuple[Primitive, ...] = (
    STRING, BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DATE, TIMESTAMP, TIMESTAMP_NTZ, BINARY,
)  # fmt: skip
INTEGERS: tuple[Primitive, ...] = (TINYINT, SMALLINT, INT, BIGINT)
INTEGER_BITS = {TINYINT: 8, SMALLINT: 16, INT: 32, BIGINT: 64}
FLOATS: tuple[Primitive, ...] = (FLOAT, DOUBLE)
NANOSECONDS: dict[str, Primitive] = {f"{t.name} in nanoseconds": t for t in (TIMESTAMP, TIMESTAMP_NTZ)}
"""What a Parquet file may hold and no field can be, by how it is told: the type that its whole microseconds are values of."""

ALIASES = {
    "str": "string", "text": "string", "bool": "boolean", "byte": "tinyint", "short": "smallint",
    "integer": "int", "int32": "int", "long": "bigint", "int64": "bigint", "int16": "smallint", "int8": "tinyint",
    "real": "float", "float32": "float", "float64": "double", "timestamp_ltz": "timestamp", "timestamptz": "timestamp",
    "bytes": "binary", "numeric": "decimal", "dec": "decimal", "list": "array", "row": "struct",
}  # fmt: skip
_HINTS = {
    "varchar": "write string, with max_length for the length",
    "char": "write string, with max_length for the length",
    "datetime": "write timestamp (an instant) or timestamp_ntz (a wall clock)",
    "number": "write decimal(p,s), bigint or double",
    "object": "write struct<name:type,...>",
}
_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|[A-Za-z_][\w.\- ]*?(?=\s*[<>(),:]|\s*$)|\d+|[<>(),:])")
_WORD = re.compile(r"[A-Za-z_]\w*\Z")


def _quoted(name: str) -> str:
    return name if _WORD.match(name) else "`" + name.replace("`", "``") + "`"


def inner_fields(type_: FieldType) -> tuple[tuple[str, FieldType], ...]:
    """The named fields that a struct, the elements of an array or the values of a map have; none for other types."""
    match type_:
        case Struct(fields):
            return fields
        case Array(element):
            return inner_fields(element)
        case Map(_, value):
            return inner_fields(value)
    return ()


def type_names() -> tuple[str, ...]:
    """Every name a type may start with, canonical names first."""
    return (*(p.name for p in PRIMITIVES), "decimal", "array", "map", "struct", *ALIASES)


def parse_type(text: str) -> FieldType:
    """The type that a text such as `decimal(10,2)` or `struct<zip:string>` names.

    Letter case and blanks do not matter outside of backquoted names. A bare `decimal` is `decimal(10,0)`, as in Spark.

    Raises:
        TypeSyntaxError: the text names no type; the message never repeats more than the text itself.
    """
    if len(text) > _MAX_LENGTH:
        raise TypeSyntaxError(f"the type is longer than {_MAX_LENGTH:,} characters")
    reader = _Reader(text)
    parsed = reader.type_()
    reader.end()
    return parsed


class _Reader:
    """A cursor over the tokens of one type text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[str] = []
        at = 0
        while at < len(text.rstrip()):
            match = _TOKEN.match(text, at)
            if match is None:
                raise TypeSyntaxError(f"{text!r} is not a type: unexpected character {text[at]!r}")
            self._tokens.append(match.group(1).strip())
            at = match.end()
        self._at = 0
        self._depth = 0

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, expected: str | None = None) -> str:
        token = self._peek()
        if not token or (expected is not None and token != expected):
            wanted = repr(expected) if expected else "a name"
            raise TypeSyntaxError(f"{self._text!r} is not a type: expected {wanted}, found {token or 'its end'!r}")
        self._at += 1
        return token

    def end(self) -> None:
        if self._peek():
            raise TypeSyntaxError(f"{self._text!r} is not a type: unexpected {self._peek()!r} after it")

    def type_(self) -> FieldType:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise TypeSyntaxError(f"the type is nested deeper than {MAX_NESTING} levels")
        found = self._named_type()
        self._depth -= 1
        return found

    def _named_type(self) -> FieldType:
        written = self._take()
        name = ALIASES.get(written.lower(), written.lower())
        match name:
            case "decimal":
                return self._decimal()
            case "array":
                self._take("<")
                element = self.type_()
                self._take(">")
                return Array(element)
            case "map":
                self._take("<")
                key = self.type_()
                self._take(",")
                value = self.type_()
                self._take(">")
                return Map(key, value)
            case "struct":
                return self._struct()
        found = next((p for p in PRIMITIVES if p.name == name), None)
        if found is None:
            hint = _HINTS.get(name)
            raise TypeSyntaxError(f"{written!r} is not a type" + (f": {hint}" if hint else ""))
        return found

    def _decimal(self) -> Decimal:
        if self._peek() != "(":
            return Decimal(10, 0)
        self._take("(")
        precision = self._number()
        scale = 0
        if self._peek() == ",":
            self._take(",")
            scale = self._number()
        self._take(")")
        return Decimal(precision, scale)

    def _number(self) -> int:
        token = self._take()
        if not token.isascii() or not token.isdigit() or len(token) > 4:
            raise TypeSyntaxError(f"{self._text!r} is not a type: expected a number, found {token!r}")
        return int(token)

    def _struct(self) -> Struct:
        self._take("<")
        fields: list[tuple[str, FieldType]] = []
        while True:
            name = self._take()
            if name.startswith("`"):
                name = name[1:-1].replace("``", "`")
            if name.lower() in {known.lower() for known, _ in fields}:
                raise TypeSyntaxError(f"{self._text!r} is not a type: field {name!r} is there twice")
            self._take(":")
            fields.append((name, self.type_()))
            if self._peek() != ",":
                break
            self._take(",")
        self._take(">")
        return Struct(tuple(fields))
