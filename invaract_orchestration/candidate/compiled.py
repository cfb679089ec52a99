"""The compiled plan of a batch: what the code does, before any of it runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from invaract_orchestration.candidate.plan.diagnostics import Diagnostic, Translation
from invaract_orchestration.candidate.plan.expressions import Alias, Attribute, Expression, Literal, UnknownExpression, reference
from invaract_orchestration.candidate.plan.lineage import output_lineage
from invaract_orchestration.candidate.plan.nodes import Plan, Project, Read, UnknownPlan
from invaract_orchestration.candidate.plan.render import render_plan
from invaract_orchestration.candidate.plan.sensitivity import output_tags
from invaract_orchestration.candidate.plan.sql import translate_sql
from invaract_orchestration.candidate.step_plan import StepPlan
from invaract_orchestration.candidate.step_text import steps_query
from invaract_orchestration.contract.field_types import Struct
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.intake.batch import Batch


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledPlan:
    """A plan with the columns of its inputs by name, and what was lost on the way to it."""

    plan: Plan
    inputs: Mapping[str, Struct]
    diagnostics: tuple[Diagnostic, ...] = ()
    case_sensitive: bool = False

    def sources(self) -> dict[str, tuple[tuple[str, str], ...]]:
        """Output column to the (input, column) pairs that it derives from."""
        return {
            name: tuple(sorted((source.dataset, ".".join(source.path)) for source in one.sources))
            for name, one in output_lineage(self.plan).items()
        }

    def describe(self, tags: Mapping[str, tuple[str, ...]]) -> dict[str, str | int | None]:
        """The plan for the audit: its tree without literals, a digest of that, lineage and tags by output column."""
        tree = render_plan(self.plan)
        lineage = {
            name: {"sources": sorted(map(str, one.sources)), "kind": one.derivation, "through": sorted(one.aggregations)}
            for name, one in output_lineage(self.plan).items()
        }
        carried = {name: sorted(found) for name, found in output_tags(self.plan, tags).items() if found}
        return {
            "plan": tree, "plan_digest": "sha256:" + hashlib.sha256(tree.encode()).hexdigest(),
            "lineage": json.dumps(lineage, sort_keys=True), "tags": json.dumps(carried, sort_keys=True),
            "diagnostics": len(self.diagnostics),
        }  # fmt: skip


def compile_plan(
    contract: Contract, batch: Batch, inputs: Mapping[str, Struct], frame: Translation | None, *, first_id: int = 0,
    steps: StepPlan | None = None,
) -> CompiledPlan:  # fmt: skip
    """The plan of a batch: of its query, its frame or its function, or a bare read of its files or table.

    `first_id` is where the ids of its columns begin, for a plan that becomes part of another one.

    A frame whose plan the engine cannot tell is a leaf that hides what made it: a rule on it is then unverifiable, never kept.
    """
    if steps is not None and contract.transformations and batch.frame is None:
        return _of_steps(contract, batch, inputs, steps)
    if batch.frame is not None or batch.transform is not None:
        hidden = UnknownPlan(description="rows handed in", source_type="frame")
        told = frame or Translation(plan=hidden)
        return CompiledPlan(
            plan=told.plan, inputs=inputs, diagnostics=told.diagnostics, case_sensitive=told.case_sensitive
        )
    if batch.query is not None:
        translation: Translation = translate_sql(batch.query, inputs, first_id=first_id)
        return CompiledPlan(plan=translation.plan, inputs=inputs, diagnostics=translation.diagnostics)
    name = _dataset(contract, batch)
    columns = tuple(Attribute(id=i, name=f.name, type=f.type) for i, f in enumerate(contract.fields, first_id))
    return CompiledPlan(plan=Read(dataset=name, columns=columns, format=batch.source.format), inputs=inputs)


def _of_steps(contract: Contract, batch: Batch, inputs: Mapping[str, Struct], steps: StepPlan) -> CompiledPlan:
    """The plan of the declared steps, over the query or the dataset that gives the rows."""
    dataset = _dataset(contract, batch)
    own = Struct(tuple((f.name, f.type) for f in steps.source.fields))
    known = {**inputs} if batch.query is not None else {**inputs, dataset: own}
    known |= {name: Struct(tuple(columns.items())) for name, columns in steps.links.items()}
    translation = translate_sql(steps_query(contract, steps, dataset, batch.query), known)
    return CompiledPlan(plan=translation.plan, inputs=known, diagnostics=translation.diagnostics)


def _dataset(contract: Contract, batch: Batch) -> str:
    return batch.table or (contract.source.location if contract.source else None) or "handed in"


def put_out(source: Plan, columns: tuple[Attribute, ...]) -> Plan:
    """A plan with these columns, each by its name; one that it does not have is null, or any of those that nobody names."""
    if isinstance(source, Read):
        return Read(dataset=source.dataset, columns=columns, format=source.format)
    made = {a.name.lower(): a for a in source.output}
    wanted = {c.name.lower() for c in columns}
    rest = tuple(reference(a) for a in source.output if a.name.lower() not in wanted)

    def value(column: Attribute) -> Expression:
        if column.name.lower() in made:
            return reference(made[column.name.lower()])
        return UnknownExpression("column", rest) if rest else Literal(None, column.type)

    return Project(child=source, items=tuple(Alias(c, value(c)) for c in columns))


def input_tags(contract: Contract) -> dict[str, tuple[str, ...]]:
    """Sensitivity tags of the inputs' columns, as `input.column`."""
    declared = contract.source.input_fields if contract.source else {}
    return {
        f"{name}.{spec.name}": spec.sensitivity_tags
        for name, fields in declared.items()
        for spec in fields
        if spec.sensitivity_tags
    }
