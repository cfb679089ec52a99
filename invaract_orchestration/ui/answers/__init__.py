"""What the pages show and the API answers: one set of models for both. Times are in UTC, null is not known."""

from invaract_orchestration.ui.answers.answer import Answer, Problem
from invaract_orchestration.ui.answers.contracts import (
    Change,
    ContractAnswer,
    ContractDocument,
    FieldAnswer,
    RuleAnswer,
    VersionChanges,
)
from invaract_orchestration.ui.answers.quarantine import Quarantine, QuarantineEntry, Reason
from invaract_orchestration.ui.answers.runs import (
    Check,
    File,
    LineageEdge,
    PlanAnswer,
    PlanStep,
    Publication,
    RowCounts,
    Run,
    Runs,
    RunSummary,
    Step,
    VerdictAnswer,
)
from invaract_orchestration.ui.answers.standing import ContractOverview, Day, Overview, RuleRejections, StatusAnswer, Statuses

__all__ = (
    "Answer", "Problem",
    "RowCounts", "RunSummary", "Runs", "Check", "Step", "File", "Publication", "VerdictAnswer",
    "PlanStep", "LineageEdge", "PlanAnswer", "Run",
    "Day", "RuleRejections", "ContractOverview", "Overview", "StatusAnswer", "Statuses",
    "FieldAnswer", "RuleAnswer", "Change", "VersionChanges", "ContractAnswer", "ContractDocument",
    "Reason", "QuarantineEntry", "Quarantine",
)  # fmt: skip
