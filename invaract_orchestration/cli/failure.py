"""What a command says when it cannot do what it was asked."""

from __future__ import annotations

from typing import Any, Literal, get_args

from invaract_orchestration.cli.console import printable, to_stderr, write_out
from invaract_orchestration.errors import ContractError, InvaractError, UsageError
from invaract_orchestration.verdict.outcome import EXIT_FAILED

EXIT_USAGE = 64
Output = Literal["text", "json", "junit"]
FORMS: tuple[Output, ...] = get_args(Output)


def exit_code_of(error: InvaractError) -> int:
    """64 for a call that makes no sense, 3 for everything that could not be done."""
    return EXIT_USAGE if isinstance(error, UsageError) else EXIT_FAILED


def tell_failure(error: InvaractError, output: Output = "text") -> int:
    """Print an error, for people to stderr and for programs to stdout; its exit code."""
    if output == "json":
        from invaract_orchestration.audit.report import json_text

        write_out(json_text(failure_document(error)))
    elif output == "junit":
        write_out(_junit(error))
    else:
        for number, line in enumerate(f"Error: {error}".splitlines()):
            to_stderr(printable(line), "bold red" if number == 0 else "")
    return exit_code_of(error)


def failure_document(error: InvaractError) -> dict[str, Any]:
    """The error as plain values; a contract that cannot be used has every problem in it."""
    from invaract_orchestration.audit.report import FORMAT, plain

    problems = error.problems if isinstance(error, ContractError) else ()
    return {
        "format": FORMAT, "state": "failed", "exit_code": exit_code_of(error), "code": error.code,
        "message": error.sentence, "hint": error.hint, "problems": plain(problems),
    }  # fmt: skip


def _junit(error: InvaractError) -> str:
    from invaract_orchestration.audit.junit import junit_failure

    return junit_failure(error.code, str(error))
