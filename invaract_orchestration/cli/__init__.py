"""The command line, `invaract`. A verb's own module is loaded only when the verb is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code."""
    from invaract_orchestration.cli.app import call

    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the caller closed it
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, PTH123  # until the end
    sys.exit(call(sys.argv[1:] if arguments is None else arguments))
