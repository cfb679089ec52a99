"""The functions that an expression of a contract may call: those that every engine evaluates with one meaning."""

from __future__ import annotations

ROW_FUNCTIONS: frozenset[str] = frozenset({
    # conditions and nulls
    "coalesce", "nvl", "ifnull", "nullif", "if", "nvl2", "isnull", "isnotnull", "isnan", "greatest", "least",
    # casts
    "cast", "try_cast",
    # numbers
    "abs", "ceil", "ceiling", "floor", "round", "sign", "signum", "sqrt", "power", "pow", "exp", "ln", "log2", "log10",
    "mod", "try_divide",
    # texts
    "length", "char_length", "character_length", "len", "lower", "lcase", "upper", "ucase", "trim", "ltrim",
    "rtrim", "substring", "substr", "left", "right", "concat", "concat_ws", "replace", "reverse", "repeat",
    "startswith", "endswith", "contains", "instr", "locate", "position", "split", "split_part", "lpad", "rpad",
    "translate", "regexp_like", "rlike",
    # dates and times
    "current_date", "curdate", "current_timestamp", "now", "date", "to_date", "to_timestamp", "date_add", "dateadd",
    "date_sub", "datediff", "date_diff", "add_months", "year", "quarter", "month", "day", "dayofmonth", "dayofweek",
    "dayofyear", "weekday", "weekofyear", "hour", "minute", "second", "date_trunc", "trunc", "last_day", "make_date",
    "extract", "date_part",
    # lists and maps
    "size", "cardinality", "array_size", "array_contains", "element_at", "array", "map_keys", "map_values",
})  # fmt: skip
"""Functions of one row, by Spark's names."""

AGGREGATES: frozenset[str] = frozenset({
    "count", "count_if", "sum", "avg", "mean", "min", "max", "every", "bool_and", "some", "any", "bool_or",
    "stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop", "median",
})  # fmt: skip
"""Functions over many rows, for queries of dataset rules only."""

SPELLINGS: dict[str, str] = {"strposition": "position", "ceil": "ceil", "substring": "substring", "trim": "trim"}
"""What the parser calls a function of another spelling, for those whose name in the text it does not keep."""

UNSTABLE: frozenset[str] = frozenset({
    "rand", "random", "randn", "randstr", "uniform", "uuid", "shuffle", "monotonically_increasing_id",
    "spark_partition_id", "input_file_name", "input_file_block_start", "input_file_block_length", "current_user",
    "session_user", "user", "current_catalog", "current_database", "current_schema", "current_timezone", "version",
})  # fmt: skip
"""Functions whose value depends on something else than the row and the submission."""

WINDOWS: frozenset[str] = frozenset({
    "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value",
    "last_value", "nth_value",
})  # fmt: skip
"""Functions that need a window."""
