"""A working project: flights by month and a shop's orders by day, each published only when its contract is kept.

`make dagster` starts it with Dagster's pages, `make demo-dagster` runs it without. The lake is INVARACT_LAKE_ROOT; deliveries
land in the folder `landing` in it.
"""

from pathlib import Path

import dagster as dg

from dagster_defs.asset import contract_asset
from dagster_defs.blocked import BlockedGate, blocked_gate_sensor
from dagster_defs.demo.deliveries import deliver_flights, deliver_orders
from dagster_defs.quarantine import quarantine_asset
from dagster_defs.resource import ContractGateResource
from invaract_orchestration.settings import read_settings

MONTHS = dg.MonthlyPartitionsDefinition(start_date="2013-01", end_date="2014-01", fmt="%Y-%m")
DAYS = dg.DailyPartitionsDefinition(start_date="2026-03-01", end_date="2026-03-15")

_PACKAGE = Path(__file__).parent
_BESIDE = _PACKAGE.parent / "contracts"
CONTRACTS = _BESIDE if _BESIDE.is_dir() else _PACKAGE.parent / "invaract_orchestration" / "contracts"
ORDERS = _PACKAGE / "demo" / "customer_orders.yaml"
LANDING = read_settings().lake_root / "landing"
_DELIVERED = str(LANDING / "{month}" / "*.csv")


@dg.asset(partitions_def=MONTHS, group_name="flights", kinds={"csv"})
def flights_delivery(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
    """A month's flights as the producer delivers them; the first delivery of some months is at fault."""
    return dg.MaterializeResult(metadata={"delivered": deliver_flights(LANDING, context.partition_key)})


@contract_asset(
    CONTRACTS / "flights.yaml", source=_DELIVERED, deps=[flights_delivery], partitions_def=MONTHS, group_name="flights",
    retry_policy=dg.RetryPolicy(max_retries=2, delay=1),
)  # fmt: skip
def nyc_flights() -> None:
    """All of a month, or nothing of it."""


@contract_asset(
    CONTRACTS / "departures.yaml", source=_DELIVERED, deps=[flights_delivery], partitions_def=MONTHS, group_name="flights",
    retry_policy=dg.RetryPolicy(max_retries=2, delay=1),
)  # fmt: skip
def nyc_departures() -> None:
    """The flights that left; cancelled ones are set aside."""


departures_quarantine = quarantine_asset(CONTRACTS / "departures.yaml", partitions_def=MONTHS, group_name="flights")


@dg.asset(partitions_def=DAYS, group_name="shop", kinds={"parquet"})
def shop_raw(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
    """A day's orders, and the customers, as the shop delivers them."""
    orders = deliver_orders(read_settings().lake_root, context.partition_key)
    return dg.MaterializeResult(metadata={"dagster/row_count": orders})


@contract_asset(
    ORDERS, deps=[shop_raw], partitions_def=DAYS, group_name="shop", retry_policy=dg.RetryPolicy(max_retries=2, delay=1)
)
def customer_orders() -> None:
    """Orders and revenue of each customer and day, by the contract's own query."""


@dg.asset(
    deps=["customer_orders"], partitions_def=DAYS, group_name="shop", automation_condition=dg.AutomationCondition.eager()
)
def revenue_report() -> None:
    """A consumer: it runs after a publication, and after nothing else."""


flights_job = dg.define_asset_job(
    "flights_reporting", selection=dg.AssetSelection.groups("flights"), partitions_def=MONTHS
)
orders_job = dg.define_asset_job(
    "shop_reporting", selection=dg.AssetSelection.assets("shop_raw", "customer_orders_candidate", "customer_orders"),
    partitions_def=DAYS,
)  # fmt: skip
orders_schedule = dg.build_schedule_from_partitioned_job(orders_job, hour_of_day=5)


def _tell(context: dg.RunFailureSensorContext, blocked: BlockedGate) -> None:
    context.log.warning(f"{blocked.asset} ({blocked.partition}): {blocked.message} {blocked.page or ''}")


defs = dg.Definitions(
    assets=[
        flights_delivery, nyc_flights, nyc_departures, departures_quarantine, shop_raw, customer_orders, revenue_report,
    ],
    jobs=[flights_job, orders_job],
    schedules=[orders_schedule],
    sensors=[blocked_gate_sensor("blocked_gates", on_blocked=_tell, default_status=dg.DefaultSensorStatus.RUNNING)],
    resources={"contract_gate": ContractGateResource()},
)  # fmt: skip
