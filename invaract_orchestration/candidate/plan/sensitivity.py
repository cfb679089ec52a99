"""Which sensitivity tags of the inputs reach which output columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from invaract_orchestration.candidate.plan.lineage import ColumnLineage, SourceColumn, output_lineage
from invaract_orchestration.candidate.plan.nodes import Plan
from invaract_orchestration.candidate.plan.rule_names import names_dataset

Tags = Mapping[str, Iterable[str]]
"""`table.column` (or a nested field of it) to the tags that it carries."""


def output_tags(plan: Plan, tags: Tags) -> dict[str, frozenset[str]]:
    """The tags of every output column: those of each source that it derives from.

    A tag on a nested field taints the whole that holds it, and a tag on the whole taints each field.
    """
    return {name: tags_of(one, tags) for name, one in output_lineage(plan).items()}


def tags_of(lineage: ColumnLineage, tags: Tags) -> frozenset[str]:
    """The tags of one column."""
    carried = (labels for tagged, labels in tags.items() if any(_touches(s, tagged) for s in lineage.sources))
    return frozenset(label for labels in carried for label in labels)


def _touches(source: SourceColumn, tagged: str) -> bool:
    parts = tagged.lower().split(".")
    path = [step.lower() for step in source.path]
    for at in range(1, len(parts)):
        named, wanted = ".".join(parts[:at]), parts[at:]
        depth = min(len(wanted), len(path))
        if wanted[:depth] == path[:depth] and names_dataset(named, source.dataset, case_sensitive=False):
            return True
    return False
