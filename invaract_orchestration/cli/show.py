"""`invaract show`: everything recorded of one attempt."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from invaract_orchestration.audit.log import AttemptView, AuditReader
from invaract_orchestration.cli.console import print_table, to_stdout, write_out
from invaract_orchestration.errors import UsageError


def show(
    attempt: Annotated[str, Parameter(help="an attempt's id or the start of one, or a submission's whole id")], /, *,
    output: Annotated[Literal["text", "json"], Parameter(help="for people or for programs")] = "text",
) -> int:  # fmt: skip
    """Everything recorded of one attempt."""
    from invaract_orchestration.audit.report import json_text, plain
    from invaract_orchestration.wiring import open_audit

    with open_audit(read_only=True) as audit:
        view = _find(audit, attempt)
    if view is None:
        raise UsageError(
            "no attempt has this id, or its start fits more than one", hint="`invaract history` lists the attempts"
        )
    if output == "json":
        write_out(json_text({"format": 1, **plain(view)}))
    else:
        _print(view)
    return 0


def _find(audit: AuditReader, text: str) -> AttemptView | None:
    """The attempt of that id, or the last one of the submission."""
    if not text.startswith("s-"):
        return audit.attempt(text)
    found = audit.attempts(search=text, limit=1)
    return audit.attempt(found[0].attempt.attempt_id) if found else None


def _print(view: AttemptView) -> None:
    from invaract_orchestration.audit.report import check_lines, counts_text, outcomes_text

    attempt, submission = view.attempt, view.submission
    parameters = "".join(f", {k}={v}" for k, v in sorted(submission.parameters.items()))
    contract = f"{submission.contract} {attempt.contract_version.version}{parameters}"
    to_stdout(f"{view.state.upper().replace('_', ' ')}  {contract}")
    if view.outcome:
        to_stdout(f"    {view.outcome.message}")
    counts = view.outcome.counts if view.outcome else view.verdict.counts if view.verdict else None
    results = view.verdict.results if view.verdict else ()
    facts = {
        "kind": attempt.kind,
        "target": submission.target,
        "rows": counts_text(counts) if counts else "not read",
        "checks": outcomes_text(results),
        "attempt": attempt.attempt_id,
        "submission": submission.submission_id,
        "environment": attempt.environment or "-",
        "engine": attempt.engine,
        "contract": attempt.contract_version.digest,
        "candidate": (view.verdict and view.verdict.candidate_digest) or "-",
        **dict(sorted(attempt.context.items())),
    }
    to_stdout("\n".join(["", *(f"    {label:<12} {text}" for label, text in facts.items())]))
    not_kept = check_lines([r for r in results if r.outcome != "kept"])
    if not_kept:
        to_stdout("\n".join(not_kept))
    _print_tables(view)


def _print_tables(view: AttemptView) -> None:
    to_stdout("")
    print_table(
        ("time (UTC)", "step", "what happened"),
        [(f"{event.at:%Y-%m-%d %H:%M:%S}", event.state, event.message) for event in view.events],
    )
    if view.submission.files:
        to_stdout("")
        rows = [(f"{file.size:,}", file.digest[:23], file.name) for file in view.submission.files]
        print_table(("bytes", "digest", "file"), rows)
    if view.verdict and view.verdict.results:
        to_stdout("")
        print_table(
            ("outcome", "check", "rows", "failed", "evidence", "expected"),
            [
                (
                    r.outcome if r.severity == "error" else f"{r.outcome} (warn)",
                    r.check,
                    "-" if r.rows is None else f"{r.rows:,}",
                    "-" if r.failed is None else f"{r.failed:,}",
                    r.evidence,
                    r.expected,
                )
                for r in view.verdict.results
            ],
        )
