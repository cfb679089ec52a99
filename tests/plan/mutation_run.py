"""A mutation run over the rule files: which small changes of them would no case notice?

    python -m tests.plan.mutation_run [MODULE ...]

Each mutant changes one place (a comparison, a connector, a constant, a condition); every rule case in SQL, the row-level
statements and the built plans are judged again in a process of its own. `survivors.yaml` names the mutants that cannot change a
verdict, with the reason; any other survivor is printed with its place, and the exit code is 1. A name that fits no survivor
is told too, so that the list does not outlive its code.
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

_PATIENCE = 60
ROOT = Path(__file__).parents[2] / "invaract_orchestration"
TARGETS = (
    "checks.plan_shape.columns", "checks.plan_shape.scopes", "checks.plan_shape.joins", "checks.plan_shape.cross_join",
    "checks.plan_shape.group_by", "checks.plan_shape.join_columns", "checks.plan_shape.filter_columns",
    "checks.plan_shape.row_level", "checks.plan_shape.tags", "candidate.plan.predicates",
)  # fmt: skip
_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    module: str
    function: str
    line: int
    text: str
    what: str
    code: CodeType

    def __str__(self) -> str:
        return f"{self.module}:{self.line} in {self.function}: {self.what} in `{self.text}`"


@dataclass(frozen=True)
class Named:
    """Survivors that cannot change a verdict: all of a function, or those of one piece of code in it."""

    place: str
    code: str
    why: str

    def means(self, mutant: Mutant) -> bool:
        is_here = self.place == f"{mutant.module.rpartition('.')[2]}.{mutant.function}"
        return is_here and self.code in ("all", mutant.text)


def mutants_of(module: str) -> Iterator[Mutant]:
    path = ROOT / (module.replace(".", "/") + ".py")
    source = path.read_text(encoding="utf-8")
    count = len(list(_places(ast.parse(source))))
    for at in range(count):
        tree = ast.parse(source)
        node, what = list(_places(tree))[at]
        shown = node.test if isinstance(node, ast.If | ast.IfExp | ast.While) else node
        line = getattr(shown, "lineno", None) or node.target.lineno
        function = _function_of(tree, node)
        text = " ".join(ast.unparse(shown).split())
        _change(node)
        code = compile(ast.fix_missing_locations(tree), str(path), "exec")
        yield Mutant(module, function, line, text, what, code)


def _function_of(tree: ast.AST, wanted: ast.AST) -> str:
    """The outermost function or method that holds a place."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(one is wanted for one in ast.walk(node)):
            return node.name
    return "module"


def named_survivors() -> list[Named]:
    listed = yaml.safe_load((Path(__file__).parent / "survivors.yaml").read_text(encoding="utf-8"))
    return [Named(one["in"], one["code"], one["why"]) for one in listed]


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


Judged = list[tuple[dict[str, Any], Any, dict[str, Any]]]


def judged_cases() -> Judged:
    """Everything that is judged again for each mutant, translated once: the translators are not mutated."""
    from invaract_orchestration.candidate.plan.sql import translate_sql
    from tests.plan.cases import load_cases, tag_rules
    from tests.plan.conftest import OWN_CASES
    from tests.plan.hidden_cases import HIDDEN
    from tests.plan.row_level_cases import OF_DIALECTS, ROW_LEVEL, SCHEMAS

    file = load_cases(*OWN_CASES)
    cases: Judged = []
    for case in file.of("rule"):
        if case.sql is not None:
            plan = translate_sql(case.sql, file.schemas, functions=frozenset(file.functions)).plan
            cases.append((case.entry["rule"], plan, {}))
    cases.extend(
        (rule, translate_sql(case.sql or "", file.schemas, functions=frozenset(file.functions)).plan, case.entry["tags"])
        for case in file.of("sensitivity")
        for rule, _ in tag_rules(case)
    )
    cases.extend((rule, translate_sql(sql, SCHEMAS).plan, {}) for rule, sql, _ in ROW_LEVEL)
    cases.extend((rule, translate_sql(sql, SCHEMAS, dialect=dialect).plan, {}) for dialect, rule, sql, _ in OF_DIALECTS)
    cases.extend((rule, plan, {"t.a": ["pii"]}) for rule, plan, _ in HIDDEN)
    return cases


def _outcomes(cases: Judged) -> str:
    from pydantic import TypeAdapter

    from invaract_orchestration.contract.plan_rules import PlanRule

    judge = importlib.import_module("invaract_orchestration.checks.plan_shape.judge").judge_plan_rule
    rules: TypeAdapter[PlanRule] = TypeAdapter(PlanRule)
    findings = [judge(rules.validate_python(rule), plan, tags=tags) for rule, plan, tags in cases]
    return " ".join(f"{one.outcome}{'+note' * bool(one.notes)}" for one in findings)


def _forget_rules() -> None:
    """Have the rule modules imported once more, through the finder; what they judge stays as it is."""
    for name in [one for one in sys.modules if one.startswith("invaract_orchestration.")]:
        if ".checks." in name or name.endswith(".plan.predicates"):
            del sys.modules[name]


def outcomes_under(mutant: Mutant | None, cases: Judged) -> str:
    """The outcomes of all cases, judged in a forked process; nothing where the mutant raises or hangs."""
    with tempfile.TemporaryFile("w+") as told:
        child = os.fork()
        if child == 0:
            try:
                signal.alarm(_PATIENCE)
                if mutant is not None:
                    sys.meta_path.insert(0, _Finder(mutant))
                    _forget_rules()
                told.write(_outcomes(cases))
                told.flush()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        told.seek(0)
        return told.read()


def main() -> int:
    """Print the survivors that nobody named; 1 when there are some."""
    cases = judged_cases()
    expected = outcomes_under(None, cases)
    modules = sys.argv[1:] or TARGETS
    named, used = named_survivors(), set[Named]()
    count, survivors, others = 0, 0, 0
    for module in modules:
        for mutant in mutants_of(module):
            count += 1
            if outcomes_under(mutant, cases) != expected:
                continue
            survivors += 1
            names = [one for one in named if one.means(mutant)]
            used.update(names)
            if not names:
                others += 1
                print(f"survived: {mutant}", flush=True)
    short = {module.rpartition(".")[2] for module in modules}
    stale = [one for one in named if one not in used and one.place.partition(".")[0] in short]
    for one in stale:
        print(f"named, but no survivor: {one.place}: `{one.code}`")
    said = f"{others} survivors that nobody named" if others else "no survivor that changes a verdict"
    print(f"{count} mutants, {survivors - others} named as unable to change a verdict, {said}")
    return int(others > 0 or bool(stale))


if __name__ == "__main__":
    sys.exit(main())
