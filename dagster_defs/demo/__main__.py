"""`python -m dagster_defs.demo serve` starts Dagster on the demonstration's project, `headless` runs it without its pages."""

from __future__ import annotations

import os
import sys
from pathlib import Path

FOLDER = Path(".cache") / "dagster"
_INSTANCE = """\
telemetry: {enabled: false}
nux: {enabled: false}
concurrency: {runs: {max_concurrent_runs: 2}}
"""
_RUNS = (
    ("flights_reporting", "2013-01"), ("flights_reporting", "2013-03"), ("flights_reporting", "2013-03"),
    ("shop_reporting", "2026-03-03"), ("shop_reporting", "2026-03-04"),
)  # fmt: skip

_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def main(arguments: list[str]) -> int:
    """Run one of the two commands; 64 when it is another."""
    if arguments[:1] not in (["serve"], ["headless"]):
        sys.stderr.write("expected: python -m dagster_defs.demo serve [PORT] | headless\n")
        return 64
    _prepare()
    return _headless() if arguments[0] == "headless" else _serve(*arguments[1:2])


def _prepare() -> None:
    home = FOLDER.absolute() / "home"
    home.mkdir(parents=True, exist_ok=True)
    (home / "dagster.yaml").write_text(_INSTANCE, encoding="utf-8")
    os.environ["DAGSTER_HOME"] = str(home)
    os.environ.setdefault("INVARACT_LAKE_ROOT", str(FOLDER.absolute() / "lake"))


def _serve(port: str = "3000") -> int:
    sys.stdout.write(f"Dagster: http://127.0.0.1:{port}  (stop it with Ctrl-C; its data is in {FOLDER})\n")
    sys.stdout.flush()
    program = str(Path(sys.executable).with_name("dagster"))
    os.execv(program, [program, "dev", "-m", "dagster_defs.definitions", "-h", "127.0.0.1", "-p", port])


def _headless() -> int:
    import dagster as dg

    from dagster_defs.definitions import defs
    from dagster_defs.demo.report import lines_of

    with dg.DagsterInstance.get() as instance:
        for name, partition in _RUNS:
            job = defs.resolve_job_def(name)
            result = job.execute_in_process(
                partition_key=partition, instance=instance, raise_on_error=False, run_config=_QUIET
            )
            for line in lines_of(name, partition, result):
                sys.stdout.write(line + "\n")
            sys.stdout.flush()
    sys.stdout.write(f"\n{sys.executable} -m dagster_defs.demo serve   shows these runs in Dagster's pages\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
