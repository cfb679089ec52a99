"""What the demonstration's producers deliver. Nothing here is random: a day or month has the same content on every machine."""

from __future__ import annotations

import io
import zipfile
from datetime import date
from decimal import Decimal
from pathlib import Path

from invaract_orchestration.demo.faults import FAULTS
from invaract_orchestration.demo.flights import flights_archive, write_delivery

BAD_DAY = "2026-03-04"
"""On this day the shop delivers an order with a negative amount."""
_COUNTRIES = ("DE", "FR", "NL", "PL", "SE")
_CUSTOMERS = 60


def deliver_flights(landing: Path, month: str) -> str:
    """Write a month's file and say what it is like: the first delivery of some months is at fault, a second one is right."""
    lines = _flights(month)
    fault = FAULTS.get(month)
    if fault is not None and not (landing / month / "flights.csv").exists():
        write_delivery(landing, month, fault.apply(lines))
        return fault.what
    write_delivery(landing, month, lines)
    return "as agreed"


def deliver_orders(lake_root: Path, day: str) -> int:
    """Write a day's orders and every customer as the shop's raw tables; the number of orders."""
    import pyarrow as pa  # nothing heavy is loaded with the definitions
    import pyarrow.parquet as pq

    when = date.fromisoformat(day)
    numbers = range(40 + when.day * 3)
    amounts = [Decimal(100 + (number * 7919 + when.day * 104729) % 9000).scaleb(-2) for number in numbers]
    if day == BAD_DAY:
        amounts[0] = Decimal("-250.00")
    orders = pa.table({
        "order_id": pa.array([when.toordinal() * 1000 + number for number in numbers], pa.int64()),
        "customer_id": pa.array([(number * 31 + when.day) % _CUSTOMERS for number in numbers], pa.int64()),
        "order_date": pa.array([when for _ in numbers], pa.date32()),
        "amount": pa.array(amounts, pa.decimal128(10, 2)),
    })  # fmt: skip
    customers = pa.table({
        "customer_id": pa.array(range(_CUSTOMERS), pa.int64()),
        "country": [_COUNTRIES[number % len(_COUNTRIES)] for number in range(_CUSTOMERS)],
    })  # fmt: skip
    raw = lake_root / "shop" / "raw"
    for name, file, table in (("orders", day, orders), ("customers", "all", customers)):
        place = raw / name / f"{file}.parquet"
        place.parent.mkdir(parents=True, exist_ok=True)
        if not (name == "customers" and place.exists()):
            pq.write_table(table, place)
    return len(numbers)


def _flights(month: str) -> list[str]:
    with zipfile.ZipFile(flights_archive()) as archive, archive.open("flights.csv") as raw:
        lines = io.TextIOWrapper(raw, encoding="utf-8", newline="")
        year, number = month.split("-")
        start = f"{year},{int(number)},"
        return [next(lines), *(line for line in lines if line.startswith(start))]
