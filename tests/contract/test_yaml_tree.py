"""YAML that is refused, or read as the texts that stand in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.contract.yaml_tree import ListNode, MapNode, ScalarNode, YamlError, compose
from invaract_orchestration.errors import ContractError


def refused(text: str) -> str:
    with pytest.raises(ContractError) as caught:
        load_contract_text(text, file="c.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("tag", "shown"),
    [
        ("!!python/object/apply:os.system ['touch marker']", "!!python/object/apply:os.system"),
        ("!!python/name:os.system", "!!python/name:os.system"),
        ("!!str x", "!!str"),
        ("!!binary aGk=", "!!binary"),
        ("!mine x", "!mine"),
        ("! x", "!"),
    ],
)
def test_tag_is_refused_and_never_runs(tag: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"c.yaml:1:7: tag '{shown}' is not accepted" in refused(f"name: {tag}\ncolumns: []\n")
    assert not (tmp_path / "marker").exists()


def test_repeated_keys_are_all_told() -> None:
    text = "contract: a\ncontract: b\nfields:\n- {name: x, type: int, type: string}\n"
    assert refused(text) == (
        "c.yaml:2:1: key 'contract' is there twice, first in line 1\n  Hint: keep one of them\n"
        "c.yaml:4:24: key 'type' is there twice, first in line 4\n  Hint: keep one of them"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a:\n\tb: 1\n", "c.yaml:2:1: expected YAML, found a tab in the indentation"),
        ("a: [1\nb: 2\n", "c.yaml:2:2: expected YAML, found a list '[' that is not closed"),
        ("a: {x: 1\nb: 2\n", "c.yaml:2:2: expected YAML, found a mapping '{' that is not closed"),
        ("a: 'x\n", "c.yaml:2:1: expected YAML, found a quote that is not closed"),
        ("a: b: c\n", "c.yaml:1:5: expected YAML, found a second ':' in one value"),
        ("a: 1\n b: 2\n", "c.yaml:2:3: expected YAML, found a second ':' in one value"),
        ("a: 1\nb\n", "c.yaml:3:1: expected YAML, found a line without ':' where a key was expected"),
        ('a: "\\d"\n', "c.yaml:1:6: expected YAML, found an unknown escape in a text in double quotes"),
        ("a: @x\n", "c.yaml:1:4: expected YAML, found a character that cannot begin a value"),
        ("a: *x\n", "c.yaml:1:4: alias '*x' names no anchor that is complete before it"),
        ("a: &x [*x]\n", "c.yaml:1:8: alias '*x' names no anchor that is complete before it"),
        ("a: 1\n---\nb: 2\n", "c.yaml:2:1: expected one document, found a second one"),
        ("", "c.yaml: expected a contract, found an empty file"),
        ("# nothing\n", "c.yaml: expected a contract, found an empty file"),
        ("a: \x00\n", "c.yaml:1:4: expected YAML, found the control character U+0000"),
        ("a: x\n? [b]\n: c\n", "c.yaml:2:3: expected a text as key, found a list or a mapping"),
        ("? \n: c\n", "c.yaml:1:2: expected a key before ':', found nothing"),
        ('a: "\\ud800"\n', "c.yaml:1:4: the text holds half of a character (a lone surrogate)"),
        ('a: "\\UFFFFFFFF"\n', "c.yaml: a number in an escape or a directive is out of range"),
        ("<<: {contract: a}\n", "c.yaml:1:1: unknown key '<<'\n  Hint: merge keys are not read: write the keys out"),
        ("a: " + "[" * 60 + "]" * 60 + "\n", "nested deeper than 50 levels"),
        ("a: " + "x" * 1_000_001, "c.yaml: the text is longer than 1,000,000 characters"),
    ],
)
def test_text_that_cannot_be_read_is_told_with_its_place(text: str, message: str) -> None:
    assert message in refused(text)


def test_aliases_that_multiply_are_stopped() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "more than 50,000 values, counting what aliases stand for" in refused("\n".join(lines))


def test_scalars_keep_text_place_and_quotes() -> None:
    root, problems = compose("a: 010\nb: 'on'\nc: |\n  two\n  lines\nd:\n", "c.yaml")
    assert problems == []
    assert isinstance(root, MapNode)
    scalars = [v for _, v in root.entries if isinstance(v, ScalarNode)]
    assert [(s.text, s.is_plain, s.is_null, s.at.line, s.at.column) for s in scalars] == [
        ("010", True, False, 1, 4),
        ("on", False, False, 2, 4),
        ("two\nlines\n", False, False, 3, 4),
        ("", True, True, 6, 3),
    ]


def test_null_is_only_what_stands_without_quotes() -> None:
    root, _ = compose("[~, '~', null, 'null', '', Null]", "c.yaml")
    assert isinstance(root, ListNode)
    assert [i.is_null for i in root.items if isinstance(i, ScalarNode)] == [True, False, True, False, False, True]


def test_compose_stops_with_one_problem() -> None:
    with pytest.raises(YamlError) as caught:
        compose("a: [", "c.yaml")
    assert caught.value.problem.file == "c.yaml"
