"""The JSON Schema of the contract's file, generated from the model, for editors and for readers.

`python -m invaract_orchestration.contract.json_schema --check` says whether the generated file is up to date, `--write`
writes it.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

from invaract_orchestration.contract import fields, model, publication, quality, step_options, transformations
from invaract_orchestration.contract.environments import PLACES

SCHEMA_FILE = Path(__file__).parents[2] / "contracts" / "contract.schema.json"
_MODULES: tuple[ModuleType, ...] = (model, fields, quality, publication, transformations, step_options)
_Schema = dict[str, Any]


def contract_schema() -> _Schema:
    """The schema, draft 2020-12: every key with what it means, every default, every accepted spelling."""
    schema = model.Contract.model_json_schema()
    definitions = schema["$defs"]
    for name, part in (("Contract", schema), *definitions.items()):
        _describe(part, _attribute_docs().get(name, {}))
    _accept_spellings(schema, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Contract of one published table",
        **{key: value for key, value in schema.items() if key not in ("title", "$defs")},
        "$defs": definitions,
    }


def schema_text() -> str:
    """The schema as the generated file holds it."""
    return json.dumps(contract_schema(), indent=2, ensure_ascii=False) + "\n"


def is_fresh(path: Path = SCHEMA_FILE) -> bool:
    """Whether the generated file says what the model says."""
    return path.is_file() and path.read_text(encoding="utf-8") == schema_text()


def main(arguments: list[str] | None = None) -> int:
    """Check or write the generated file; 0 when it is up to date."""
    parser = argparse.ArgumentParser(description="The contract's JSON Schema")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="fail when the file is stale")
    action.add_argument("--write", action="store_true", help="write the file")
    parser.add_argument("--file", type=Path, default=SCHEMA_FILE)
    chosen = parser.parse_args(arguments)
    if chosen.write:
        chosen.file.write_text(schema_text(), encoding="utf-8")
        return 0
    if is_fresh(chosen.file):
        return 0
    sys.stderr.write(f"{chosen.file.name} is stale\nHint: python -m {__spec__.name} --write\n")
    return 1


def _attribute_docs() -> dict[str, dict[str, str]]:
    """The texts below the attributes of each class, as its module's source has them."""
    docs: dict[str, dict[str, str]] = {}
    for module in _MODULES:
        for node in ast.parse(inspect.getsource(module)).body:
            if isinstance(node, ast.ClassDef):
                docs[node.name] = dict(_documented(node.body))
    return docs


def _documented(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for statement, following in pairwise(body):
        match statement, following:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, text


def _describe(part: _Schema, docs: dict[str, str]) -> None:
    for name, entry in part.get("properties", {}).items():
        entry.pop("title", None)
        _without_null(entry)
        if name in docs:
            entry["description"] = docs[name]
        if "default" in entry and "$ref" in entry:
            entry.pop("default")  # a part's defaults stand in the part itself
        elif entry.get("type") == "object" and name not in part.get("required", ()):
            entry.setdefault("default", {})
    part.pop("title", None)
    part.setdefault("additionalProperties", False)


def _without_null(entry: _Schema) -> None:
    """A key that is left out is absent; null is never written, so the schema does not offer it."""
    options = [o for o in entry.get("anyOf", []) if o != {"type": "null"}]
    if "anyOf" in entry and len(options) == 1:
        entry.pop("anyOf")
        entry.update(options[0])
    if entry.get("default", "") is None:
        entry.pop("default")


def _accept_spellings(schema: _Schema, definitions: _Schema) -> None:
    properties = schema["properties"]
    columns = properties["fields"]
    properties["columns"] = {**columns, "description": "The columns; another spelling of `fields`."}
    properties["model"] = {
        "type": "object",
        "properties": {"fields": columns},
        "required": ["fields"],
        "additionalProperties": False,
        "description": "The columns; another spelling of `fields`.",
    }
    properties["name"] = {**properties["contract"], "description": "The id, in the short flat form without `contract`."}
    properties["owner"] = _either(properties["owner"], {"type": "string"})
    version = properties["version"]
    whole = {"type": "integer", "minimum": 1, "description": "In a short form."}
    properties["version"] = {
        "anyOf": [{"type": "string", "pattern": version["pattern"]}, whole],
        "default": version["default"],
        "description": version["description"],
    }
    keys = properties["keys"]
    keys["items"] = {"anyOf": [{"type": "array", "items": {"type": "string"}, "minItems": 1}, keys["items"]]}
    blank = definitions["FieldSpec"]["properties"]["not_blank"]
    blank["enum"] = [*blank["enum"], True, False]
    blank.pop("type", None)
    properties["environments"]["additionalProperties"] = {
        "type": "object",
        "properties": {place: {"type": "string"} for place in PLACES},
        "patternProperties": {r"^source\.inputs\.[A-Za-z_]\w*$": {"type": "string"}},
        "additionalProperties": False,
    }
    schema.pop("required", None)
    schema["anyOf"] = [{"required": [key]} for key in ("contract", "name", "model", "rules")]


def _either(entry: _Schema, other: _Schema) -> _Schema:
    described = {k: v for k, v in entry.items() if k in ("description", "default")}
    return {"anyOf": [{k: v for k, v in entry.items() if k not in described}, other], **described}


if __name__ == "__main__":
    sys.exit(main())
