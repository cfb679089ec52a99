"""A mutation run over the rule files: which small changes of them would no case notice?

    python -m tests.plan.mutation_run [MODULE ...]

Each mutant changes one place (a comparison, a connector, a constant, a condition); every rule case in SQL, and the row-level
statements, are judged again in a process of its own. A survivor is printed with its place; exit code 1 when there is one.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.util
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import yaml

from invaract_orchestration.contract.field_types import Struct, parse_type

_PATIENCE = 60
ROOT = Path(__file__).parents[2] / "invaract_orchestration"
TARGETS = (
    "checks.plan_shape.columns", "checks.plan_shape.scopes", "checks.plan_shape.joins", "checks.plan_shape.cross_join",
    "checks.plan_shape.group_by", "checks.plan_shape.join_columns", "checks.plan_shape.filter_columns",
    "checks.plan_shape.row_level", "candidate.plan.predicates",
)  # fmt: skip
_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    module: str
    line: int
    what: str
    code: CodeType


def mutants_of(module: str) -> Iterator[Mutant]:
    path = ROOT / (module.replace(".", "/") + ".py")
    source = path.read_text(encoding="utf-8")
    count = len(list(_places(ast.parse(source))))
    for at in range(count):
        tree = ast.parse(source)
        node, what = list(_places(tree))[at]
        line = getattr(node, "lineno", 0)
        _change(node)
        yield Mutant(module, line, what, compile(ast.fix_missing_locations(tree), str(path), "exec"))


def _places(tree: ast.AST) -> Iterator[tuple[Any, str]]:
    decorators = {id(part) for node in ast.walk(tree) for d in getattr(node, "decorator_list", ()) for part in ast.walk(d)}
    for node in ast.walk(tree):
        if id(node) in decorators:
            continue
        match node:
            case ast.Compare():
                yield node, f"{type(node.ops[0]).__name__} -> {_SWAPS[type(node.ops[0])].__name__}"
            case ast.BoolOp():
                yield node, f"{type(node.op).__name__} -> {_SWAPS[type(node.op)].__name__}"
            case ast.UnaryOp(op=ast.Not()):
                yield node, "not removed"
            case ast.Constant(value=bool()):
                yield node, f"{node.value} -> {not node.value}"
            case ast.If() | ast.IfExp() | ast.While():
                yield node, "condition -> False"
            case ast.comprehension(ifs=[_, *_]):
                yield node, "filter removed"


def _change(node: Any) -> None:
    match node:
        case ast.Compare():
            node.ops[0] = _SWAPS[type(node.ops[0])]()
        case ast.BoolOp():
            node.op = _SWAPS[type(node.op)]()
        case ast.UnaryOp():
            node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
        case ast.Constant():
            node.value = not node.value
        case ast.comprehension():
            node.ifs = []
        case _:
            node.test = ast.Constant(False)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, mutant: Mutant) -> None:
        self._name, self._code = f"invaract_orchestration.{mutant.module}", mutant.code

    def find_spec(self, name: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(name, self) if name == self._name else None

    def exec_module(self, module: ModuleType) -> None:
        exec(self._code, module.__dict__)


Judged = list[tuple[dict[str, Any], Any]]


def judged_cases() -> Judged:
    """Everything that is judged again for each mutant, translated once: the translators are not mutated."""
    from invaract_orchestration.candidate.plan.sql import translate_sql
    from tests.plan.hidden_cases import HIDDEN
    from tests.plan.row_level_cases import OF_DIALECTS, ROW_LEVEL, SCHEMAS

    here = Path(__file__).parent
    content: dict[str, Any] = yaml.safe_load((here / "plan_cases.yaml").read_text())
    more: dict[str, Any] = yaml.safe_load((here / "more_cases.yaml").read_text())
    schemas = {
        table: Struct(tuple((name, parse_type(text)) for name, text in columns.items()))
        for table, columns in content["tables"].items()
    }
    cases: Judged = []
    for entry in (*content["cases"], *more["cases"]):
        if "sql" in entry:
            plan = translate_sql(entry["sql"], schemas, functions=frozenset(content["functions"])).plan
            cases.append((entry["rule"], plan))
    cases.extend((rule, translate_sql(sql, SCHEMAS).plan) for rule, sql, _ in ROW_LEVEL)
    cases.extend((rule, translate_sql(sql, SCHEMAS, dialect=dialect).plan) for dialect, rule, sql, _ in OF_DIALECTS)
    cases.extend((rule, plan) for rule, plan, _ in HIDDEN)
    return cases


def _outcomes(cases: Judged) -> str:
    from pydantic import TypeAdapter

    from invaract_orchestration.contract.plan_rules import PlanRule

    judge = importlib.import_module("invaract_orchestration.checks.plan_shape.judge").judge_plan_rule
    rules: TypeAdapter[PlanRule] = TypeAdapter(PlanRule)
    findings = [judge(rules.validate_python(rule), plan) for rule, plan in cases]
    return " ".join(f"{one.outcome}{'+note' * bool(one.notes)}" for one in findings)


def outcomes_under(mutant: Mutant | None, cases: Judged) -> str:
    """The outcomes of all cases, judged in a forked process; nothing where the mutant raises or hangs."""
    with tempfile.TemporaryFile("w+") as told:
        child = os.fork()
        if child == 0:
            try:
                signal.alarm(_PATIENCE)
                if mutant is not None:
                    sys.meta_path.insert(0, _Finder(mutant))
                told.write(_outcomes(cases))
                told.flush()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        told.seek(0)
        return told.read()


def main() -> int:
    """Print the survivors; 1 when there are some."""
    cases = judged_cases()
    expected = outcomes_under(None, cases)
    survivors, count = 0, 0
    for module in sys.argv[1:] or TARGETS:
        for mutant in mutants_of(module):
            count += 1
            if outcomes_under(mutant, cases) == expected:
                survivors += 1
                print(f"survived: {mutant.module}:{mutant.line}: {mutant.what}", flush=True)
    print(f"{count} mutants, {survivors} survivors")
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main())
