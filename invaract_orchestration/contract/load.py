"""A contract's file read into the model, or refused with every problem in it.

The steps in order: the text as a tree, the dialect's spelling, the model, what must fit together, the environment.
"""

from __future__ import annotations

from pathlib import Path

from invaract_orchestration.contract.binding import bind_model, describe
from invaract_orchestration.contract.consistency import check_consistency
from invaract_orchestration.contract.dialects.native import normalize
from invaract_orchestration.contract.dialects.odcs import from_odcs, is_odcs
from invaract_orchestration.contract.dialects.olc import from_olc, is_olc
from invaract_orchestration.contract.environments import apply_environment
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.contract.report import Report
from invaract_orchestration.contract.yaml_tree import MapNode, YamlError, compose
from invaract_orchestration.errors import ContractError, Problem


def load_contract(path: str | Path, *, env: str | None = None) -> Contract:
    """The contract of a file. Relative paths in it start at `contract.base`, the folder of the file.

    `env` puts in the names and places that the contract gives for that environment; they are no part of its digest.

    Raises:
        ContractError: the file cannot be read or used; holds all problems, each with its line.
        UsageError: the contract knows no environment of that name.
    """
    file = Path(path)
    contract = load_contract_text(_read(file), file=str(path)).placed(file.absolute().parent)
    return contract if env is None else apply_environment(contract, env)


def load_contract_text(text: str, *, file: str = "<text>") -> Contract:
    """The contract that a text holds; `file` is the name that problems are told under.

    Raises:
        ContractError: the text cannot be used; holds all problems, each with its line.
    """
    try:
        root, problems = compose(text, file)
    except YamlError as error:
        raise ContractError([error.problem]) from error
    report = Report(file)
    report.problems.extend(problems)
    report.locate((), root, "")
    if not isinstance(root, MapNode):
        report.add((), f"expected a mapping such as `contract: orders`, found {describe(root)}")
        raise ContractError(report.sorted_problems())
    if is_olc(root):
        root = from_olc(root, file, report)
    elif is_odcs(root):
        root = from_odcs(root, report)
    contract = bind_model(Contract, normalize(root, file, report), (), report)
    if isinstance(contract, Contract):
        check_consistency(contract, report)
    if report.problems or not isinstance(contract, Contract):
        raise ContractError(report.sorted_problems())
    return contract.located(file, report.places())


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"expected UTF-8 text, found another encoding at byte {error.start}"
        hint = "save the file as UTF-8"
        raise ContractError([_unreadable(file, message, hint)]) from error
    except FileNotFoundError as error:
        raise ContractError([_unreadable(file, "there is no such file")]) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its name is not possible"
        raise ContractError([_unreadable(file, f"the file cannot be read: {reason}")]) from error


def _unreadable(file: Path, message: str, hint: str | None = None) -> Problem:
    return Problem(message=message, file=str(file), hint=hint, code="contract.unreadable")
