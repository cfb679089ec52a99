"""The checks of a contract with steps: which run before the post steps and which on their result."""

from __future__ import annotations

from invaract_orchestration.candidate.step_plan import Chain, StepPlan
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.checks.row_rules import RowCheck, row_checks
from invaract_orchestration.checks.schema_match import ObservedColumn, ObservedSchema, check_schema
from invaract_orchestration.contract.expression_names import columns_read
from invaract_orchestration.contract.expressions import check_condition, parse_condition
from invaract_orchestration.contract.model import Contract, SchemaPolicy
from invaract_orchestration.contract.phases import phase_of
from invaract_orchestration.contract.step_columns import rewritten_in_post
from invaract_orchestration.errors import GateError


def phased_checks(contract: Contract, plan: StepPlan) -> tuple[tuple[RowCheck, ...], tuple[RowCheck, ...]]:
    """The row checks of pre and those of post, without those of types, which are judged where values are read or cast. A check of
    a field that a post step rewrites is in both: `fields` say what is published.

    Raises:
        GateError: a check written `phase: pre` reads what is there only later, or a rule reads a column that is nowhere.
    """
    asked = [c for c in row_checks(contract) if c.kind != "type"]
    rewritten = rewritten_in_post(contract)
    early = tuple(c for c in asked if _phase(contract, plan, c) == "pre")
    late = tuple(c for c in asked if c not in early or _is_asked_again(contract, c, rewritten))
    for check, chain in (*((c, plan.pre) for c in early), *((c, plan.post) for c in late)):
        _require_columns(check, chain)
    return early, late


def _phase(contract: Contract, plan: StepPlan, check: RowCheck) -> str:
    names = (*plan.pre.columns, *plan.post.columns)
    if check.rule is not None:
        return phase_of(check.rule, names, plan.created)
    spec = check.spec
    assert spec is not None  # a check is of a field or of a rule
    top = contract.field(check.path[0])
    written = spec.phase or (top.phase if top is not None else None)
    if written is not None:
        return written
    found = {n.lower(): t for n, t in plan.pre.columns.items()}.get(check.path[0].lower())
    return "pre" if top is not None and found == top.type else "post"


def _is_asked_again(contract: Contract, check: RowCheck, rewritten: frozenset[str] | None) -> bool:
    if check.spec is None:
        return False  # a rule reads what its phase says
    top = contract.field(check.path[0])
    is_written = check.spec.phase is not None or (top is not None and top.phase is not None)
    return not is_written and (rewritten is None or check.path[0].lower() in rewritten)


def _require_columns(check: RowCheck, chain: Chain) -> None:
    if check.rule is not None:
        errors = check_condition(check.rule.sql, dict(chain.columns))
        if errors:
            raise _early(check, chain, str(errors[0]), errors[0].hint)
        return
    known = {n.lower(): t for n, t in chain.columns.items()}
    found = known.get(check.path[0].lower())
    if found is None:
        raise _early(check, chain, f"there is no column {check.path[0]!r}", None)
    if len(check.path) == 1 and found != check.type:
        raise _early(check, chain, f"{check.path[0]!r} is {found} there, and not {check.type} yet", None)


def _early(check: RowCheck, chain: Chain, why: str, hint: str | None) -> GateError:
    is_early = chain.phase == "pre"
    name = f"{check.check!r} (PHS-001)" if is_early else repr(check.check)
    said = "leave the phase out, or write post: it reads what only a later step makes" if is_early else hint
    return GateError(f"check {name} cannot run in phase {chain.phase}: {why}", code="contract.phase" if is_early else
                     "transformation.unknown_name", hint=said)  # fmt: skip


def read_columns(check: RowCheck, chain: Chain) -> frozenset[str]:
    """The columns of a phase that a check reads, in lower case."""
    if check.rule is None:
        return frozenset({check.path[0].lower()})
    return frozenset(n.lower() for n in columns_read(parse_condition(check.rule.sql), chain.columns))


def judge_result(contract: Contract, plan: StepPlan) -> tuple[CheckResult, ...]:
    """Whether the steps give the fields of the contract, in its types; other columns are left out. No row is read for it."""
    fields = {f.name.lower() for f in contract.fields}
    columns = [ObservedColumn(name=n, type=t) for n, t in plan.post.columns.items() if n.lower() in fields]
    strict = contract.model_copy(update={"schema_policy": SchemaPolicy()})  # what a policy lets through is cast by now
    results = check_schema(strict, (ObservedSchema(place="the result of the steps", columns=tuple(columns)),))
    return tuple(r for r in results if r.outcome != "kept")
