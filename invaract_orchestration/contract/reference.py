"""The part of docs/contract.md that lists every key of a contract with its default, generated from the model.

`python -m invaract_orchestration.contract.reference --check` says whether it is up to date, `--write` writes it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from invaract_orchestration.contract.json_schema import contract_schema

PAGE = Path(__file__).parents[2] / "docs" / "contract.md"
_START, _END = "<!-- generated: every key -->", "<!-- end of what is generated -->"
_PARTS: tuple[tuple[str, str], ...] = (
    ("The contract", ""), ("owner", "Owner"), ("source", "Source"), ("source.options", "SourceOptions"), ("fields", "FieldSpec"),
    ("keys", "Key"), ("schema_policy", "SchemaPolicy"), ("links", "Link"), ("transformations", "Transformation"),
    ("rename", "Rename"), ("cast", "CastColumns"), ("trim", "Trim"), ("lower, upper", "Letters"), ("filter", "Filter"),
    ("deduplicate", "Deduplicate"), ("coalesce", "Coalesce"), ("map_values", "MapValues"), ("derive", "Derive"),
    ("split", "Split"), ("explode", "Explode"), ("json_extract", "JsonExtract"), ("regex_extract", "RegexExtract"),
    ("date_diff", "DateDiff"), ("date_range_explode", "DateRangeExplode"), ("bucket", "Bucket"), ("bins", "Bin"),
    ("lookup", "Lookup"), ("join", "Join"), ("rollup", "Rollup"), ("pivot", "Pivot"), ("unpivot", "Unpivot"),
    ("select, drop", "ChosenColumns"), ("quality", "Quality"),
    ("quality.max_quarantined", "MaxQuarantined"), ("quality.row_rules", "RowRule"),
    ("quality.dataset_rules", "DatasetRule"), ("covers", "Covers"), ("row_count", "RowCount"),
    ("references", "References"), ("null_share", "NullShare"), ("must_be", "MustBe"), ("publish", "Publish"),
    ("publish.versions", "Versions"),
    ("publish.candidate", "CandidatePlace"), ("publish.candidate.keep", "Keep"), ("quarantine", "QuarantinePlace"),
    ("freshness", "Freshness"), ("notifications", "Notification"),
)  # fmt: skip


def reference() -> str:
    """Markdown: a table of keys for each part, in the order of the contract."""
    schema = contract_schema()
    parts = [_part(title, schema["$defs"][name] if name else schema) for title, name in _PARTS]
    return "\n".join(parts)


def page_with_reference(page: str) -> str:
    """The page with its generated part made anew."""
    head, _, rest = page.partition(_START)
    return f"{head}{_START}\n\n{reference()}\n{_END}{rest.partition(_END)[2]}"


def main(arguments: list[str] | None = None) -> int:
    """Check or write the page; 0 when it is up to date."""
    parser = argparse.ArgumentParser(description="The reference of the contract's keys")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="fail when the page is stale")
    action.add_argument("--write", action="store_true", help="write the page")
    chosen = parser.parse_args(arguments)
    page = PAGE.read_text(encoding="utf-8")
    fresh = page_with_reference(page)
    if chosen.write:
        PAGE.write_text(fresh, encoding="utf-8")
    elif page != fresh:
        sys.stderr.write(f"{PAGE.name} is stale\nHint: make schema\n")
        return 1
    return 0


def _part(title: str, part: dict[str, Any]) -> str:
    rows = "\n".join(_rows(part))
    name = title if title == "The contract" else f"`{title}`"
    return f"### {name}\n\n{part.get('description', '')}\n\n| key | default | meaning |\n|---|---|---|\n{rows}\n"


def _rows(part: dict[str, Any]) -> Iterator[str]:
    required = part.get("required", ())
    for name, entry in part["properties"].items():
        default = "**required**" if name in required else _default(entry)
        choices = entry.get("enum") or entry.get("items", {}).get("enum")
        listed = " One of " + ", ".join(f"`{_written(c)}`" for c in choices) + "." if choices else ""
        meaning = (entry.get("description", "") + listed).replace("|", "\\|").replace("\n", " ")
        yield f"| `{name}` | {default} | {meaning} |"


def _default(entry: dict[str, Any]) -> str:
    return f"`{_written(entry['default'])}`" if "default" in entry else ""


def _written(value: object) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
