"""How wide the numbers of an expression are: where engines would round, or compare in different widths, it is refused."""

from __future__ import annotations

from sqlglot import exp

from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract.expression_names import Columns, ExpressionError, column_type, first_offset

CALCULATED = (exp.Mul, exp.Div, exp.Mod)
_WHOLE_DIGITS = {ft.TINYINT: 3, ft.SMALLINT: 5, ft.INT: 10, ft.BIGINT: 19}


def two_widths(values: list[exp.Expr], columns: Columns) -> ExpressionError | None:
    """A float of 32 bits and a decimal meet in 64 bits on one engine, in 32 on another: 0.1 is equal to itself on one alone."""
    single = next((v for v in values if _is_single(v, columns)), None)
    if single is None or not any(number_digits(v, columns) and _is_decimal(v, columns) for v in values):
        return None
    message = "a float meets a decimal, which engines compare in different widths"
    hint = "write cast(... AS double) around it, or the number as 1e-1"
    return ExpressionError(message, offset=first_offset(single), hint=hint)


def _is_single(node: exp.Expr, columns: Columns) -> bool:
    """Whether a number is known to be a float of 32 bits."""
    node = node.unnest()
    if isinstance(node, exp.Column):
        return column_type(node, columns) == ft.FLOAT
    if isinstance(node, exp.Cast | exp.TryCast):
        return bool(node.args["to"].is_type("float"))
    if isinstance(node, exp.Neg | exp.Abs | exp.Max | exp.Min):
        return _is_single(node.this, columns)
    if isinstance(node, (exp.Add, exp.Sub, *CALCULATED)):
        return _is_single(node.this, columns) or _is_single(node.expression, columns)
    chosen = isinstance(node, exp.Coalesce | exp.If | exp.Case | exp.Greatest | exp.Least | exp.Nullif | exp.Nvl2)
    return chosen and any(_is_single(v, columns) for v in results(node))


def too_wide(values: list[exp.Expr], columns: Columns) -> ExpressionError | None:
    """Numbers that one decimal type cannot hold together are rounded by one engine before they are compared."""
    known = [d for v in values if (d := number_digits(v, columns)) is not None]
    digits = [d for d in known if sum(d) <= ft.MAX_DECIMAL_PRECISION]  # a calculation beyond is told by itself
    whole, fraction = max((w for w, _ in digits), default=0), max((f for _, f in digits), default=0)
    if whole + fraction <= ft.MAX_DECIMAL_PRECISION:
        return None
    message = f"needs a decimal of {whole + fraction} digits to hold both numbers, and there are {ft.MAX_DECIMAL_PRECISION}"
    return ExpressionError(message, offset=first_offset(values[0]), hint="cast one of them, such as cast(... AS decimal(28,10))")


def too_long(node: exp.Expr, columns: Columns) -> ExpressionError | None:
    """A calculation that needs more digits than a decimal has is rounded by one engine and null on another."""
    if error := two_widths([node.this, node.expression], columns):
        return error
    digits = _calculated_digits(node, columns)
    if digits is None or sum(digits) <= ft.MAX_DECIMAL_PRECISION:
        return None
    message = f"the result needs a decimal of {sum(digits)} digits, and there are {ft.MAX_DECIMAL_PRECISION}"
    return ExpressionError(message, offset=first_offset(node.this), hint="cast first, such as cast(... AS decimal(18,4))")


def number_digits(node: exp.Expr, columns: Columns) -> tuple[int, int] | None:
    """Digits before and after the point of an exact number, none where they are not known."""
    node = node.unnest()
    if isinstance(node, exp.Literal):
        whole, _, fraction = node.name.partition(".")
        return (len(whole), len(fraction)) if not node.is_string and node.name.replace(".", "").isdigit() else None
    type_: ft.FieldType | None = column_type(node, columns) if isinstance(node, exp.Column) else None
    if isinstance(node, exp.Cast | exp.TryCast) and node.args["to"].is_type("decimal"):
        sizes = [int(p.name) for p in node.args["to"].expressions if p.name.isdigit()]
        precision, scale = (*sizes, 0)[:2] if sizes else (10, 0)
        return precision - scale, scale
    if isinstance(type_, ft.Decimal):
        return type_.precision - type_.scale, type_.scale
    if type_ in _WHOLE_DIGITS:
        return _WHOLE_DIGITS[type_], 0
    if isinstance(node, exp.Neg | exp.Abs):
        return number_digits(node.this, columns)
    return _calculated_digits(node, columns) if isinstance(node, (exp.Add, exp.Sub, *CALCULATED)) else None


def calculated_decimal(node: exp.Expr, columns: Columns) -> tuple[int, int] | None:
    """Digits of the decimal that a sum, difference or product gives; none where it gives no decimal, or they are not known."""
    is_one = isinstance(node, exp.Add | exp.Sub | exp.Mul) and number_digits(node, columns) and _is_decimal(node, columns)
    return _calculated_digits(node, columns) if is_one else None


def _calculated_digits(node: exp.Expr, columns: Columns) -> tuple[int, int] | None:
    """Digits of a sum, product, quotient or rest as Spark counts them, before it takes any away."""
    one, other = number_digits(node.this, columns), number_digits(node.expression, columns)
    if one is None or other is None:
        return None
    if not (_is_decimal(node.this, columns) or _is_decimal(node.expression, columns)):
        return None if isinstance(node, exp.Div) else (_WHOLE_DIGITS[ft.BIGINT], 0)
    match node:
        case exp.Mul():
            return one[0] + other[0] + 1, one[1] + other[1]
        case exp.Div():
            return one[0] + other[1], max(6, one[1] + sum(other) + 1)
        case exp.Mod():
            return min(one[0], other[0]), max(one[1], other[1])
    return max(one[0], other[0]) + 1, max(one[1], other[1])


def _is_decimal(node: exp.Expr, columns: Columns) -> bool:
    """Whether a value whose digits are known is a decimal; it is a whole number otherwise."""
    node = node.unnest()
    if isinstance(node, exp.Column):
        return isinstance(column_type(node, columns), ft.Decimal)
    if isinstance(node, exp.Literal):
        return "." in node.name
    if isinstance(node, exp.Cast | exp.TryCast):
        return bool(node.args["to"].is_type("decimal"))
    if isinstance(node, exp.Neg | exp.Abs):
        return _is_decimal(node.this, columns)
    return _is_decimal(node.this, columns) or _is_decimal(node.expression, columns)


def results(node: exp.Expr) -> list[exp.Expr]:
    """The values of which the node is one."""
    match node:
        case exp.If():
            return [v for v in (node.args.get("true"), node.args.get("false")) if v is not None]
        case exp.Nvl2():
            return [v for v in (node.args.get("true"), node.args.get("false")) if v is not None]
        case exp.Case():
            last = node.args.get("default")
            return [*(i.args["true"] for i in node.args["ifs"]), *([last] if last is not None else [])]
        case exp.Nullif():
            return [node.this]
    return [node.this, *node.expressions]
