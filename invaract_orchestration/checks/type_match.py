"""How a found type differs from the one that the contract names, and which differences a policy may let through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from invaract_orchestration.contract.field_types import (
    DOUBLE,
    FLOAT,
    INTEGERS,
    NANOSECONDS,
    Array,
    Decimal,
    FieldType,
    Map,
    Primitive,
    Struct,
)  # fmt: skip
from invaract_orchestration.errors import GateError


@dataclass(frozen=True, slots=True)
class TypeDifference:
    """One difference at a path such as `addr.zip`, `items.element` or `prices.value`.

    Missing and extra are fields of a struct; those of a struct in an array or map stand right below it (`items.zip`).
    `is_same_family` says whether the found type's values can be carried over value by value without loss.
    """

    kind: Literal["type", "order", "missing", "extra"]
    path: str
    expected: str = ""
    found: str = ""
    is_same_family: bool = False


def type_differences(path: str, expected: FieldType, found: FieldType | str) -> Iterator[TypeDifference]:
    """Every difference below a column, outermost first; none when the types are equal. A native name always differs."""
    match expected, found:
        case Struct(wanted), Struct(present):
            yield from _struct_differences(path, dict(wanted), dict(present))
        case Array(wanted_element), Array(element):
            yield from type_differences(_inner(path, "element", element), wanted_element, element)
        case Map(wanted_key, wanted_value), Map(key, value):
            yield from type_differences(f"{path}.key", wanted_key, key)
            yield from type_differences(_inner(path, "value", value), wanted_value, value)
        case _ if expected != found:
            yield TypeDifference("type", path, str(expected), str(found), _is_same_family(expected, found))


def _inner(path: str, part: str, found: FieldType) -> str:
    return path if isinstance(found, Struct) else f"{path}.{part}"


def _struct_differences(
    path: str, wanted: dict[str, FieldType], present: dict[str, FieldType]
) -> Iterator[TypeDifference]:
    for name in present:
        if name not in wanted:
            yield TypeDifference("extra", f"{path}.{name}", found=str(present[name]))
    for name, type_ in wanted.items():
        if name in present:
            yield from type_differences(f"{path}.{name}", type_, present[name])
        else:
            yield TypeDifference("missing", f"{path}.{name}", expected=str(type_))
    common = [name for name in wanted if name in present]
    found = [name for name in present if name in wanted]
    if common != found:
        yield TypeDifference("order", path, ", ".join(common), ", ".join(found), is_same_family=True)


def are_comparable(one: FieldType | str, other: FieldType | str) -> bool:
    """Whether values of the two types can be equal as they are, without one being turned into the other's form."""
    kinds = [
        "exact" if t in INTEGERS or isinstance(t, Decimal) else "float" if t in (FLOAT, DOUBLE) else str(t) for t in (one, other)
    ]
    return kinds[0] == kinds[1]


def check_reference_types(rule: str, pairs: Iterable[tuple[str, FieldType | str, str, FieldType | str]]) -> None:
    """Raises GateError when a column is compared with one of another kind, such as a text with a number."""
    for column, own, key, other in pairs:
        if not are_comparable(own, other):
            raise GateError(
                f"dataset rule {rule!r}: {column!r} is of type {own} and {key!r} of the other table of type {other}",
                code="dataset.reference_type", hint="declare the field with the type of the other column",
            )  # fmt: skip


def _is_same_family(expected: FieldType, found: FieldType | str) -> bool:
    match expected, found:
        case Primitive(), Primitive():
            return (expected in INTEGERS and found in INTEGERS) or (expected == DOUBLE and found == FLOAT)
        case Decimal(), Decimal():
            return True
        case Decimal(), Primitive():
            return found in INTEGERS
        case Primitive(), str():
            return NANOSECONDS.get(found) == expected
    return False
