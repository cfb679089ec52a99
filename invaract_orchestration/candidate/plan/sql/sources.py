"""What a source and a join of a FROM say of themselves."""

from __future__ import annotations

from sqlglot import exp

from invaract_orchestration.candidate.plan.nodes import JoinKind


def is_function(node: exp.Table) -> bool:
    """Whether a source is a call."""
    return isinstance(node.this, exp.Func)


def is_table_generator(node: exp.Expr) -> bool:
    """A table function that reads the tables before it. What stands before the `=` of an argument is its name, no column."""
    if not isinstance(node, exp.Table) or not is_function(node):
        return False
    named = {id(one.this) for one in node.this.expressions if isinstance(one, exp.EQ)}
    return any(id(column) not in named for column in node.this.find_all(exp.Column))


def is_nearest(join: exp.Join) -> bool:
    """Whether a join takes the nearest row by the last column of its USING."""
    words = {str(join.args.get(part) or "").upper() for part in ("method", "kind")}
    return "ASOF" in words and join.args.get("match_condition") is None


def kind_of(join: exp.Join) -> JoinKind:
    """The kind of a join, whether it is written before the word or as a side."""
    kind = (join.args.get("kind") or "").upper()
    side = (join.args.get("side") or "").upper()
    if kind in ("SEMI", "ANTI", "CROSS"):
        return "semi" if kind == "SEMI" else "anti" if kind == "ANTI" else "cross"
    if side in ("LEFT", "RIGHT", "FULL"):
        return "left" if side == "LEFT" else "right" if side == "RIGHT" else "full"
    return "full" if kind == "OUTER" else "inner"


def alias_of(node: exp.Expr) -> tuple[list[str], tuple[str, ...]]:
    """The names of columns that an alias gives, and its own in lower case; both empty without one."""
    alias = node.args.get("alias")
    if not isinstance(alias, exp.TableAlias):
        name = alias.name if isinstance(alias, exp.Expr) else alias
        return [], ((str(name).lower(),) if name else ())
    columns = [getattr(c, "name", "") for c in alias.args.get("columns") or ()]
    return columns, ((alias.name.lower(),) if alias.this is not None else ())
