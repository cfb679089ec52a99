"""OpenLineage facets of an attempt, built from its audit: the checks as assertions on the input, the target as output.

A batch that was not published has no output dataset.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_plugin.exceptions import GateUnavailable

if TYPE_CHECKING:
    from airflow_plugin.operators import ContractGateOperator
    from invaract_orchestration.audit.result import GateResult
    from invaract_orchestration.checks.result import CheckResult

_FILES = "file"
Origins = Mapping[str, list[tuple[str, str]]]
"""Output column to the dataset and column of each of its sources."""


def operator_lineage(operator: ContractGateOperator, result: GateResult | None) -> Any:
    """What OpenLineage's listener asks an operator for; null when the task did not get as far as an attempt."""
    if result is None:
        return None
    from airflow.providers.openlineage.extractors import OperatorLineage

    inputs, origins = _sources(operator, result)
    return OperatorLineage(
        inputs=[_input(name, result) for name in inputs],
        outputs=[_output(result, origins)] if result.publication is not None else [],
    )


def _input(name: str, result: GateResult) -> Any:
    from openlineage.client.event_v2 import InputDataset
    from openlineage.client.facet_v2 import data_quality_assertions_dataset as quality

    facet = quality.DataQualityAssertionsDatasetFacet(assertions=[_assertion(c) for c in result.checks])
    return InputDataset(namespace=_FILES, name=name, inputFacets={"dataQualityAssertions": facet})


def _assertion(check: CheckResult) -> Any:
    from openlineage.client.facet_v2 import data_quality_assertions_dataset as quality

    column, mark, _ = check.check.partition("|")
    return quality.Assertion(
        assertion=check.check, success=check.outcome == "kept", column=column if mark else None, severity=check.severity,
        name=check.check, expected=check.expected, actual=check.found,
    )  # fmt: skip


def _output(result: GateResult, origins: Origins) -> Any:
    from openlineage.client.event_v2 import OutputDataset
    from openlineage.client.facet_v2 import column_lineage_dataset as lineage
    from openlineage.client.facet_v2 import dataset_version_dataset, output_statistics_output_dataset

    assert result.publication is not None  # see operator_lineage
    fields = {
        column: lineage.Fields(inputFields=[lineage.InputField(namespace=_FILES, name=d, field=f) for d, f in sources])
        for column, sources in origins.items()
    }
    version = str(result.publication.table_version)
    facets: dict[str, Any] = {"version": dataset_version_dataset.DatasetVersionDatasetFacet(datasetVersion=version)}
    if fields:
        facets["columnLineage"] = lineage.ColumnLineageDatasetFacet(fields=fields)
    statistics = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=result.counts.candidate)
    return OutputDataset(
        namespace=_FILES, name=result.target, facets=facets, outputFacets={"outputStatistics": statistics}
    )


def _sources(operator: ContractGateOperator, result: GateResult) -> tuple[list[str], Origins]:
    """The input datasets, and where each output column comes from, as the recorded plan has it."""
    recorded = _recorded(operator, result)
    tables = {table.rpartition(".")[2]: place for table, place in recorded.get("inputs", {}).items()}
    place = f"{result.target}__candidates" if operator.is_frame else _place(operator, recorded.get("location"), result)
    inputs = [str(p) for p in tables.values()] or [place]
    if not recorded.get("lineage"):  # read as it is: no plan was recorded, every column is the one of its name
        return inputs, {column: [(place, column)] for column in recorded.get("columns", ())}
    origins = {
        column: [_source(one, tables, place) for one in found["sources"]] for column, found in recorded["lineage"].items()
    }
    return inputs, {column: found for column, found in origins.items() if found}


def _source(name: str, tables: Mapping[str, str], place: str) -> tuple[str, str]:
    """`table.column` as the plan says it; a place of files has dots of its own before the last one."""
    table, _, column = name.rpartition(".")
    return tables.get(table, place), column


def _recorded(operator: ContractGateOperator, result: GateResult) -> dict[str, Any]:
    try:
        with operator.hook().audit() as store:
            view = store.attempt(result.attempt_id)
    except GateUnavailable:  # lineage is no reason to fail a task
        return {}
    if view is None:
        return {}
    document = json.loads(view.attempt.contract_version.document)
    source = document.get("source") or {}
    lineages = [json.loads(str(e.detail["lineage"])) for e in view.events if e.detail.get("lineage")]
    return {
        "inputs": source.get("inputs") or {}, "location": source.get("location"), "lineage": lineages[-1] if lineages else {},
        "columns": [f["name"] for f in document.get("fields", ())],
    }  # fmt: skip


def _place(operator: ContractGateOperator, location: str | None, result: GateResult) -> str:
    """The folder of the batch's files: its place up to the first part with a pattern in it."""
    text = operator.source or location or result.target
    for name, value in result.parameters.items():
        text = text.replace(f"{{{name}}}", value)
    parts = (Path(operator.contract).absolute().parent / text).parts
    fixed = list(takewhile(lambda part: not set(part) & set("*?["), parts))
    return str(Path(*fixed))
