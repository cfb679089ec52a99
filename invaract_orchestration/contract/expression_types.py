"""Kinds of values in an expression, as far as its columns' types show, and mixtures of kinds that engines convert differently."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sqlglot import exp

from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract.date_parts import dated, is_date_part
from invaract_orchestration.contract.expression_names import Columns, ExpressionError, column_type, first_offset
from invaract_orchestration.contract.number_widths import CALCULATED, number_digits, results, too_long, too_wide, two_widths

TEXT, NUMBER, BOOLEAN, DATE, TIME, OTHER = "text", "number", "boolean", "date", "timestamp", "other"
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?(Z|[+-][0-9]{2}:[0-9]{2})?\Z")

_SPECIAL = re.compile(r"\s*(epoch|now|today|tomorrow|yesterday)\b", re.IGNORECASE)

_GIVES_TEXT: tuple[type[exp.Expr], ...] = (
    exp.Lower, exp.Upper, exp.Trim, exp.Substring, exp.Left, exp.Right, exp.Replace, exp.Reverse, exp.Repeat, exp.SplitPart,
    exp.Pad, exp.Translate, exp.Concat, exp.ConcatWs, exp.DPipe,
)  # fmt: skip
_GIVES_NUMBER: tuple[type[exp.Expr], ...] = (
    exp.Length, exp.StrPosition, exp.Year, exp.Quarter, exp.Month, exp.Day, exp.DayOfMonth, exp.DayOfWeek, exp.DayOfYear,
    exp.WeekOfYear, exp.Hour, exp.Minute, exp.Second, exp.DateDiff, exp.Extract, exp.ArraySize, exp.Sqrt, exp.Pow, exp.Exp,
    exp.Ln, exp.Log, exp.Sign, exp.Abs, exp.Ceil, exp.Floor, exp.Round, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg,
    exp.SafeDivide,
    exp.Count, exp.CountIf, exp.Sum, exp.Avg, exp.Median, exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance,
    exp.VariancePop,
)  # fmt: skip
_GIVES_DATE: tuple[type[exp.Expr], ...] = (
    exp.CurrentDate,
    exp.TsOrDsToDate,
    exp.TsOrDsAdd,
    exp.AddMonths,
    exp.LastDay,
    exp.DateTrunc,
)
_GIVES_TIME: tuple[type[exp.Expr], ...] = (exp.CurrentTimestamp, exp.TimestampTrunc)
_GIVES_TRUTH: tuple[type[exp.Expr], ...] = (
    exp.Predicate,
    exp.Connector,
    exp.Not,
    exp.Boolean,
    exp.IsNan,
    exp.StartsWith,
    exp.EndsWith,
    exp.Contains,
    exp.LogicalOr,
    exp.LogicalAnd,
)
_OF_TEXT = (
    exp.Lower, exp.Upper, exp.Trim, exp.Substring, exp.Left, exp.Right, exp.Replace, exp.Reverse, exp.Repeat, exp.SplitPart,
    exp.Pad, exp.Translate, exp.Length, exp.StrPosition, exp.StartsWith, exp.EndsWith, exp.Contains, exp.Like, exp.ILike,
    exp.RegexpLike, exp.Split,
    exp.RegexpSplit,
)  # fmt: skip
_OF_NUMBERS = (
    exp.Abs, exp.Ceil, exp.Floor, exp.Round, exp.Sign, exp.Sqrt, exp.Pow, exp.Exp, exp.Ln, exp.Log, exp.Mul, exp.Div,
    exp.IntDiv, exp.Mod, exp.SafeDivide, exp.Neg, exp.Sum, exp.Avg,
    exp.Median, exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop,
)  # fmt: skip
_OF_TIMES = (exp.Hour, exp.Minute, exp.Second, exp.TimestampTrunc, exp.AddMonths, exp.LastDay, exp.DateTrunc, exp.TsOrDsAdd)
_ALIKE = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Nullif)
_NAMED = {
    "some": BOOLEAN, "every": BOOLEAN, "mean": NUMBER, "make_date": DATE, "cardinality": NUMBER, "weekday": NUMBER, "now": TIME,
    "date_part": NUMBER,
}  # fmt: skip
_MOST_SIGNED = 34
_WORDS = {TEXT: "a text", NUMBER: "a number", BOOLEAN: "a boolean", DATE: "a date", TIME: "a timestamp", OTHER: "a nested value"}


def kind_of(node: exp.Expr, columns: Columns) -> str | None:
    """The kind of a value, none where it is null or not known."""
    node = node.unnest()
    if isinstance(node, exp.Column):
        return _kind(column_type(node, columns))
    if isinstance(node, exp.Literal):
        return TEXT if node.is_string else NUMBER
    if isinstance(node, exp.Anonymous):
        return _NAMED.get(node.name.lower())
    if isinstance(node, exp.Cast | exp.TryCast):
        return _kind_of_cast(node.args["to"])
    for kinds, kind in (
        (_GIVES_TEXT, TEXT), (_GIVES_NUMBER, NUMBER), (_GIVES_DATE, DATE), (_GIVES_TIME, TIME), (_GIVES_TRUTH, BOOLEAN),
    ):  # fmt: skip
        if isinstance(node, kinds) and not isinstance(node, exp.Add | exp.Sub):
            return kind
    if isinstance(node, exp.Add | exp.Sub | exp.Max | exp.Min):
        return kind_of(node.this, columns)
    if isinstance(node, exp.Coalesce | exp.If | exp.Case | exp.Greatest | exp.Least | exp.Nullif | exp.Nvl2):
        return next((k for k in (kind_of(v, columns) for v in results(node)) if k is not None), None)
    return None


def _kind(type_: ft.FieldType | None) -> str | None:
    match type_:
        case None:
            return None
        case ft.Decimal():
            return NUMBER
        case ft.Primitive("string"):
            return TEXT
        case ft.Primitive("boolean"):
            return BOOLEAN
        case ft.Primitive("date"):
            return DATE
        case ft.Primitive("timestamp" | "timestamp_ntz"):
            return TIME
        case ft.Primitive("binary"):
            return OTHER
        case ft.Primitive():
            return NUMBER
    return OTHER


def _kind_of_cast(to: exp.DataType) -> str | None:
    if to.is_type(*exp.DataType.NUMERIC_TYPES):
        return NUMBER
    if to.is_type(*exp.DataType.TEXT_TYPES):
        return TEXT
    if to.is_type("boolean"):
        return BOOLEAN
    if to.is_type("date"):
        return DATE
    return TIME if to.is_type(*exp.DataType.TEMPORAL_TYPES) else OTHER


def mixed_kinds(tree: exp.Expr, columns: Columns) -> Iterator[ExpressionError]:
    """An error for each place where values of kinds meet that engines convert in different ways."""
    for node in tree.walk():
        error = _mixed(node, columns)
        if error is not None:
            yield error


def _mixed(node: exp.Expr, columns: Columns) -> ExpressionError | None:
    match node:
        case exp.In():
            return _unlike([node.this, *node.expressions], columns, "compares")
        case exp.Between():
            return _unlike([node.this, node.args["low"], node.args["high"]], columns, "compares")
        case exp.Case() if node.this is not None:
            tested = _unlike([node.this, *(i.this for i in node.args["ifs"])], columns, "compares")
            return tested or _unlike(results(node), columns, "chooses between")
        case exp.Coalesce() | exp.If() | exp.Case() | exp.Greatest() | exp.Least() | exp.Nvl2():
            return (
                None
                if isinstance(node.parent, exp.Case) and isinstance(node, exp.If)
                else _unlike(results(node), columns, "chooses between")
            )
        case exp.Cast() | exp.TryCast():
            return _cast(node, columns)
        case exp.Add() | exp.Sub():
            return _sum(node, columns) or too_long(node, columns)
    if isinstance(node, _ALIKE):
        return _unlike([node.this, node.expression], columns, "compares")
    if isinstance(node, CALCULATED) and (error := too_long(node, columns)) is not None:
        return error
    if isinstance(node, exp.Neg | exp.Abs) and (digits := number_digits(node.this, columns)) and sum(digits) > _MOST_SIGNED:
        message = f"the sign of a number of more than {_MOST_SIGNED} digits cannot be changed exactly on every engine"
        return ExpressionError(message, offset=first_offset(node.this), hint="compare the number itself with both bounds")
    if isinstance(node, _OF_NUMBERS):
        both = [node.this, *([node.expression] if isinstance(node.args.get("expression"), exp.Expr) else [])]
        return _expected(both, columns, (NUMBER,), "write cast(... AS double) or another number's type")
    if isinstance(node, _OF_TEXT):
        return _expected([node.this], columns, (TEXT,), "write cast(... AS string)")
    if isinstance(node, _OF_TIMES):
        return _expected([node.this], columns, (DATE, TIME), "write to_date(...) or to_timestamp(...)")
    if is_date_part(node):
        return _expected([dated(node)], columns, (DATE, TIME), "write to_date(...) or to_timestamp(...)")
    if isinstance(node, exp.Concat | exp.ConcatWs | exp.DPipe):
        parts = [node.this, node.expression] if isinstance(node, exp.DPipe) else node.expressions
        return _expected(parts, columns, (TEXT, NUMBER, BOOLEAN, DATE), "write cast(... AS string)", no_floats=True)
    return None


def _unlike(values: Iterable[exp.Expr], columns: Columns, verb: str) -> ExpressionError | None:
    known = [(v, k) for v in values if (k := kind_of(v, columns)) is not None]
    kinds = {k for _, k in known}
    if kinds <= {DATE, TIME} or len(kinds) < 2:
        numbers = [v for v, k in known if k == NUMBER]
        return two_widths(numbers, columns) or too_wide(numbers, columns)
    if kinds <= {DATE, TIME, TEXT} and verb == "compares" and all(k != TEXT or _is_moment(v) for v, k in known):
        return None
    one, other = sorted(kinds, key=list(_WORDS).index)[:2]
    message = f"{verb} {_WORDS[one]} with {_WORDS[other]}, which engines convert differently"
    if TEXT in kinds and kinds & {DATE, TIME}:
        return ExpressionError(
            message, offset=first_offset(known[0][0]), hint="write the day as date'2026-01-31', or cast the text"
        )
    return ExpressionError(message, offset=first_offset(known[0][0]), hint=f"write cast(... AS ...) around {_WORDS[one]}")


def _is_moment(node: exp.Expr) -> bool:
    node = node.unnest()
    return isinstance(node, exp.Literal) and bool(_MOMENT.match(node.name))


def _expected(
    values: Iterable[exp.Expr], columns: Columns, kinds: tuple[str, ...], hint: str, *, no_floats: bool = False
) -> ExpressionError | None:
    for value in (part for v in values for part in (v.expressions if isinstance(v, exp.Distinct) else [v])):
        kind = kind_of(value, columns)
        if kind is not None and kind not in kinds:
            message = f"expected {_WORDS[kinds[0]]}, found {_WORDS[kind]}, which engines convert differently"
            return ExpressionError(message, offset=first_offset(value), hint=hint)
        if no_floats and is_float(value, columns):
            return _float_text(value)
    return None


def is_float(node: exp.Expr, columns: Columns) -> bool:
    """Whether a value is known to be a float or a double."""
    node = node.unnest()
    if isinstance(node, exp.Column):
        return column_type(node, columns) in ft.FLOATS
    return isinstance(node, exp.Cast | exp.TryCast) and bool(node.args["to"].is_type("float", "double"))


def _float_text(value: exp.Expr) -> ExpressionError:
    message = "the text of a float is written differently by engines"
    return ExpressionError(message, offset=first_offset(value), hint="cast it to a decimal first")


def _cast(node: exp.Expr, columns: Columns) -> ExpressionError | None:
    of, to = kind_of(node.this, columns), _kind_of_cast(node.args["to"])
    if to in (DATE, TIME) and isinstance(node.this, exp.Literal) and _SPECIAL.match(node.this.name):
        message = "a word for a moment is read by one engine alone"
        return ExpressionError(message, offset=first_offset(node.this), hint="write current_date() or the date itself")
    if to == TEXT and is_float(node.this, columns):
        return _float_text(node.this)
    if {of, to} in ({NUMBER, TIME}, {NUMBER, DATE}, {BOOLEAN, DATE}, {BOOLEAN, TIME}) or (of == OTHER and to != OTHER):
        message = f"a cast of {_WORDS[of or OTHER]} to {_WORDS[to or OTHER]} means something else on each engine"
        return ExpressionError(message, offset=first_offset(node.this))
    return None


def _sum(node: exp.Expr, columns: Columns) -> ExpressionError | None:
    left, right = kind_of(node.this, columns), kind_of(node.expression, columns)
    if isinstance(node.expression.unnest(), exp.Interval):
        return _expected([node.this], columns, (DATE, TIME), "an interval is added to a date or a timestamp")
    if left in (DATE, TIME) and right in (DATE, TIME):
        return ExpressionError(
            "a difference of times has no type that engines share", offset=first_offset(node.this), hint="write datediff(...)"
        )
    if left == DATE and right == NUMBER:
        message = "days that are added by a plus wrap around on one engine"
        return ExpressionError(message, offset=first_offset(node.this), hint="write date_add(...) or an interval")
    return _expected([node.this, node.expression], columns, (NUMBER,), "write cast(... AS double) or another number's type")
