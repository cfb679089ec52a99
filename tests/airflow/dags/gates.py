"""DAGs of the tests: one gate each, told by the run's configuration what to submit."""

import json
from datetime import datetime, timedelta
from pathlib import Path

from airflow.providers.common.compat.sdk import DAG, Asset, task

from airflow_plugin.operators import ContractGateOperator
from airflow_plugin.sensors import ContractStatusSensor

START = datetime(2026, 9, 1)
PARAMS = {"contract": "", "source": None, "parameters": {}, "folder": "", "transform": None, "id": None, "conn": ""}
GATE = {
    "contract": "{{ params.contract }}",
    "source": "{{ params.source }}",
    "parameters": "{{ params.parameters }}",
    "retry_delay": timedelta(0),
}


def note_failure(context):
    result = context["exception"].result
    text = json.dumps({"state": result.state, "broken": [c.check for c in result.blocking]})
    Path(context["params"]["folder"], "failed.json").write_text(text)


def mend(context):
    """What stood in the store's way is gone by the next try."""
    Path(context["params"]["folder"], "lake", "_invaract").unlink(missing_ok=True)


def dag(name, **more):
    return DAG(name, schedule=None, start_date=START, params=PARAMS, render_template_as_native_obj=True, **more)


with dag("gate"):
    gate = ContractGateOperator(
        task_id="gate", retries=3, on_failure_callback=note_failure, on_retry_callback=mend, outlets=[Asset("batch")], **GATE
    )

    @task
    def after(report):
        return report["table_version"]

    after(gate.output)

with dag("gate_skips"):
    ContractGateOperator(task_id="gate", on_fail="skip", **GATE)

with dag("gate_plain"):
    ContractGateOperator(task_id="gate", contract=GATE["contract"], parameters=GATE["parameters"])

with dag("gate_templates"):
    ContractGateOperator(
        task_id="gate", target="tables.{{ params.parameters.part }}", engine="{{ 'duck' ~ 'db' }}",
        submission_id="{{ dag.dag_id }}-{{ ds_nodash }}", **GATE,
    )  # fmt: skip

with DAG(
    "gate_dated", schedule="@daily", start_date=START, end_date=datetime(2026, 9, 3), catchup=False, params=PARAMS,
    render_template_as_native_obj=True,
):  # fmt: skip
    ContractGateOperator(task_id="gate", outlets=[Asset("batch")], **GATE)

with dag("gate_then_crash"):

    @task(retries=0)
    def crash_once(report, **context):
        mark = Path(context["params"]["folder"], "crashed")
        if not mark.exists():
            mark.touch()
            raise RuntimeError("the step behind the gate crashes")
        return report["code"]

    crash_once(ContractGateOperator(task_id="gate", outlets=[Asset("batch")], **GATE).output)

with dag("gate_named"):
    ContractGateOperator(task_id="gate", submission_id="{{ params.id }}", **GATE)

with dag("gate_transforms"):
    ContractGateOperator(
        task_id="gate", transform="{{ params.transform }}", **{n: v for n, v in GATE.items() if n != "source"}
    )

with dag("gate_maps"):

    @task
    def list_partitions(**context):
        return [{"part": part} for part in context["params"]["parameters"]["parts"]]

    mapped = ContractGateOperator.partial(
        task_id="gate", contract=GATE["contract"], source=GATE["source"], retries=1, retry_delay=timedelta(0),
        outlets=[Asset("parts")],
    ).expand(parameters=list_partitions())  # fmt: skip

    @task
    def after_all(reports):
        return sorted(report["table_version"] for report in reports)

    after_all(mapped.output)

with dag("gate_decorated"):

    @task.contract_gate(contract="{{ params.contract }}", parameters="{{ params.parameters }}")
    def rows(values, parameters=None):
        import pyarrow

        return pyarrow.table({"id": [f"{parameters['part']}{value}" for value in values], "v": values})

    rows([1, 2])

with dag("wait"):
    ContractStatusSensor(
        task_id="wait", contract=GATE["contract"], parameters=GATE["parameters"], poke_interval=0.2, timeout=2,
        deferrable=False,
    )  # fmt: skip

with dag("wait_deferred"):
    ContractStatusSensor(
        task_id="wait", contract=GATE["contract"], parameters=GATE["parameters"], poke_interval=0.2, timeout=600,
        deferrable=True, retries=2, retry_delay=timedelta(0),  # Airflow fails a task that is resumed before its worker has ended
    )  # fmt: skip

with dag("gate_connected"):
    ContractGateOperator(task_id="gate", invaract_conn_id="audit", **GATE)

with dag("gate_after_all"):
    check = ContractGateOperator(task_id="check", outlets=[], **GATE)
    check >> ContractGateOperator(task_id="gate", outlets=[Asset("batch")], trigger_rule="all_done", **GATE)
