"""How the name of a table or column in a rule is read."""

from __future__ import annotations

import re

from invaract_orchestration.candidate.plan.lineage import short_name

_PART = re.compile(r"`((?:[^`]|``)*)`|[^.`]+")


def split_name(name: str) -> tuple[str, ...]:
    """The dotted parts of a name; a part in backquotes may hold dots itself."""
    parts = tuple(m.group(0) if m.group(1) is None else m.group(1).replace("``", "`") for m in _PART.finditer(name.strip()))
    return parts or (name,)


def same_name(one: str, other: str, *, case_sensitive: bool) -> bool:
    """Whether two names are one for the session."""
    return one == other if case_sensitive else one.lower() == other.lower()


def names_dataset(named: str, dataset: str, *, case_sensitive: bool) -> bool:
    """Whether a rule's text means the dataset: its full name, or its last parts."""
    if not case_sensitive:
        named, dataset = named.lower(), dataset.lower()
    if named in (dataset, short_name(dataset)):
        return True
    return "/" not in dataset and dataset.endswith("." + named)
