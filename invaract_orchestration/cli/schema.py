"""`invaract schema`: the JSON Schema of a contract's file."""

from __future__ import annotations

import sys


def schema() -> int:
    """The JSON Schema of a contract's file, for editors."""
    from invaract_orchestration.contract.json_schema import schema_text

    sys.stdout.write(schema_text())
    return 0
