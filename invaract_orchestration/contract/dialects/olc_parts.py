"""Reading an Open Lakehouse Contract's tree part by part: what is carried is taken, and what is left is refused by its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from invaract_orchestration.contract.report import Path, Report, suggest
from invaract_orchestration.contract.yaml_tree import ListNode, MapNode, Mark, Node, ScalarNode

Entry = tuple[ScalarNode, Node]


def key(text: str, at: Mark, written: str = "") -> ScalarNode:
    """A key of the native format; `written` is what the file calls it."""
    return ScalarNode(text, at, written=written or text)


def text(value: str, at: Mark) -> ScalarNode:
    """A text that the file does not hold in this form."""
    return ScalarNode(value, at, is_plain=False, is_on_one_line=False)


def word(value: str, at: Mark) -> ScalarNode:
    """A plain word such as `true`."""
    return ScalarNode(value, at, is_on_one_line=False)


def mapping(at: Mark, *entries: Entry) -> MapNode:
    """A mapping of these entries."""
    return MapNode(tuple(entries), at)


def rule_name(written: str) -> str:
    """A name for a rule that the file gives none, made of its column's."""
    return re.sub(r"^[^A-Za-z]+", "", re.sub(r"[^A-Za-z0-9_.-]", "_", written)) or "rule"


def listed(node: Node) -> ListNode:
    """A list as it is, and one value as a list of it."""
    return node if isinstance(node, ListNode) else ListNode((node,), node.at)


def is_null(node: Node) -> bool:
    """Whether a value is null, which says the same as leaving its key out."""
    return isinstance(node, ScalarNode) and node.is_null


def is_true(node: Node | None) -> bool:
    """Whether a value is the word true."""
    return isinstance(node, ScalarNode) and node.is_plain and node.text.lower() == "true"


def texts(node: Node | None) -> list[ScalarNode]:
    """The texts of a list, or of one text; what is none is left to the binding."""
    if node is None:
        return []
    return [item for item in listed(node).items if isinstance(item, ScalarNode)]


@dataclass(slots=True)
class Part:
    """One mapping of the file. What is not taken by the end is refused; `kept` is what only people read."""

    node: MapNode
    report: Report
    place: Path
    taken: set[str] = field(default_factory=set)

    def take(self, name: str) -> Node | None:
        """The value of a key, or none where it is left out or null."""
        self.taken.add(name)
        found = self.node.get(name)
        return None if found is None or is_null(found) else found

    def text(self, name: str) -> ScalarNode | None:
        """The text of a key, or none; another kind of value is a problem."""
        found = self.take(name)
        if found is None or isinstance(found, ScalarNode):
            return found
        self.refuse(name, f"expected a text under '{name}'")
        return None

    def part(self, name: str) -> Part | None:
        """The mapping under a key, or none; another kind of value is a problem."""
        found = self.take(name)
        if found is None:
            return None
        if isinstance(found, MapNode):
            return Part(found, self.report, (*self.place, name))
        self.refuse(name, f"expected a mapping under '{name}'")
        return None

    def parts(self, name: str) -> list[Part]:
        """The mappings of a list under a key; what is no mapping is a problem."""
        found = self.take(name)
        if found is None:
            return []
        if not isinstance(found, ListNode):
            self.refuse(name, f"expected a list under '{name}'")
            return []
        parts = []
        for at, item in enumerate(found.items):
            if isinstance(item, MapNode):
                parts.append(Part(item, self.report, (*self.place, name, at)))
            else:
                self.report.add((*self.place, name, at), "expected a mapping of keys to values", at=item.at)
        return parts

    def moved(self, name: str, to: str, change: Callable[[Node], Node] | None = None) -> list[Entry]:
        """The entry of a key under its native name; none where it is left out."""
        found = self.take(name)
        if found is None:
            return []
        written = self.node.key(name)
        at = written.at if written is not None else found.at
        return [(key(to, at, name), change(found) if change else found)]

    def refuse(self, name: str, message: str, hint: str | None = None) -> None:
        """Report a key that cannot be carried."""
        self.taken.add(name)
        found = self.node.key(name)
        at = found.at if found is not None else self.node.at
        self.report.add((*self.place, name), message, code="contract.not_supported", at=at, hint=hint)

    def only(self, name: str, allowed: Iterable[str], why: str) -> ScalarNode | None:
        """A text that is carried when it is one of these words; any other is refused."""
        found = self.text(name)
        words = list(allowed)
        if found is not None and found.text.lower() not in words:
            self.refuse(name, f"{name}: {found.text} cannot be carried: {why}", f"what can be: {', '.join(words)}")
            return None
        return found

    def between(self, name: str) -> list[Entry]:
        """The two inclusive bounds of a list; anything else is a problem."""
        found = self.take(name)
        if found is None:
            return []
        pair = found.items if isinstance(found, ListNode) else ()
        if len(pair) != 2:
            self.refuse(name, f"expected two bounds under '{name}', the least and the greatest number")
            return []
        return [(key("at_least", found.at, name), pair[0]), (key("at_most", found.at, name), pair[1])]

    def unless_off(self, *names: str, why: str, zero_is_off: bool = True) -> None:
        """Refuse keys that do something, unless they are off, empty or left out."""
        for name in names:
            found = self.take(name)
            is_zero = isinstance(found, ScalarNode) and found.text == "0"
            if not _is_off(found) or (is_zero and not zero_is_off):
                self.refuse(name, f"'{name}' cannot be carried: {why}")

    def ignore(self, *names: str) -> None:
        """Keys that say nothing about what is published."""
        self.taken |= set(names)

    def kept(self, *names: str) -> list[Entry]:
        """Entries that only people read."""
        found = []
        for name in names:
            value = self.take(name)
            if value is not None:
                found.append((key(name, value.at), value))
        return found

    def end(self) -> None:
        """Refuse every key that nobody took."""
        for name, _ in self.node.entries:
            if name.text not in self.taken:
                self.report.add(
                    self.place, f"unknown key '{name.text}'", code="contract.unknown_key", at=name.at,
                    hint=suggest(name.text, self.taken, "known keys here"),
                )  # fmt: skip


def _is_off(node: Node | None) -> bool:
    if isinstance(node, ListNode):
        return not node.items
    if isinstance(node, MapNode):
        return not node.entries
    return node is None or node.text.lower() in ("false", "", "0")
