"""Where an Open Lakehouse Contract looks into links: rules that a value stands in one, and the types of keys in text files."""

from __future__ import annotations

from collections.abc import Iterator

from invaract_orchestration.contract.dialects.olc_parts import Entry, Part, key, mapping, text, texts
from invaract_orchestration.contract.yaml_tree import ListNode, MapNode, Mark, Node, ScalarNode

_TEXT_TYPES = ("string", "text", "str", "varchar", "char")


def found_in_link(part: Part, column: ScalarNode) -> tuple[Node, str] | None:
    """The step that looks a column up in a link, and the name of the column that it makes: null where nothing is found."""
    reference, link_key = part.text("reference"), part.text("key")
    if reference is None or link_key is None:
        missing = "reference" if reference is None else "key"
        part.refuse(missing, f"'{missing}' is missing: the link and its column that hold every value")
        return None
    at = column.at
    name = f"{column.text} in {reference.text}"
    looked_up = mapping(
        at, (key("field", at), text(name, at)), (key("reference", at), reference), (key("on", at), column),
        (key("key", at), link_key), (key("value", at), link_key),
    )  # fmt: skip
    return looked_up, name


def lookup_step(looked_up: Node, phase: str, at: Mark) -> Node:
    """The step in its phase."""
    return mapping(at, (key("lookup", at), looked_up), (key("phase", at), text(phase, at)))


def made_in_post(steps: list[Node]) -> frozenset[str]:
    """The columns, in lower case, that post steps write and no pre step does."""
    early = {name.text.lower() for step in steps if phase_of_step(step) == "pre" for name in written_names(step)}
    late = {name.text.lower() for step in steps if phase_of_step(step) != "pre" for name in written_names(step)}
    return frozenset(late - early)


def phase_of_step(step: Node) -> str:
    """The phase of a step; post where none is written."""
    found = step.get("phase") if isinstance(step, MapNode) else None
    return found.text if isinstance(found, ScalarNode) else "post"


def written_names(step: Node) -> Iterator[ScalarNode]:
    """The columns that a step names as written."""
    for kind, options in step.entries if isinstance(step, MapNode) else ():
        if not isinstance(options, MapNode):
            continue
        output = options.get("output")
        yield from texts(output if output is not None else options.get("field"))
        mappings, aggregations = options.get("mappings"), options.get("aggregations")
        if isinstance(mappings, MapNode):
            yield from (new for _, new in mappings.entries if isinstance(new, ScalarNode))
        if isinstance(aggregations, MapNode):
            yield from (name for name, _ in aggregations.entries)
        if kind.text == "join":
            prefix = options.get("prefix")
            before = prefix.text if isinstance(prefix, ScalarNode) else ""
            yield from (text(before + name.text, name.at) for name in texts(options.get("fields")))


def typed_links(links: list[Entry], steps: list[Node], fields: Node | None) -> list[Entry]:
    """Links with the types of the keys of a CSV file: those of the fields that equal them."""
    types = dict(_typed(fields))
    keys: dict[str, list[Entry]] = {}
    for step in steps:
        options = (step.get("lookup") or step.get("join")) if isinstance(step, MapNode) else None
        if isinstance(options, MapNode):
            reference = "".join(t.text.lower() for t in texts(options.get("reference")))
            pairs = zip(texts(options.get("on")), texts(options.get("key")), strict=False)
            found = [(theirs, types[mine.text.lower()]) for mine, theirs in pairs if mine.text.lower() in types]
            keys.setdefault(reference, []).extend(found)
    return [(name, _with_types(node, keys)) for name, node in links]


def _typed(fields: Node | None) -> Iterator[tuple[str, Node]]:
    for item in fields.items if isinstance(fields, ListNode) else ():
        name, type_ = (item.get("name"), item.get("type")) if isinstance(item, MapNode) else (None, None)
        if isinstance(name, ScalarNode) and isinstance(type_, ScalarNode) and type_.text.strip().lower() not in _TEXT_TYPES:
            yield name.text.lower(), type_


def _with_types(links: Node, keys: dict[str, list[Entry]]) -> Node:
    if not isinstance(links, ListNode):
        return links
    return ListNode(tuple(_typed_link(link, keys) for link in links.items), links.at)


def _typed_link(link: Node, keys: dict[str, list[Entry]]) -> Node:
    if not isinstance(link, MapNode):
        return link
    name, format_, place = (link.get(n) for n in ("name", "format", "location"))
    found = {k.text: (k, v) for k, v in keys.get(name.text.lower() if isinstance(name, ScalarNode) else "", [])}
    written = format_.text if isinstance(format_, ScalarNode) else place.text[-4:] if isinstance(place, ScalarNode) else ""
    if not found or written.lower() not in ("csv", ".csv"):
        return link
    return link.with_entries((*link.entries, (key("fields", link.at), mapping(link.at, *found.values()))))
