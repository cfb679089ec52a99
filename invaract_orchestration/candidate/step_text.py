"""The steps of a contract as one query in plain Spark SQL, for the rules on the plan's shape, lineage and people."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from invaract_orchestration.candidate import step_marks as m
from invaract_orchestration.candidate.step_input import ROW
from invaract_orchestration.candidate.step_plan import ARRIVED, GOOD, StepPlan, link_view
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.contract.step_columns import SOURCE


def steps_query(contract: Contract, plan: StepPlan, dataset: str, query: str | None) -> str:
    """The whole chain over a dataset, or over the query that gives the rows."""
    columns = ", ".join(_name(f.name) for f in plan.source.fields)
    arrived = query or f"SELECT {columns} FROM {_name(dataset)}"
    parts = [f"{ARRIVED} AS ({arrived}\n)"]  # a query may end in a comment
    last = ARRIVED
    links = {link_view(link.name): link.name for link in contract.links}
    for step in (*plan.pre.steps, *plan.post.steps):
        before = last if step.before in (ARRIVED, GOOD) else step.before
        tables = {SOURCE: before, **{name.lower(): name for name in links.values()}}
        parts.append(f"{step.view} AS ({_plain(step.tree, tables)})")
        last = step.view
    chosen = ", ".join(_name(n) for n in plan.post.made if n.lower() in {f.name.lower() for f in contract.fields})
    return f"WITH {', '.join(parts)} SELECT {chosen or '*'} FROM {last}"


def _plain(tree: exp.Query, tables: Mapping[str, str]) -> str:
    plain = m.plain(tree)
    for select in plain.find_all(exp.Select):
        kept = [e for e in select.expressions if not (isinstance(e, exp.Column) and e.name == ROW)]
        select.set("expressions", kept)

    def placed(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier) or node.db:
            return node
        relation = tables.get(node.name.lower())
        return node if relation is None else exp.alias_(exp.to_table(relation, quoted=True), node.alias_or_name, table=True)

    return str(plain.transform(placed).sql(dialect="spark"))


def _name(text: str) -> str:
    return "`" + text.replace("`", "``") + "`"
