"""A gate whose worker dies right after the commit of its first try, and the consumers of what it publishes."""

import os
import signal
from datetime import datetime, timedelta

from airflow.providers.common.compat.sdk import DAG, Asset, task

from airflow_plugin.operators import ContractGateOperator


class DyingGateOperator(ContractGateOperator):
    """Killed between the commit on the table and everything after it; `params.dies` says who: the task, or its supervisor too."""

    def _submit(self, context):
        from invaract_orchestration.engines.delta.publisher import DeltaPublisher

        dies = context["params"]["dies"]
        if dies and context["ti"].try_number == 1:
            publish = DeltaPublisher.publish

            def publish_and_die(publisher, intent):
                publish(publisher, intent)
                if dies == "supervisor":
                    os.kill(os.getppid(), signal.SIGKILL)
                os.kill(os.getpid(), signal.SIGKILL)

            DeltaPublisher.publish = publish_and_die
        return super()._submit(context)


with DAG(
    "dying", schedule=None, start_date=datetime(2026, 9, 1), render_template_as_native_obj=True,
    params={"contract": "", "source": "", "parameters": {}, "folder": "", "dies": ""},
):  # fmt: skip
    DyingGateOperator(
        task_id="gate", contract="{{ params.contract }}", source="{{ params.source }}", parameters="{{ params.parameters }}",
        retries=2, retry_delay=timedelta(seconds=1), outlets=[Asset("dying")],
    )  # fmt: skip

with DAG("consumer", schedule=[Asset("dying")], start_date=datetime(2026, 9, 1)):

    @task
    def consume(**context):
        """The submissions that the run was started for."""
        events = [event for found in context["triggering_asset_events"].values() for event in found]
        return [[event.extra["submission_id"], event.extra["counts"].get("candidate")] for event in events]

    consume()
