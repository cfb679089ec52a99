"""YAML text as a tree of texts with their places: no tag is ever constructed, no plain value ever changes its type.

PyYAML gives the events; what a scalar means is decided by the place where it stands (see binding), never by its look.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import yaml

from invaract_orchestration.errors import Problem

MAX_CHARACTERS = 1_000_000
MAX_NODES = 50_000
MAX_DEPTH = 50
NULL_TEXTS = ("", "~", "null", "Null", "NULL")


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the text; both count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """One text. `is_plain` when it stands without quotes; `written` is the key's own spelling before it was mapped."""

    text: str
    at: Mark
    is_plain: bool = True
    is_on_one_line: bool = True
    written: str = ""
    size: int = 1

    @property
    def is_null(self) -> bool:
        """Whether YAML would read null here."""
        return self.is_plain and self.text in NULL_TEXTS

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all was written."""
        return self.is_plain and not self.text


@dataclass(frozen=True, slots=True)
class ListNode:
    """An ordered list."""

    items: tuple[Node, ...]
    at: Mark
    size: int = 1


@dataclass(frozen=True, slots=True)
class MapNode:
    """Keys with values in the order written; keys are texts and each is there once."""

    entries: tuple[tuple[ScalarNode, Node], ...]
    at: Mark
    size: int = 1

    def get(self, key: str) -> Node | None:
        """The value of that key, or none."""
        return next((value for k, value in self.entries if k.text == key), None)

    def key(self, key: str) -> ScalarNode | None:
        """The key itself, with its place, or none."""
        return next((k for k, _ in self.entries if k.text == key), None)

    def has(self, key: str) -> bool:
        """Whether the key is there."""
        return self.key(key) is not None

    def with_entries(self, entries: tuple[tuple[ScalarNode, Node], ...]) -> MapNode:
        """The same mapping with other entries."""
        return replace(self, entries=entries)


Node = ScalarNode | ListNode | MapNode


class YamlError(Exception):
    """A text that is no usable YAML; holds the one problem at which reading stopped."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))


def compose(text: str, file: str) -> tuple[Node, list[Problem]]:
    """The tree of a text with one YAML document, and problems that do not hinder reading on, such as a repeated key.

    Raises:
        YamlError: the text cannot be read as a tree: a syntax error, a tag, a second document, or too much of it.
    """
    if len(text) > MAX_CHARACTERS:
        raise YamlError(Problem(message=f"the text is longer than {MAX_CHARACTERS:,} characters", file=file))
    composer = _Composer(file)
    try:
        return composer.document(yaml.parse(text, Loader=yaml.SafeLoader)), composer.problems
    except yaml.MarkedYAMLError as error:
        raise YamlError(_syntax_problem(error, file, text)) from error
    except yaml.reader.ReaderError as error:
        raise YamlError(_character_problem(error, file, text)) from error
    except (ValueError, OverflowError, IndexError) as error:
        # PyYAML lets these through for escapes and directives with numbers that are out of range.
        raise YamlError(Problem(message="a number in an escape or a directive is out of range", file=file)) from error


class _Composer:
    """Builds the tree from events; anchors share their node, and `size` counts what aliases stand for."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._anchors: dict[str, Node] = {}
        self.problems: list[Problem] = []

    def document(self, events: Iterator[yaml.Event]) -> Node:
        root: Node | None = None
        for event in events:
            if isinstance(event, yaml.StreamStartEvent | yaml.StreamEndEvent | yaml.DocumentEndEvent):
                continue
            if isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    raise self._stop(event, "expected one document, found a second one", "split the file at '---'")
                continue
            root = self._node(event, events, 1)
        if root is None:
            hint = "`invaract init` writes a first one"
            raise YamlError(Problem(message="expected a contract, found an empty file", file=self._file, hint=hint))
        return root

    def _stop(self, event: yaml.Event, message: str, hint: str | None = None) -> YamlError:
        mark = _mark(event)
        return YamlError(Problem(message=message, file=self._file, line=mark.line, column=mark.column, hint=hint))

    def _node(self, event: yaml.events.Event, events: Iterator[yaml.Event], depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self._stop(event, f"nested deeper than {MAX_DEPTH} levels")
        if isinstance(event, yaml.AliasEvent):
            known = self._anchors.get(event.anchor or "")
            if known is None:
                raise self._stop(event, f"alias '*{event.anchor}' names no anchor that is complete before it")
            return known
        tag = getattr(event, "tag", None)
        if tag is not None:
            shown = tag.replace("tag:yaml.org,2002:", "!!")
            raise self._stop(event, f"tag {shown!r} is not accepted", "write plain values; quotes make a value a text")
        node = self._fresh(event, events, depth)
        if node.size > MAX_NODES:
            raise self._stop(event, f"more than {MAX_NODES:,} values, counting what aliases stand for")
        anchor = getattr(event, "anchor", None)
        if anchor is not None:
            self._anchors[anchor] = node
        return node

    def _fresh(self, event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Node:
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Node] = []
            while not isinstance(inner := next(events), yaml.SequenceEndEvent):
                items.append(self._node(inner, events, depth + 1))
            return ListNode(tuple(items), _mark(event), 1 + sum(i.size for i in items))
        return self._mapping(event, events, depth)

    def _scalar(self, event: yaml.ScalarEvent) -> ScalarNode:
        if any("\ud800" <= c <= "\udfff" for c in event.value):
            raise self._stop(event, "the text holds half of a character (a lone surrogate)")
        start, end = event.start_mark, event.end_mark
        width = end.column - start.column if start and end and start.line == end.line else -1
        verbatim = width == len(event.value) + (0 if event.style is None else 2)
        return ScalarNode(event.value, _mark(event), event.style is None, verbatim, event.value)

    def _mapping(self, event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> MapNode:
        entries: dict[str, tuple[ScalarNode, Node]] = {}
        while not isinstance(inner := next(events), yaml.MappingEndEvent):
            key = self._node(inner, events, depth + 1)
            if not isinstance(key, ScalarNode):
                raise self._stop(inner, "expected a text as key, found a list or a mapping", "quote a text with braces")
            if key.is_empty:
                raise self._stop(inner, "expected a key before ':', found nothing")
            value = self._node(next(events), events, depth + 1)
            if key.text in entries:
                self._repeated(key, entries[key.text][0])
            else:
                entries[key.text] = (key, value)
        return MapNode(tuple(entries.values()), _mark(event), 1 + sum(1 + v.size for _, v in entries.values()))

    def _repeated(self, key: ScalarNode, first: ScalarNode) -> None:
        self.problems.append(
            Problem(
                message=f"key {key.text!r} is there twice, first in line {first.at.line}",
                file=self._file, line=key.at.line, column=key.at.column, code="contract.duplicate_key",
                hint="keep one of them",
            )
        )  # fmt: skip


def _mark(event: yaml.Event) -> Mark:
    mark = event.start_mark
    return Mark(mark.line + 1, mark.column + 1) if mark else Mark(1, 1)


_SENTENCES = (
    ("mapping values are not allowed", "a second ':' in one value", "quote a text that holds ': '"),
    ("could not find expected ':'", "a line without ':' where a key was expected", "write `key: value`"),
    ("expected <block end>", "a line that is not indented like the lines around it", "align keys with spaces"),
    ("expected ',' or ']'", "a list '[' that is not closed", "close it with ']', and separate its values by ','"),
    ("expected ',' or '}'", "a mapping '{' that is not closed", "close it with '}'; quote a text that begins with '{'"),
    ("unexpected end of stream", "a quote that is not closed", "close it, or quote with the other kind of quote"),
    ("cannot start any token", "a character that cannot begin a value", "quote the value"),
    ("unknown escape character", "an unknown escape in a text in double quotes", "use single quotes, as for patterns"),
    ("expected the node content", "nothing where a value was expected", "write a value, or quote it"),
)


def _syntax_problem(error: yaml.MarkedYAMLError, file: str, text: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
    raw = error.problem or error.context or "it cannot be read"
    unknown = (raw, "compare the line with the lines around it")
    found, hint = next(((f, h) for part, f, h in _SENTENCES if part in raw), unknown)
    if mark is not None and _has_leading_tab(text, mark.line):
        found, hint = "a tab in the indentation", "indent with spaces"
    return Problem(message=f"expected YAML, found {found}", file=file, line=line, column=column, hint=hint)


def _has_leading_tab(text: str, line: int) -> bool:
    lines = text.splitlines()
    if line >= len(lines):
        return False
    return "\t" in lines[line][: len(lines[line]) - len(lines[line].lstrip())]


def _character_problem(error: yaml.reader.ReaderError, file: str, text: str) -> Problem:
    before = text[: error.position]
    line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    code = error.character if isinstance(error.character, int) else ord(str(error.character)[0])
    message = f"expected YAML, found the control character U+{code:04X}"
    return Problem(message=message, file=file, line=line, column=column, hint="save the file as plain UTF-8 text")
