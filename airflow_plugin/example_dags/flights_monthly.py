"""A month of real flights goes to the reporting table when it keeps its contract; its consumers run after a publication only.

Trigger it with a `month` of 2013. With `faulty`, four of the months (2013-03, 05, 08, 11) arrive with a fault, as deliveries
sometimes do: the gate blocks, the table stays as it was, and the next run without it publishes the month. The lake is the
folder that `INVARACT_LAKE_ROOT` names.
"""

import os
from datetime import datetime
from pathlib import Path
from typing import Any

from airflow.providers.common.compat.sdk import DAG, Asset, Param, task

from airflow_plugin.operators import ContractGateOperator

PACKAGE = Path(__file__).parents[1]
BESIDE = PACKAGE.parent / "contracts"
CONTRACTS = BESIDE if BESIDE.is_dir() else PACKAGE.parent / "invaract_orchestration" / "contracts"
LANDING = f"{os.environ.get('INVARACT_LAKE_ROOT', 'lake')}/landing"

with DAG(
    dag_id="flights_monthly",
    schedule=None,
    start_date=datetime(2013, 1, 1),
    catchup=False,
    params={"month": Param("2013-01", pattern="^2013-(0[1-9]|1[0-2])$"), "faulty": False},
    doc_md=__doc__,
    tags=["invaract"],
):

    @task
    def deliver(**context: Any) -> str:
        """The producer writes the month's file."""
        from invaract_orchestration.demo.faults import FAULTS
        from invaract_orchestration.demo.flights import write_delivery, write_months

        month = context["params"]["month"]
        lines = write_months(Path(LANDING))[month].read_text(encoding="utf-8").splitlines(keepends=True)
        if not context["params"]["faulty"]:
            return "as agreed"
        write_delivery(Path(LANDING), month, FAULTS[month].apply(lines))
        return FAULTS[month].what

    gate = ContractGateOperator(
        task_id="publish_flights",
        contract=str(CONTRACTS / "flights.yaml"),
        source=f"{LANDING}/{{month}}/*.csv",
        parameters={"month": "{{ params.month }}"},
        retries=2,
    )

    @task
    def announce(report: Any) -> str:
        """Runs after a publication, and after a batch that was published before."""
        return f"{report['contract']} is at version {report['table_version']}"

    deliver() >> gate
    announce(gate.output)

with DAG(
    dag_id="punctuality", schedule=[Asset("flights")], start_date=datetime(2013, 1, 1), catchup=False, tags=["invaract"]
):

    @task
    def read_what_was_published(**context: Any) -> list[str]:
        """The submissions that this run was started for."""
        events = [event for found in context["triggering_asset_events"].values() for event in found]
        return [str(event.extra["submission_id"]) for event in events]

    read_what_was_published()
