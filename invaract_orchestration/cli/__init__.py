"""The command line, `invaract`. A verb's own module is loaded only when the verb is called."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code."""
    from invaract_orchestration.cli.app import call

    sys.exit(call(sys.argv[1:] if arguments is None else arguments))
