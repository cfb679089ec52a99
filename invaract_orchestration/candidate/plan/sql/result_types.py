"""The types of what functions, aggregates and calculations give, as Spark has them; null where they are not plain."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from invaract_orchestration.candidate.plan.type_widening import as_decimal, common_type
from invaract_orchestration.contract.field_types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOATS,
    INT,
    INTEGER_BITS,
    INTEGERS,
    MAX_DECIMAL_PRECISION,
    STRING,
    TIMESTAMP,
    Array,
    Decimal,
    FieldType,
)

Types = Sequence[FieldType | None]

_GIVEN: dict[FieldType, str] = {
    STRING: """
        upper ucase lower lcase trim ltrim rtrim btrim substring substr left right replace translate regexp_replace
        regexp_extract regexp_substr concat_ws lpad rpad initcap md5 sha sha1 sha2 hex date_format from_unixtime format_number
        format_string printf repeat split_part substring_index overlay soundex base64 uuid mask to_json to_csv
        get_json_object json_extract_scalar current_user user monthname dayname chr char url_encode url_decode conv space quote
        time_to_str unix_to_str
    """,
    DATE: """
        to_date ts_or_ds_to_date date_add date_sub ts_or_ds_add add_months last_day next_day trunc current_date curdate make_date
        date date_from_parts
    """,
    TIMESTAMP: """
        to_timestamp str_to_time date_trunc timestamp_trunc current_timestamp now timestamp from_utc_timestamp to_utc_timestamp
        make_timestamp timestamp_seconds timestamp_millis timestamp_micros
    """,
    INT: """
        year month day dayofmonth day_of_month dayofweek day_of_week dayofyear day_of_year quarter weekofyear week_of_year hour
        minute second length char_length character_length octet_length bit_length size cardinality array_size datediff date_diff
        instr locate position str_position ascii levenshtein hash row_number rank dense_rank ntile weekday find_in_set extract
    """,
    BIGINT: "unix_timestamp str_to_unix xxhash64 crc32 monotonically_increasing_id array_position unix_seconds unix_millis",
    DOUBLE: """
        sqrt cbrt exp ln log log10 log2 pow power rand randn random percent_rank cume_dist sin cos tan asin acos atan radians
        degrees months_between
    """,
    BOOLEAN: """
        isnull isnotnull like ilike rlike regexp_like contains startswith starts_with endswith ends_with in array_contains exists
        isnan is_nan equal_null forall
    """,
}  # fmt: skip
_BY_NAME = {name: type_ for type_, names in _GIVEN.items() for name in names.split()}
_OF_ALL = frozenset({"coalesce", "nvl", "ifnull", "if_null", "greatest", "least", "nvl2"})
_OF_FIRST = frozenset({
    "nullif", "abs", "lag", "lead", "nth_value", "reverse", "sort_array", "array_sort", "array_distinct", "array_compact",
    "shuffle", "slice",
})  # fmt: skip
_AGGREGATES = {
    "COUNT": BIGINT, "COUNT_IF": BIGINT, "APPROX_COUNT_DISTINCT": BIGINT, "BOOL_OR": BOOLEAN, "BOOL_AND": BOOLEAN,
    "LISTAGG": STRING, "STDDEV": DOUBLE, "STDDEV_POP": DOUBLE, "VARIANCE": DOUBLE, "VAR_POP": DOUBLE, "CORR": DOUBLE,
    "COVAR_POP": DOUBLE, "COVAR_SAMP": DOUBLE, "SKEWNESS": DOUBLE, "KURTOSIS": DOUBLE,
}  # fmt: skip
_OF_ARGUMENT = frozenset({"MIN", "MAX", "FIRST", "LAST", "ANY_VALUE", "MODE", "MAX_BY", "MIN_BY"})


def function_type(name: str, args: Types) -> FieldType | None:
    """The type of a function's value."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name in ("concat", "dpipe", "safe_dpipe"):
        return STRING if args and not any(one is None or isinstance(one, Array) for one in args) else None
    if name in _OF_ALL:
        return type_of_all(args[1:] if name == "nvl2" else args)
    return args[0] if name in _OF_FIRST and args else None


def type_of_all(types: Types) -> FieldType | None:
    """The type in which values meet, as those of the branches of a CASE."""
    if not types or any(one is None for one in types):
        return None
    return reduce(lambda met, one: common_type(met, one) if met and one else None, types)


def aggregate_type(name: str, args: Types) -> FieldType | None:
    """The type of an aggregate's value."""
    only = args[0] if args else None
    if name in _AGGREGATES:
        return _AGGREGATES[name]
    if name in _OF_ARGUMENT:
        return only
    if name in ("COLLECT_LIST", "COLLECT_SET"):
        return None if only is None else Array(only)
    if name == "SUM":
        if isinstance(only, Decimal):
            return Decimal(min(only.precision + 10, MAX_DECIMAL_PRECISION), only.scale)
        return BIGINT if only in INTEGERS else DOUBLE if only in FLOATS else None
    if name == "AVG" and isinstance(only, Decimal):
        return _decimal(only.precision + 4, only.scale + 4)
    return DOUBLE if name == "AVG" and (only in INTEGERS or only in FLOATS) else None


def arithmetic_type(operator: str, types: Types) -> FieldType | None:
    """The type of a calculation."""
    if len(types) == 1 or any(one is None for one in types):
        return types[0] if len(types) == 1 else None
    one, other = types
    if one in (DATE, TIMESTAMP):
        return one if other in INTEGERS else None
    if operator == "div":
        return BIGINT
    if one in INTEGERS and other in INTEGERS:
        return DOUBLE if operator == "/" else max(one, other, key=lambda t: INTEGER_BITS[t])
    if one in FLOATS or other in FLOATS:
        return DOUBLE
    left, right = (None if t is None else as_decimal(t) for t in types)
    return None if left is None or right is None else _calculated(operator, left, right)


def _calculated(operator: str, one: Decimal, other: Decimal) -> FieldType | None:
    whole = max(one.precision - one.scale, other.precision - other.scale)
    scale = max(one.scale, other.scale)
    match operator:
        case "+" | "-":
            return _decimal(whole + scale + 1, scale)
        case "*":
            return _decimal(one.precision + other.precision + 1, one.scale + other.scale)
        case "/":
            scale = max(6, one.scale + other.precision + 1)
            return _decimal(one.precision - one.scale + other.scale + scale, scale)
    return None


def _decimal(precision: int, scale: int) -> FieldType | None:
    return Decimal(precision, scale) if precision <= MAX_DECIMAL_PRECISION else None
