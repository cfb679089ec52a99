"""The rules of spark_gate.py as four other tools say them, judged by one of them on a Delta table that is there already.

    PYTHON benchmarks/peer_rules.py {great_expectations,soda,dqx,cuallee} TABLE --option KEY=VALUE ... [--repeat 2]

PYTHON has that tool, pyspark and delta-spark installed, each tool in an environment of its own. Prints one JSON object: the best
seconds, the Spark jobs of one judgement, and whether every rule was kept. Nothing is published here: it is the check alone.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import uuid
from collections.abc import Callable
from typing import Any

REQUIRED = ("l_orderkey", "l_quantity", "l_shipinstruct")
RANGES = {"l_orderkey": (1, None), "l_quantity": (1, 50), "l_discount": (0, 0.10)}
ALLOWED = {"l_returnflag": ["A", "N", "R"], "l_linestatus": ["O", "F"]}
PATTERN = ("l_shipmode", "^[A-Z ]+$")
LONGEST = ("l_comment", 44)
ORDER = "l_shipdate <= l_receiptdate"


def great_expectations(spark: Any, table: str) -> bool:
    import great_expectations as gx

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    expect = gx.expectations
    suite = gx.ExpectationSuite(
        name="lineitem",
        expectations=[
            *(expect.ExpectColumnValuesToNotBeNull(column=c) for c in REQUIRED),
            *(expect.ExpectColumnValuesToBeBetween(column=c, min_value=low, max_value=high) for c, (low, high) in RANGES.items()),
            *(expect.ExpectColumnValuesToBeInSet(column=c, value_set=values) for c, values in ALLOWED.items()),
            expect.ExpectColumnValuesToMatchRegex(column=PATTERN[0], regex=PATTERN[1]),
            expect.ExpectColumnValueLengthsToBeBetween(column=LONGEST[0], max_value=LONGEST[1]),
            expect.ExpectColumnPairValuesAToBeGreaterThanB(column_A="l_receiptdate", column_B="l_shipdate", or_equal=True),
        ],
    )
    asset = context.data_sources.add_spark("spark").add_dataframe_asset("lineitem")
    batch = asset.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": spark.read.format("delta").load(table)})
    return bool(batch.validate(suite, result_format="BOOLEAN_ONLY").success)


def soda(spark: Any, table: str) -> bool:
    from soda.scan import Scan

    spark.read.format("delta").load(table).createOrReplaceTempView("lineitem")
    checks = [f"missing_count({c}) = 0" for c in REQUIRED]
    for column, (low, high) in RANGES.items():
        limits = {"valid min": low, "valid max": high}
        checks.append({f"invalid_count({column}) = 0": {k: v for k, v in limits.items() if v is not None}})
    checks += [{f"invalid_count({c}) = 0": {"valid values": values}} for c, values in ALLOWED.items()]
    checks.append({f"invalid_count({PATTERN[0]}) = 0": {"valid regex": PATTERN[1]}})
    checks.append({f"invalid_count({LONGEST[0]}) = 0": {"valid max length": LONGEST[1]}})
    checks.append({"failed rows": {"name": "order", "fail condition": f"not ({ORDER})"}})
    scan = Scan()
    scan.disable_telemetry()
    scan.set_scan_definition_name("lineitem")
    scan.set_data_source_name("spark_df")
    scan.add_spark_session(spark)
    scan.add_sodacl_yaml_str(json.dumps({"checks for lineitem": checks}))
    return scan.execute() == 0


def dqx(spark: Any, table: str) -> bool:
    from unittest.mock import MagicMock  # the tool wants a workspace; the checks themselves never ask it

    from databricks.labs.dqx import check_funcs as check
    from databricks.labs.dqx.engine import DQEngineCore
    from databricks.labs.dqx.rule import DQRowRule
    from databricks.sdk import WorkspaceClient
    from pyspark.sql import functions as f

    def rule(function: Callable[..., Any], column: str | None, **arguments: Any) -> Any:
        named = {"column": column} if column is not None else {}
        return DQRowRule(criticality="error", check_func=function, check_func_kwargs=arguments, **named)

    rules = [
        *(rule(check.is_not_null, c) for c in REQUIRED),
        rule(check.is_not_less_than, "l_orderkey", limit=1),
        rule(check.is_in_range, "l_quantity", min_limit=1, max_limit=50),
        rule(check.is_in_range, "l_discount", min_limit=f.lit(0), max_limit=f.expr("0.10")),
        *(rule(check.is_in_list, c, allowed=[f.lit(v) for v in values]) for c, values in ALLOWED.items()),
        rule(check.regex_match, PATTERN[0], regex=PATTERN[1]),
        rule(check.sql_expression, None, expression=f"length({LONGEST[0]}) <= {LONGEST[1]}"),
        rule(check.sql_expression, None, expression=ORDER),
    ]
    engine = DQEngineCore(MagicMock(spec=WorkspaceClient), spark)
    judged = engine.apply_checks(spark.read.format("delta").load(table), rules)
    return bool(judged.where("_errors is not null").count() == 0)


def cuallee(spark: Any, table: str) -> bool:
    from cuallee import Check, CheckLevel

    check = Check(CheckLevel.ERROR, "lineitem")
    for column in REQUIRED:
        check.is_complete(column)
    check.is_greater_or_equal_than("l_orderkey", 1).is_between("l_quantity", (1, 50)).is_between("l_discount", (0.0, 0.10))
    for column, values in ALLOWED.items():
        check.is_contained_in(column, tuple(values))
    check.has_pattern(*PATTERN).satisfies(LONGEST[0], f"length({LONGEST[0]}) <= {LONGEST[1]}").satisfies("l_shipdate", ORDER)
    found = check.validate(spark.read.format("delta").load(table)).collect()
    return all(row["status"] == "PASS" for row in found)


TOOLS = {"great_expectations": great_expectations, "soda": soda, "dqx": dqx, "cuallee": cuallee}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", choices=sorted(TOOLS))
    parser.add_argument("table")
    parser.add_argument("--option", action="append", default=[], help="an option of the Spark session, KEY=VALUE")
    parser.add_argument("--repeat", type=int, default=2)
    given = parser.parse_args()
    os.environ["GX_ANALYTICS_ENABLED"] = "false"  # a call home is no part of a measurement
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    for option in given.option:
        builder = builder.config(*option.split("=", 1))
    spark = builder.getOrCreate()
    spark.read.format("delta").load(given.table).limit(1).collect()
    best, kept, jobs = float("inf"), False, 0
    for _ in range(given.repeat):
        group = uuid.uuid4().hex
        spark.sparkContext.setJobGroup(group, given.tool)
        begin = time.perf_counter()
        kept = TOOLS[given.tool](spark, given.table)
        best = min(best, time.perf_counter() - begin)
        jobs = len(spark.sparkContext.statusTracker().getJobIdsForGroup(group))
    print(json.dumps({"seconds": best, "jobs": jobs, "kept": kept}))


if __name__ == "__main__":
    main()
