"""A tree of texts bound to the model: each scalar becomes what the model expects at its place, or a problem.

The model's annotations lead. Values of a wrong kind never reach pydantic, so that nothing is coerced; what is left
to it are the model's own validators, whose findings get the place of the value they are about.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from invaract_orchestration.contract.field_types import FieldType, TypeSyntaxError, parse_type, type_names
from invaract_orchestration.contract.pydantic_messages import sentence_of
from invaract_orchestration.contract.report import Path, Report, nearest, quoted_list, shown, suggest
from invaract_orchestration.contract.yaml_tree import ListNode, MapNode, Node, ScalarNode

Model = TypeVar("Model", bound=BaseModel)


class _Failed:
    """The value of a place where a problem was found."""


FAILED: Final = _Failed()
_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)\Z", re.ASCII)
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?\Z", re.ASCII)
_MAX_DIGITS = 18
_UNWRITTEN = "write a value, or leave the key out"


def bind_model(cls: type[Model], node: Node, path: Path, report: Report) -> Model | _Failed:
    """The model that a mapping holds. Where something in it is wrong, the problems are reported and the rest is kept,
    with the default, else None, in the place of what failed."""
    if not isinstance(node, MapNode):
        _mismatch(path, node, "a mapping of keys to values", report)
        return FAILED
    values: dict[str, Any] = {}
    failed: set[str] = set()
    for key, value in node.entries:
        info = cls.model_fields.get(key.text)
        if info is None:
            _unknown_key(cls, key, path, report)
            failed.add(key.text)
            continue
        inner = (*path, key.text)
        report.locate(inner, value, f"{report.label(path)}.{key.written or key.text}")
        bound = bind(_annotation(info), value, inner, report)
        if bound is FAILED or not report.is_sound(inner):
            failed.add(key.text)
        if bound is not FAILED:
            values[key.text] = bound
    return _validated(cls, values, failed, path, report)


def bind(annotation: Any, node: Node, path: Path, report: Report) -> Any:
    """The value of a node where the model expects `annotation`, or FAILED with the problem reported."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _annotated(annotation, node, path, report)
    if origin in (Union, types.UnionType):
        return _union(annotation, node, path, report)
    if origin is tuple:
        return _list(get_args(annotation)[0], node, path, report)
    if origin is dict:
        return _dict(get_args(annotation)[1], node, path, report)
    if annotation is Any:
        return plain_data(node)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return bind_model(annotation, node, path, report)
    if not isinstance(node, ScalarNode):
        return _mismatch(path, node, _expectation(annotation), report)
    if node.is_empty:
        report.add(path, f"expected {_expectation(annotation)}, found nothing", hint=_UNWRITTEN)
        return FAILED
    if origin is Literal:
        return _choice(get_args(annotation), node, path, report)
    return _SCALARS.get(annotation, _text)(node, path, report)


def plain_data(node: Node) -> Any:
    """A node as lists, mappings and texts; nothing written is None."""
    if isinstance(node, ScalarNode):
        return None if node.is_empty else node.text
    if isinstance(node, ListNode):
        return [plain_data(item) for item in node.items]
    return {key.text: plain_data(value) for key, value in node.entries}


def describe(node: Node) -> str:
    """What a node is, for a message."""
    if isinstance(node, ListNode):
        return "a list"
    if isinstance(node, MapNode):
        return "a mapping"
    if node.is_empty:
        return "nothing"
    return shown(node.text) if node.is_plain else f"the quoted text {shown(node.text)}"


def _annotation(info: FieldInfo) -> Any:
    tag = info.discriminator
    return Annotated[info.annotation, info] if tag is not None else info.annotation


def _mismatch(path: Path, node: Node, expected: str, report: Report) -> _Failed:
    hint = None
    if isinstance(node, ScalarNode) and node.is_empty:
        hint = _UNWRITTEN
    elif isinstance(node, MapNode) and "text" in expected:
        hint = "quote a text that begins with '{'"
    report.add(path, f"expected {expected}, found {describe(node)}", hint=hint)
    return FAILED


def _unknown_key(cls: type[BaseModel], key: ScalarNode, path: Path, report: Report) -> None:
    hint = suggest(key.text, cls.model_fields, "known keys here")
    if key.text == "<<":
        hint = "merge keys are not read: write the keys out"
    written = key.written or key.text
    report.add(path, f"unknown key {shown(written)}", hint=hint, code="contract.unknown_key", at=key.at)


def _validated(cls: type[Model], values: dict[str, Any], failed: set[str], path: Path, report: Report) -> Model:
    sound = {k: v for k, v in values.items() if k not in failed}
    try:
        instance = cls.model_validate(sound)
        if not failed:
            return instance
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            place = tuple(detail["loc"])
            if failed and (not place or (place[0] in failed)):
                continue  # it follows from what is reported already
            message, hint = sentence_of(dict(detail))
            report.add((*path, *place), message, hint=hint)
            values.pop(str(place[0]), None) if place else None
    blanks = {name: None for name, info in cls.model_fields.items() if info.is_required() and name not in values}
    return cls.model_construct(**values, **blanks)


def _annotated(annotation: Any, node: Node, path: Path, report: Report) -> Any:
    inner, *metadata = get_args(annotation)
    tag = next((m.discriminator for m in metadata if isinstance(m, FieldInfo) and m.discriminator), None)
    if not isinstance(tag, str):
        return bind(inner, node, path, report)
    if not isinstance(node, MapNode):
        return _mismatch(path, node, "a mapping of keys to values", report)
    classes = {get_args(c.model_fields[tag].annotation)[0]: c for c in get_args(inner)}
    chosen = node.get(tag)
    if chosen is None:
        report.add(path, f"'{tag}' is missing", hint=f"one of {quoted_list(classes)}")
        return FAILED
    report.locate((*path, tag), chosen, f"{report.label(path)}.{tag}")
    name = _choice(tuple(classes), chosen, (*path, tag), report) if isinstance(chosen, ScalarNode) else None
    if name is None:
        return _mismatch((*path, tag), chosen, "a text", report)
    return FAILED if name is FAILED else bind_model(classes[name], node, path, report)


def _union(annotation: Any, node: Node, path: Path, report: Report) -> Any:
    options = [a for a in get_args(annotation) if a is not type(None)]
    if len(options) != 1:  # the classes that stand for a field's type, which is written as text
        text = bind(str, node, path, report)
        return text if text is FAILED else _field_type(text, path, report)
    unwritten = isinstance(node, ScalarNode) and node.is_null
    if unwritten and options[0] is str:
        hint = "leave the key out, or quote the word if the text itself is meant"
        report.add(path, f"expected a text, found {describe(node)}, which is null", hint=hint)
        return FAILED
    return bind(options[0], node, path, report)


def _list(item: Any, node: Node, path: Path, report: Report) -> Any:
    if not isinstance(node, ListNode):
        hint = "write a list: [a, b]" if isinstance(node, ScalarNode) and not node.is_empty else None
        report.add(path, f"expected a list, found {describe(node)}", hint=hint)
        return FAILED
    bound = []
    for at, inner in enumerate(node.items):
        report.locate((*path, at), inner, _item_label(report.label(path), at, inner))
        bound.append(bind(item, inner, (*path, at), report))
    if not any(value is FAILED for value in bound):
        return tuple(bound)
    return FAILED


def _item_label(label: str, at: int, node: Node) -> str:
    name = node.get("name") if isinstance(node, MapNode) else None
    if isinstance(name, ScalarNode) and name.text.strip() and len(name.text) <= 128:
        return f"{label}.{name.text}"
    return f"{label}[{at}]"


def _dict(value_type: Any, node: Node, path: Path, report: Report) -> Any:
    if not isinstance(node, MapNode):
        return _mismatch(path, node, "a mapping of keys to values", report)
    bound: dict[str, Any] = {}
    for key, value in node.entries:
        report.locate((*path, key.text), value, f"{report.label(path)}.{key.text}")
        bound[key.text] = bind(value_type, value, (*path, key.text), report)
    return FAILED if any(v is FAILED for v in bound.values()) else bound


def _choice(choices: tuple[Any, ...], node: ScalarNode, path: Path, report: Report) -> Any:
    if node.text in choices:
        return node.text
    like = nearest(node.text, choices)
    found = "expected " + (f"one of {quoted_list(choices)}" if len(choices) > 1 else f"'{choices[0]}'")
    report.add(path, f"{found}, found {describe(node)}", hint=f"did you mean '{like}'?" if like else None)
    return FAILED


def _field_type(text: str, path: Path, report: Report) -> FieldType | _Failed:
    try:
        return parse_type(text)
    except TypeSyntaxError as error:
        word = text.split("<")[0].split("(")[0].strip()
        known = type_names()
        hint = suggest(word, known, "types") if word.lower() not in known and ":" not in str(error) else None
        report.add(path, str(error), hint=hint)
        return FAILED


def _text(node: ScalarNode, path: Path, report: Report) -> str:
    return node.text


def _boolean(node: ScalarNode, path: Path, report: Report) -> bool | _Failed:
    if node.is_plain and node.text in ("true", "false"):
        return node.text == "true"
    word = node.text.lower()
    meant = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}.get(word)
    hint = f"write {meant}, without quotes and in small letters" if meant else None
    report.add(path, f"expected true or false, found {describe(node)}", hint=hint)
    return FAILED


def _whole(node: ScalarNode, path: Path, report: Report) -> int | _Failed:
    if node.is_plain and _WHOLE.match(node.text) and len(node.text) <= _MAX_DIGITS:
        return int(node.text)
    hint = "write it without quotes" if not node.is_plain and _WHOLE.match(node.text) else None
    report.add(path, f"expected a whole number, found {describe(node)}", hint=hint)
    return FAILED


def _number(node: ScalarNode, path: Path, report: Report) -> float | _Failed:
    value = float(node.text) if node.is_plain and _NUMBER.match(node.text) else float("inf")
    if abs(value) != float("inf"):
        return value
    hint = "write it without quotes" if not node.is_plain and _NUMBER.match(node.text) else None
    report.add(path, f"expected a number, found {describe(node)}", hint=hint)
    return FAILED


_SCALARS: dict[Any, Callable[[ScalarNode, Path, Report], Any]] = {bool: _boolean, int: _whole, float: _number}
_EXPECTATIONS = {bool: "true or false", int: "a whole number", float: "a number"}


def _expectation(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return f"one of {quoted_list(get_args(annotation))}"
    return _EXPECTATIONS.get(annotation, "a text")
