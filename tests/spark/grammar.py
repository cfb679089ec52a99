"""Conditions of every kind that a contract takes, over columns of every type, for tests that compare engines.

A choice is made by a function that takes one of several: Hypothesis makes it in tests, a seeded generator in long searches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Protocol

import pyarrow as pa

from invaract_orchestration.contract.date_parts import FIELDS


class Choose(Protocol):
    def __call__(self, options: Sequence[Any], /) -> Any: ...


NAN, INF = float("nan"), float("inf")
COLUMNS: dict[str, tuple[str, pa.DataType, list[Any]]] = {
    "t": ("tinyint", pa.int8(), [None, 0, 1, -1, 127, -128, 7]),
    "h": ("smallint", pa.int16(), [None, 0, 1, -1, 32767, -32768, 12]),
    "i": ("int", pa.int32(), [None, 0, 1, -1, 2147483647, -2147483648, 7, -7, 100]),
    "b": ("bigint", pa.int64(), [None, 0, 1, -1, 9223372036854775807, -9223372036854775808, 7, -7, 3037000500]),
    "f": ("float", pa.float32(), [None, 0.0, -0.0, NAN, INF, -INF, 0.1, 1.5, -2.5, 16777217.0, 3.4028234663852886e38, 1e-45]),
    "d": ("double", pa.float64(), [None, 0.0, -0.0, NAN, INF, -INF, 0.1, 0.15, 2.5, -2.5, 1e300, 9007199254740993.0, 5e-324]),
    "m": ("decimal(10,2)", pa.decimal128(10, 2), [None, *map(Decimal, ["0", "0.01", "-0.01", "99999999.99", "-99999999.99", "2.50", "3.50"])]),
    "w": ("decimal(38,10)", pa.decimal128(38, 10), [None, *map(Decimal, ["0", "1", "-1.5", "9999999999999999999999999999.9999999999", "0.0000000001"])]),
    "x": ("decimal(38,0)", pa.decimal128(38, 0), [None, *map(Decimal, ["0", "1", "-1", "99999999999999999999999999999999999999", "7"])]),
    "s": ("string", pa.string(), [
        None, "", " ", "a", "A", "ab", "abc", "a\n", " a ", "é", "e\u0301", "\u00a0", "😀", "😀b", "ß", "İ", "a,b", "a%b", "a_b", "a\\b",
        "\tx\t", "x\u2028y", "ﬀ", "'", "aXbXc", "ΑΣ",
    ]),
    "n": ("string", pa.string(), [
        None, "", "0", "1", "-1", "+1", " 1", "1 ", "1.5", "1e3", "1.", ".5", "abc", "true", "t", "9223372036854775808", "NaN", "Infinity",
        "0x1F", "2026-01-31", "2026-02-30", "2026-01-31 10:00:00", "2026-1-1", "2026", "-0", "1_0", "12345678901234567890123.12", "\u0661",
        "2026-01-31T10:00:00Z", "2026-01-31 10:00:00+02:00",
    ]),
    "k": ("date", pa.date32(), [None, *map(date.fromisoformat, ["0001-01-01", "9999-12-31", "1970-01-01", "2024-02-29", "2026-01-31", "1582-10-10", "1969-12-31", "2026-12-28"])]),
    "z": ("timestamp", pa.timestamp("us", "UTC"), [None, *(datetime.fromisoformat(v).replace(tzinfo=UTC) for v in [
        "0001-01-01T00:00:00", "9999-12-31T23:59:59.999999", "1970-01-01T00:00:00", "2026-01-31T10:20:30.123456", "1969-12-31T23:59:59.5", "2024-02-29T00:00:00",
    ])]),
    "l": ("timestamp_ntz", pa.timestamp("us"), [None, *map(datetime.fromisoformat, [
        "0001-01-01T00:00:00", "9999-12-31T23:59:59.999999", "1970-01-01T00:00:00", "2026-01-31T10:20:30.123456", "2026-03-29T02:30:00",
    ])]),
    "o": ("boolean", pa.bool_(), [None, True, False]),
    "a": ("array<int>", pa.list_(pa.int32()), [None, [], [1], [1, None], [3, 1, 2], [None]]),
    "p": ("map<string,int>", pa.map_(pa.string(), pa.int32()), [None, [], [("a", 1)], [("a", None), ("b", 2)]]),
    "r": ("struct<x:int,y:string>", pa.struct([("x", pa.int32()), ("y", pa.string())]), [None, {"x": 1, "y": "a"}, {"x": None, "y": None}]),
}  # fmt: skip
"""Name to (type, Arrow type, values of interest)."""
INTEGERS, DECIMALS, FLOATS = ("t", "h", "i", "b"), ("m", "w", "x"), ("f", "d")
NUMBERS = {
    "int": ["0", "1", "-1", "2", "7", "10", "100", "2147483647", "9223372036854775807", "4611686018427387904"],
    "decimal": ["0.5", "1.5", "2.50", "0.01", "99999999.99", "0.1", "-2.5"], "float": ["1e0", "1.5e0", "1e308", "1e-3"],
}  # fmt: skip
TEXTS = ["''", "' '", "'a'", "'b'", "'ab'", "'A'", "'é'", "'😀'", "'1'", "'%'", "'X'", "','", r"'a\\b'", "'a\\n'"]
DATES = ["date'2026-01-31'", "date'1970-01-01'", "date'0001-01-01'", "date'9999-12-31'", "current_date()"]
TIMES = ["timestamp'2026-01-31 10:20:30'", "timestamp'1970-01-01 00:00:00'", "current_timestamp()"]
PATTERNS = ["a", "a$", "^a", "^.$", "a|b", r"\\s", "[a-c]+", r"\\d+", "(?i)A", r"\\bA", "é", ".b", r"^\\S*$"]
LIKES = ["a%", "%b", "_", "a_b", "%", "", "a\\\\%b", "é", "%\\\\_%", "A%"]
COMPARISONS = ["=", "<>", "<", "<=", ">", ">=", "<=>"]


def table(rows: int, seed: int = 0) -> pa.Table:
    """Rows in which every value of interest stands, each column shifted against the others."""
    columns = {}
    for at, (name, (_, kind, values)) in enumerate(COLUMNS.items()):
        columns[name] = pa.array([values[(n * (at + 1) + seed + n // len(values)) % len(values)] for n in range(rows)], kind)
    return pa.table(columns)


@dataclass(frozen=True)
class Grammar:
    """Draws conditions; `depth` bounds how deep an expression is."""

    choose: Choose

    def condition(self, depth: int = 2) -> str:
        kinds = [self._compared, self._compared, self._compared, self._in, self._between, self._is_null, self._text_condition, self._other]
        if depth > 0:
            kinds += [self._joined, self._joined, self._not, self._case]
        made: str = self.choose(kinds)(depth)
        return made

    def _joined(self, depth: int) -> str:
        return f"({self.condition(depth - 1)} {self.choose(['AND', 'OR'])} {self.condition(depth - 1)})"

    def _not(self, depth: int) -> str:
        return f"NOT ({self.condition(depth - 1)})"

    def _case(self, depth: int) -> str:
        if self.choose([True, False]):
            return f"if({self.condition(depth - 1)}, {self.condition(depth - 1)}, {self.condition(depth - 1)})"
        return f"CASE WHEN {self.condition(depth - 1)} THEN {self.condition(depth - 1)} ELSE {self.condition(depth - 1)} END"

    def _pair(self, depth: int) -> tuple[str, str]:
        kind = self.choose([self.number, self.number, self.text, self.day, self.time])
        return kind(depth), kind(depth)

    def _mixed(self) -> tuple[str, str]:
        """Two sides of different types, of which one is a column."""
        texts = ["'2026-01-31'", "'2026-01-31 10:20:30'", "'1'", "'1.5'", "'abc'", "'true'", "n"]
        return self.choose([
            (self.choose(["k", "z", "l"]), self.choose(texts)), (self.choose([*INTEGERS, *DECIMALS, *FLOATS]), self.choose(texts)), ("k", self.choose(["z", "l", *TIMES])),
            ("z", self.choose(["k", "l", *DATES])), ("o", self.choose(["'true'", "1", "0", "n"])), (self.choose([*INTEGERS, "w", "d"]), "o"), ("n", self.choose([*INTEGERS, "m", "d", "k"])),
            (f"n {self.choose(['+', '-', '*', '/', '%'])} {self.choose(['1', 'i', 'm', 'd'])}", self.number(0)), (f"concat({self.choose(['i', 'm', 'd', 'k', 'o'])}, 'x')", self.text(0)),
            (f"length({self.choose(['i', 'm', 'k', 'o', 'd'])})", self.number(0)), ("k", f"k + {self.choose(['1', 'i', 't'])}"), ("year(n)", "2026"), ("datediff(k, n)", "0"),
            (f"coalesce({self.choose(['i', 'm', 'k'])}, 'x')", self.text(0)), ("upper(i)", self.text(0)), (f"abs({self.choose(['n', 'o'])})", "1"), ("substring(i, 1, 1)", "'1'"),
            ("sqrt(n)", "1"), ("round(n)", "1"), ("z - l", "INTERVAL 1 DAY"), ("k - k", "INTERVAL 1 DAY"), ("cast(z AS bigint)", "0"), ("cast(o AS int)", "1"), ("cast(i AS boolean)", "o"), ("cast(d AS string)", "n"),
            ("add_months(z, 1)", "k"), ("year(z)", "n"), ("date_add(n, 1)", "k"), ("date_trunc('MONTH', k)", "z"), ("last_day(z)", "k"), ("hour(n)", "1"), ("to_date(s)", "k"), ("if(o, i, 'x')", "n"),
        ])  # fmt: skip

    def _compared(self, depth: int) -> str:
        left, right = self._mixed() if self.choose(range(5)) == 0 else self._pair(depth)
        return f"{left} {self.choose(COMPARISONS)} {right}"

    def _in(self, depth: int) -> str:
        kind = self.choose([self.number, self.text, self.day])
        return f"{kind(depth)} {self.choose(['IN', 'NOT IN'])} ({kind(0)}, {kind(0)}{self.choose(['', ', NULL'])})"

    def _between(self, depth: int) -> str:
        kind = self.choose([self.number, self.text, self.day, self.time])
        return f"{kind(depth)} {self.choose(['BETWEEN', 'NOT BETWEEN'])} {kind(0)} AND {kind(0)}"

    def _is_null(self, depth: int) -> str:
        kind = self.choose([self.number, self.text, self.day, self.time])
        of = kind(depth)
        return self.choose([f"{of} IS NULL", f"{of} IS NOT NULL", f"isnull({of})", f"isnotnull({of})"])

    def _text_condition(self, depth: int) -> str:
        of = self.text(depth)
        return self.choose([
            f"{of} LIKE '{self.choose(LIKES)}'", f"{of} ILIKE '{self.choose(LIKES)}'", f"{of} NOT LIKE '{self.choose(LIKES)}'",
            f"{of} RLIKE '{self.choose(PATTERNS)}'", f"regexp_like({of}, '{self.choose(PATTERNS)}')", f"startswith({of}, {self.text(0)})",
            f"endswith({of}, {self.text(0)})", f"contains({of}, {self.text(0)})",
        ])  # fmt: skip

    def _other(self, depth: int) -> str:
        return self.choose([
            "o", "NOT o", "o = true", f"isnan({self.choose(FLOATS)})", "array_contains(a, 1)", "size(a) > 1", "array_size(a) = 0", "element_at(a, 1) = 1",
            "element_at(a, -1) = 2", "element_at(p, 'a') = 1", "r.x = 1", "r.y = 'a'", "r IS NULL", "cardinality(a) = 1", "size(map_keys(p)) = 1", "a[0] = 1", "p['a'] = 1",
            "array_contains(map_values(p), 2)", "cast(n AS boolean)", "a IS NULL", "split(s, 'X')[0] = 'a'", "size(split(s, ',')) = 2", "array_contains(array(1, i), 7)",
            "a = array(1)", "r.x <=> r.x",
        ])  # fmt: skip

    # -- values

    def number(self, depth: int) -> str:
        if depth <= 0:
            return self.choose([*INTEGERS, *DECIMALS, *FLOATS, *NUMBERS["int"], *NUMBERS["decimal"], *NUMBERS["float"]])
        return self.choose([self._leaf_number, self._arithmetic, self._arithmetic, self._number_function, self._number_of, self._conditional_number])(depth)

    def _leaf_number(self, depth: int) -> str:
        return self.number(0)

    def _arithmetic(self, depth: int) -> str:
        op = self.choose(["+", "-", "*", "/", "%", "div", "neg"])
        if op == "neg":
            return f"-({self.number(depth - 1)})"
        if op == "div":
            return f"({self.choose([*INTEGERS, '7', '2'])} div {self.choose([*INTEGERS, '0', '2', '-1'])})"
        return f"({self.number(depth - 1)} {op} {self.number(depth - 1)})"

    def _number_function(self, depth: int) -> str:
        of = self.number(depth - 1)
        return self.choose([
            f"abs({of})", f"ceil({of})", f"ceiling({of})", f"floor({of})", f"round({of})", f"round({of}, 1)", f"round({of}, -1)", f"sign({of})", f"signum({of})", f"sqrt({of})",
            f"power({of}, 2)", f"pow({of}, 0.5)", f"exp({of})", f"ln({of})", f"log2({of})", f"log10({of})", f"mod({of}, {self.number(0)})",
            f"try_divide({of}, {self.number(0)})", f"greatest({of}, {self.number(0)})", f"least({of}, {self.number(0)})",
            f"cast({of} AS double)", f"cast({of} AS decimal(10,2))", f"cast({of} AS decimal(38,4))", f"cast({self.choose(INTEGERS)} AS int)", f"cast({self.choose(INTEGERS)} AS tinyint)", f"cast({of} AS float)",
            f"try_cast({self.choose(INTEGERS)} AS smallint)", f"cast({self.choose(INTEGERS)} AS bigint)",
        ])  # fmt: skip

    def _number_of(self, depth: int) -> str:
        text, day, time = self.text(depth - 1), self.day(depth - 1), self.time(depth - 1)
        return self.choose([
            f"length({text})", f"char_length({text})", f"len({text})", f"instr({text}, {self.text(0)})", f"locate({self.text(0)}, {text})", f"position({self.text(0)} IN {text})",
            f"locate({self.text(0)}, {text}, 2)", f"cast({text} AS int)", f"cast({text} AS bigint)", f"cast({text} AS double)", f"cast({text} AS decimal(10,2))",
            f"cast(n AS {self.choose(['tinyint', 'smallint', 'int', 'bigint', 'float', 'double', 'decimal(10,2)', 'decimal(38,10)'])})", f"year({day})", f"quarter({day})",
            f"month({day})", f"day({day})", f"dayofmonth({day})", f"dayofweek({day})", f"dayofyear({day})", f"weekday({day})", f"weekofyear({day})", f"hour({time})",
            f"minute({time})", f"second({time})", f"year({time})", f"month({time})", f"datediff({day}, {self.day(0)})", f"date_diff({day}, {self.day(0)})",
            f"extract({self.choose(list(FIELDS))} FROM {day})", f"date_part('{self.choose(list(FIELDS)).lower()}', {time})", f"extract({self.choose(list(FIELDS))} FROM {time})",
        ])  # fmt: skip

    def _conditional_number(self, depth: int) -> str:
        one, other = self.number(depth - 1), self.number(0)
        return self.choose([
            f"coalesce({one}, {other})", f"nvl({one}, {other})", f"ifnull({one}, {other})", f"nullif({one}, {other})", f"if({self.condition(0)}, {one}, {other})",
            f"nvl2({one}, {other}, {self.number(0)})", f"CASE WHEN {self.condition(0)} THEN {one} ELSE {other} END", f"CASE {one} WHEN {other} THEN 1 ELSE 0 END",
        ])  # fmt: skip

    def text(self, depth: int) -> str:
        if depth <= 0:
            return self.choose(["s", "s", "n", *TEXTS])
        of = self.text(depth - 1)
        return self.choose([
            of, f"lower({of})", f"lcase({of})", f"upper({of})", f"ucase({of})", f"trim({of})", f"ltrim({of})", f"rtrim({of})", f"trim(BOTH 'a' FROM {of})", f"trim(LEADING 'a' FROM {of})",
            f"substring({of}, {self._place()}, {self._place()})", f"substring({of}, {self._place()})", f"substr({of}, {self._place()})", f"left({of}, {self._place()})", f"right({of}, {self._place()})",
            f"concat({of}, {self.text(0)})", f"{of} || {self.text(0)}", f"concat_ws('-', {of}, {self.text(0)})", f"replace({of}, {self.text(0)}, 'y')", f"replace({of}, 'a')", f"reverse({of})", f"repeat({of}, {self._place()})",
            f"split_part({of}, {self.choose([chr(39) + 'X' + chr(39), chr(39) + ',' + chr(39)])}, {self._place()})", f"lpad({of}, {self._place()}, '*')", f"rpad({of}, {self._place()}, 'xy')", f"lpad({of}, 3)", f"translate({of}, 'ab', 'x')",
            f"cast({self.choose([*INTEGERS, *DECIMALS, 'o', 'k', 'd', 'f', 'z', 'l'])} AS string)", f"coalesce({of}, {self.text(0)})", f"nullif({of}, {self.text(0)})",
            f"if({self.condition(0)}, {of}, {self.text(0)})", f"greatest({of}, {self.text(0)})", f"least({of}, {self.text(0)})",
        ])  # fmt: skip

    def _place(self) -> str:
        return self.choose(["-1", "0", "1", "2", "3", "5", "t"])

    def day(self, depth: int) -> str:
        if depth <= 0:
            return self.choose(["k", "k", *DATES])
        of = self.day(depth - 1)
        return self.choose([
            of, f"date_add({of}, {self._days()})", f"date_sub({of}, {self._days()})", f"dateadd({of}, {self._days()})", f"add_months({of}, {self._days()})", f"last_day({of})",
            f"trunc({of}, '{self.choose(['YEAR', 'MONTH', 'QUARTER', 'WEEK', 'MM', 'YY'])}')", f"to_date({self.choose(['n', 's', 'z', 'l'])})", f"date({self.choose(['n', 'z', 'l'])})",
            f"cast({self.choose(['n', 'z', 'l'])} AS date)", f"make_date({self.choose(['2026', '0', 'i', '10000'])}, {self.choose(['1', '13', 't'])}, {self.choose(['31', '0', '29'])})",
            f"coalesce({of}, {self.day(0)})", f"{of} + INTERVAL 1 DAY", f"{of} - INTERVAL 1 MONTH", f"greatest({of}, {self.day(0)})", "try_cast(n AS date)",
        ])  # fmt: skip

    def _days(self) -> str:
        return self.choose(["1", "-1", "0", "30", "i", "t", "1000000"])

    def time(self, depth: int) -> str:
        if depth <= 0:
            return self.choose(["z", "z", *TIMES])
        of = self.time(depth - 1)
        return self.choose([
            of, f"date_trunc('{self.choose(['YEAR', 'QUARTER', 'MONTH', 'WEEK', 'DAY', 'HOUR', 'MINUTE', 'SECOND'])}', {of})", "to_timestamp(n)", "cast(n AS timestamp)", "cast(k AS timestamp)", "cast(l AS timestamp)",
            f"{of} + INTERVAL 1 HOUR", f"{of} - INTERVAL 1 DAY", f"coalesce({of}, {self.time(0)})", "to_timestamp(s)", "now()",
        ])  # fmt: skip
