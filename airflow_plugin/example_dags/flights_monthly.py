"""A month of flights goes to the reporting table when it keeps its contract; its consumers run after a publication only.

The files are looked for below `landing/<month>` in the lake (`INVARACT_LAKE_ROOT`), or where the run's configuration says.
"""

import os
from datetime import datetime
from pathlib import Path
from typing import Any

from airflow.providers.common.compat.sdk import DAG, Asset, task

from airflow_plugin.operators import ContractGateOperator

CONTRACT = Path(__file__).with_name("flights.yaml")
LANDING = f"{os.environ.get('INVARACT_LAKE_ROOT', 'lake')}/landing"

with DAG(
    dag_id="flights_monthly",
    schedule=None,
    start_date=datetime(2013, 1, 1),
    catchup=False,
    params={"month": "2013-01", "landing": LANDING},
    tags=["invaract"],
):
    gate = ContractGateOperator(
        task_id="publish_flights",
        contract=str(CONTRACT),
        source="{{ params.landing }}/{month}/*.csv",
        parameters={"month": "{{ params.month }}"},
        retries=2,
    )

    @task
    def announce(report: Any) -> str:
        """Runs after a publication, and after a batch that was published before."""
        return f"{report['contract']} is at version {report['table_version']}"

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
