"""The command line put together: verbs, and what becomes of an error. No error leaves as a traceback."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise

from cyclopts import App, CycloptsError, Parameter

from invaract_orchestration.cli.failure import FORMS, Output, tell_failure
from invaract_orchestration.cli.verbs import VERBS
from invaract_orchestration.errors import EngineFailure, InvaractError, UsageError

_PACKAGE = "invaract_orchestration.cli"
_GROUPS = {"quarantine": "Failing rows that were set aside.", "audit": "The record itself."}
_MORE = "`invaract {}VERB --help` says more, with examples."
_INTERRUPTED = 130


def build_app() -> App:
    """The application; each verb's module is loaded when it is called."""
    app = App(
        name="invaract", help="A publication gate for lakehouse tables.", help_format="plaintext",
        help_epilogue=_MORE.format(""), version=_version,
        default_parameter=Parameter(negative="", show_default=_default),
        exit_on_error=False, print_error=False, result_action="return_value", suppress_keyboard_interrupt=False,
    )  # fmt: skip
    groups = {
        name: App(name=name, help=text, help_format="plaintext", help_epilogue=_MORE.format(f"{name} "))
        for name, text in _GROUPS.items()
    }
    for number, group in enumerate(groups.values()):
        group.sort_key = 100 + number
        app.command(group)
    for number, verb in enumerate(VERBS):
        above, _, name = verb.name.rpartition(" ")
        (groups[above] if above else app).command(
            f"{_PACKAGE}.{verb.function}", name=name, help=verb.summary, help_epilogue=verb.epilogue, sort_key=number
        )
    return app


def _default(value: object) -> str | None:
    """What the help says of a default: of a flag that is off, and of what is not there, nothing."""
    return None if value is None or value in (False, ()) else str(value)


def call(arguments: Sequence[str]) -> int:
    """Run one command; its exit code."""
    try:
        return _invoke(arguments)
    except InvaractError as error:
        return tell_failure(error, _output_of(arguments))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return _INTERRUPTED
    except BaseException as error:  # noqa: BLE001  # no message and no exit code leaves that nobody here wrote
        is_cut = isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError)
        if is_cut and _asks_for_help(arguments):
            return 0  # whoever reads the help has enough of it
        return tell_failure(EngineFailure(f"an unexpected {type(error).__name__} stopped the command"), _output_of(arguments))


def _invoke(arguments: Sequence[str]) -> int:
    try:
        code = build_app()(list(arguments))
    except CycloptsError as error:
        raise UsageError(str(error), hint=f"invaract {_verb_of(arguments)}--help") from None
    return code if isinstance(code, int) else 0


def _asks_for_help(arguments: Sequence[str]) -> bool:
    """Whether nothing is done but to print it; a group's name alone does that too."""
    return bool({"--help", "-h", "--version"} & set(arguments)) or tuple(arguments) in {(), *((name,) for name in _GROUPS)}


def _output_of(arguments: Sequence[str]) -> Output:
    """What the caller reads: a failure is told in the same form as a result, also one of the call itself."""
    asked = [text.removeprefix("--output=") for text in arguments if text.startswith("--output=")]
    asked += [value for name, value in pairwise(arguments) if name == "--output"]
    return next((form for form in FORMS if asked == [form]), "text")


def _verb_of(arguments: Sequence[str]) -> str:
    known = [verb.name for verb in VERBS]
    for words in (2, 1):
        name = " ".join(arguments[:words])
        if name in known or name in _GROUPS:
            return f"{name} "
    return ""


def _version() -> str:
    from importlib.metadata import version

    return version("invaract-orchestration")
