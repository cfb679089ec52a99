"""`invaract run` and `invaract check`: one batch through the gate."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Parameter

from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.cli.console import progress, to_stdout, write_out
from invaract_orchestration.cli.failure import Output
from invaract_orchestration.cli.options import (
    ContractFile,
    Engine,
    Environment,
    Params,
    Source,
    Target,
    parameters,
    typed_place,
    typed_table,
)  # fmt: skip
from invaract_orchestration.cli.sql_files import Dialect, Sql, read_transform

SubmissionId = Annotated[str | None, Parameter(help="an id of your own: the same bytes as a new batch")]
Form = Annotated[Output, Parameter(help="for people, for programs, for build servers")]
Quiet = Annotated[bool, Parameter(name=["--quiet", "-q"], help="no progress on stderr")]


def run(
    contract: ContractFile, /, *, source: Source = None, param: Params = (), env: Environment = None,
    target: Target = None, transform: Sql = None, dialect: Dialect = "spark",
    submission_id: SubmissionId = None,
    supersede: Annotated[
        bool, Parameter(help="append a correction of a slice that was published before")
    ] = False,
    engine: Engine = None, output: Form = "text", quiet: Quiet = False,
) -> int:  # fmt: skip
    """Judge a batch, and publish it when every check is kept."""
    call = {
        "source": source, "target": target, "transform": (transform, dialect), "submission_id": submission_id,
        "supersede": supersede,
    }  # fmt: skip
    return _attempt("run", contract, call, param, env, engine, output, quiet)


def check(
    contract: ContractFile, /, *, source: Source = None, param: Params = (), env: Environment = None,
    target: Target = None, transform: Sql = None, dialect: Dialect = "spark",
    submission_id: SubmissionId = None, engine: Engine = None,
    output: Form = "text", quiet: Quiet = False,
) -> int:  # fmt: skip
    """Judge a batch without publishing it."""
    call = {"source": source, "target": target, "transform": (transform, dialect), "submission_id": submission_id}
    return _attempt("check", contract, call, param, env, engine, output, quiet)


def _attempt(
    kind: Literal["run", "check"], file: str, call: dict[str, Any], params: tuple[str, ...], env: str | None,
    engine: str | None, output: Output, quiet: bool,
) -> int:  # fmt: skip
    from invaract_orchestration.contract.load import load_contract
    from invaract_orchestration.wiring import open_gate

    contract = load_contract(file, env=env)
    call |= {
        "transform": read_transform(*call["transform"]), "source": typed_place(call["source"]),
        "target": typed_table(call["target"]), "parameters": parameters(params), "environment": env,
    }  # fmt: skip
    with open_gate(engine=engine, tell=(lambda _: None) if quiet else progress) as gate:
        result = gate.run(contract, **call) if kind == "run" else gate.check(contract, **call)
    print_result(result, output)
    return result.exit_code


def print_result(result: GateResult, output: Output) -> None:
    """The result to stdout."""
    if output == "text":
        from invaract_orchestration.audit.report import text_report

        to_stdout(text_report(result))
    elif output == "json":
        from invaract_orchestration.audit.report import json_report

        write_out(json_report(result))
    else:
        from invaract_orchestration.audit.junit import junit_report

        write_out(junit_report(result))
