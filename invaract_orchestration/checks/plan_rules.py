"""Plan-shape rules in the verdict: judged on the compiled plan, before any row is read."""

from __future__ import annotations

from collections.abc import Iterator

from invaract_orchestration.candidate.compiled import CompiledPlan, input_tags
from invaract_orchestration.candidate.plan.sql import translate_sql
from invaract_orchestration.candidate.statement import publish_statement
from invaract_orchestration.checks.plan_shape import PlanFinding, judge_plan_rule
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.contract.field_types import Struct
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.contract.plan_rules import PlanRule

STATEMENT_RULES = ("merge_condition", "forbid_unconditional_delete", "allowed_update_columns")


def plan_rule_id(rule: PlanRule) -> str:
    """The stable id of a rule: its own name, else `plan|<type>`."""
    return rule.name or f"plan|{rule.type}"


def judge_plan_rules(contract: Contract, compiled: CompiledPlan) -> tuple[CheckResult, ...]:
    """One result per rule: on the transformation, or for rules on row changes on the statement that publishes."""
    return (*_judge_inputs(contract, compiled), *(_judged(contract, rule, compiled) for rule in contract.rules))


def _judged(contract: Contract, rule: PlanRule, compiled: CompiledPlan) -> CheckResult:
    plan = compiled.plan
    if rule.type in STATEMENT_RULES:
        columns = Struct(tuple((f.name, f.type) for f in contract.fields))
        target = contract.publish.target if contract.publish else "target"
        plan = translate_sql(publish_statement(contract), {target: columns, "candidate": columns}).plan
    finding = judge_plan_rule(rule, plan, case_sensitive=compiled.case_sensitive, tags=input_tags(contract))
    return CheckResult(
        check=plan_rule_id(rule), stage="plan", outcome=finding.outcome, severity=rule.severity, expected=_expected(rule),
        found=_found(finding), evidence="plan", hint=finding.hint if finding.outcome != "kept" else None, place=finding.node,
    )  # fmt: skip


def _expected(rule: PlanRule) -> str:
    options = rule.model_dump(exclude_defaults=True, exclude={"type", "name", "severity"})
    return rule.type + "".join(f", {k}: {_text(v)}" for k, v in options.items())


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple | set | frozenset) else str(value)


def _found(finding: PlanFinding) -> str:
    file = "" if finding.file is None else f" of {finding.file}"
    is_told = finding.line is None or " (line " in finding.reason
    line = "" if is_told else f" (line {finding.line}{file})"
    return finding.reason + line + "".join(f"; note: {n}" for n in finding.notes)


def _judge_inputs(contract: Contract, compiled: CompiledPlan) -> Iterator[CheckResult]:
    """Declared inputs against those that the query reads, and their declared fields against the real ones."""
    source = contract.source
    if source is None or not source.inputs:
        return
    read = {name.lower(): struct for name, struct in compiled.inputs.items()}
    undeclared = sorted(n for n in compiled.inputs if n.lower() not in {d.lower() for d in source.inputs})
    unread = sorted(n for n in source.inputs if n.lower() not in read)
    wrong = [
        f"{name}.{spec.name} is {_type_of(read[name.lower()], spec.name) or 'missing'}, not {spec.type}"
        for name, fields in source.input_fields.items()
        if name.lower() in read
        for spec in fields
        if _type_of(read[name.lower()], spec.name) != str(spec.type)
    ]
    parts = [
        *([f"reads undeclared {', '.join(undeclared)}"] if undeclared else []),
        *([f"does not read {', '.join(unread)}"] if unread else []), *wrong,
    ]  # fmt: skip
    yield CheckResult(
        check="plan|inputs", stage="plan", outcome="broken" if parts else "kept", evidence="plan",
        expected=f"the query reads {', '.join(sorted(source.inputs))}, with the declared fields",
        found="; ".join(parts) or "as declared",
        hint="declare what the query reads in source.inputs, and take out what it does not" if parts else None,
    )  # fmt: skip


def _type_of(struct: Struct, name: str) -> str | None:
    return next((str(t) for n, t in struct.fields if n == name), None)
