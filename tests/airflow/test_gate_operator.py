"""The operator in a real DAG run: what reaches the target, the task's state, XCom and the consumers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

HEADER = "flight_date,carrier,flight,origin,dest,dep_delay"


def test_flights_good_month_is_published_and_a_bad_one_leaves_the_target(lake: Any, run_dag: Callable[..., Any]) -> None:
    lake.land("2013-01/a.csv", HEADER, "2013-01-01,UA,1545,EWR,IAH,2", "2013-01-01,AA,1141,JFK,MIA,NA")
    lake.land("2013-02/a.csv", HEADER, "2013-02-01,UA,1545,EWR,IAH,2", "2013-02-01,AA,1141,LHR,MIA,")

    good = run_dag("flights_monthly", conf={"month": "2013-01", "landing": lake.landing})
    version, rows = lake.version("reporting/flights"), lake.rows("reporting/flights")
    bad = run_dag("flights_monthly", conf={"month": "2013-02", "landing": lake.landing})

    assert good.tasks == {"publish_flights": "success", "announce": "success"}
    assert [(r["flight_date"], r["carrier"], r["dep_delay"]) for r in rows] == [
        (date(2013, 1, 1), "AA", None), (date(2013, 1, 1), "UA", 2),
    ]  # fmt: skip
    assert bad.state == "failed"
    assert bad.tasks == {"publish_flights": "failed", "announce": "upstream_failed"}
    assert bad.tries["publish_flights"] == 1
    assert (lake.version("reporting/flights"), lake.rows("reporting/flights")) == (version, rows)
