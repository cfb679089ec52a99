"""`invaract schema`: the JSON Schema of a contract's file."""

from __future__ import annotations

from invaract_orchestration.cli.console import write_out


def schema() -> int:
    """The JSON Schema of a contract's file, for editors."""
    from invaract_orchestration.contract.json_schema import schema_text

    write_out(schema_text())
    return 0
