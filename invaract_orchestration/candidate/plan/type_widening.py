"""Which casts lose nothing, and the type in which two others meet."""

from __future__ import annotations

from invaract_orchestration.contract.field_types import (
    DATE,
    DOUBLE,
    FLOAT,
    FLOATS,
    INTEGER_BITS,
    INTEGERS,
    MAX_DECIMAL_PRECISION,
    TIMESTAMP,
    Array,
    Decimal,
    FieldType,
    Map,
    Primitive,
    Struct,
)

_DIGITS = {8: 3, 16: 5, 32: 10, 64: 19}
# Spark gives a bigint twenty digits when it meets a decimal
_DECIMAL_OF_BITS = {8: Decimal(3, 0), 16: Decimal(5, 0), 32: Decimal(10, 0), 64: Decimal(20, 0)}


def is_lossless(source: FieldType, target: FieldType) -> bool:
    """Whether every value keeps its meaning: a wider number, float to double, date to timestamp, the same type."""
    if source == target:
        return True
    match source, target:
        case Decimal(), Decimal():
            return source.scale <= target.scale and _whole(source) <= _whole(target)
        case Primitive(), Decimal() if source in INTEGER_BITS:
            return _DIGITS[INTEGER_BITS[source]] <= _whole(target)
        case Primitive(), Primitive() if source in INTEGER_BITS and target in INTEGER_BITS:
            return INTEGER_BITS[source] <= INTEGER_BITS[target]
        case Array(), Array():
            return is_lossless(source.element, target.element)
        case Map(), Map():
            return is_lossless(source.key, target.key) and is_lossless(source.value, target.value)
        case Struct(), Struct():
            return len(source.fields) == len(target.fields) and all(
                a.lower() == b.lower() and is_lossless(s, t) for (a, s), (b, t) in zip(source.fields, target.fields, strict=True)
            )
    return (source, target) in ((FLOAT, DOUBLE), (DATE, TIMESTAMP))


def common_type(left: FieldType, right: FieldType) -> FieldType | None:
    """The type in which the branches of a set operation meet, or null when only a lossy cast brings them together."""
    if is_lossless(left, right):
        return right
    if is_lossless(right, left):
        return left
    one, other = as_decimal(left), as_decimal(right)
    if one is not None and other is not None:
        scale = max(one.scale, other.scale)
        precision = max(_whole(one), _whole(other)) + scale
        return Decimal(precision, scale) if precision <= MAX_DECIMAL_PRECISION else None
    if all(t in FLOATS or t in INTEGERS or isinstance(t, Decimal) for t in (left, right)):
        return DOUBLE
    return None


def as_decimal(type_: FieldType) -> Decimal | None:
    """The decimal that a number counts as when it meets one; null for a float, and for what is no number."""
    if isinstance(type_, Decimal):
        return type_
    bits = INTEGER_BITS.get(type_) if isinstance(type_, Primitive) else None
    return None if bits is None else _DECIMAL_OF_BITS[bits]


def _whole(type_: Decimal) -> int:
    return type_.precision - type_.scale
