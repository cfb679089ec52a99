"""The table of docs/engines.md on table features, made from what the engines allow.

python -m tests.engines.feature_table --write
"""

from __future__ import annotations

import sys
from pathlib import Path

from invaract_orchestration.engines.delta.features import PROMOTABLE, READABLE, REWRITABLE, UNWIDENABLE
from invaract_orchestration.engines.spark.publisher import SPARK_WRITES

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"
BEGIN, END = "<!-- features: begin -->", "<!-- features: end -->"
FILLED = ("generatedColumns", "identityColumns")
"""Such columns are refused wherever they are; a protocol may name the feature without any."""
_FILLED = "refused where a column has it"
READERS = (
    "columnMapping",
    "deletionVectors",
    "timestampNtz",
    "typeWidening",
    "v2Checkpoint",
    "vacuumProtocolCheck",
    "variantType",
)
"""Features that ask something of a reader."""


def table() -> str:
    """One line for each feature that a protocol can name and an engine knows."""
    lines = [
        "| table feature | source on duckdb | source on spark | target on duckdb | target on spark |", "|---|---|---|---|---|"
    ]  # fmt: skip
    for feature in sorted(PROMOTABLE | REWRITABLE | SPARK_WRITES, key=str.lower):
        read = "yes" if feature in READABLE or feature not in READERS else "refused"
        lines.append(f"| `{feature}` | {read} | yes | {embedded(feature)} | {on_spark(feature)} |")
    return "\n".join(
        [
            *lines,
            "| `catalogManaged` | refused | refused | refused | refused |",
            "| any other | refused | as Spark says | refused | refused |",
        ]
    )


def embedded(feature: str) -> str:
    if feature in FILLED and feature in PROMOTABLE:
        return _FILLED
    widened = "; no new columns" if feature in UNWIDENABLE else ""
    if feature in PROMOTABLE:
        return "promoted"
    return f"rewritten{widened}" if feature in REWRITABLE else "refused"


def on_spark(feature: str) -> str:
    if feature in SPARK_WRITES:
        return _FILLED if feature in FILLED else "by Spark"
    return embedded(feature).replace("no new columns", "new columns by Spark")


def page() -> str:
    """The page with a fresh table."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    PAGE.write_text(page(), encoding="utf-8")
