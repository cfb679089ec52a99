"""What the operator tells OpenLineage after a run of it; the events themselves are tested with the scheduler."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def facets(airflow_home: Path) -> Any:
    def read(setup: Any, part: str) -> Any:
        from contextlib import suppress
        from types import SimpleNamespace

        from airflow.providers.common.compat.sdk import AirflowFailException

        from airflow_plugin.operators import ContractGateOperator

        source = f"{setup.lake.landing}/{{part}}.csv"
        operator = ContractGateOperator(
            task_id="gate", contract=str(setup.contract), source=source, parameters={"part": part}, outlets=[]
        )
        instance = SimpleNamespace(
            dag_id="d", task_id="gate", run_id="r", map_index=-1, try_number=1, xcom_push=lambda key, value: None
        )
        with suppress(AirflowFailException):
            operator.execute({"ti": instance, "outlet_events": {}})  # type: ignore[typeddict-item]
        return operator.get_openlineage_facets_on_complete(instance)

    return read


def test_published_batch_has_assertions_and_column_lineage(setup: Any, facets: Any) -> None:
    file = setup.lake.land("p.csv", "id,v", "A1,1")

    found = facets(setup, "p")

    (given,), (put,) = found.inputs, found.outputs
    assert (given.namespace, given.name) == ("file", str(file))
    assertions = {a.assertion: a.success for a in given.inputFacets["dataQualityAssertions"].assertions}
    assert assertions["v|required"] is True
    assert (put.namespace, put.name) == ("file", str(setup.lake.root / "reporting" / "batch"))
    fields = put.facets["columnLineage"].fields
    assert {c: [(f.name, f.field) for f in one.inputFields] for c, one in fields.items()} == {
        "id": [(str(file), "id")], "v": [(str(file), "v")],
    }  # fmt: skip
    assert put.outputFacets["outputStatistics"].rowCount == 1
    assert put.facets["version"].datasetVersion == str(setup.lake.version("reporting/batch"))


def test_blocked_batch_has_its_failed_assertion_and_no_output(setup: Any, facets: Any) -> None:
    setup.lake.land("p.csv", "id,v", "A1,")

    found = facets(setup, "p")

    assert found.outputs == []
    failed = [a for a in found.inputs[0].inputFacets["dataQualityAssertions"].assertions if not a.success]
    assert [(a.assertion, a.column, a.severity) for a in failed] == [("v|required", "v", "error")]
    assert "A1" not in json.dumps([a.actual for a in failed])
