"""The Delta JARs of a session that the gate starts itself: resolved once, without an address written anywhere."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.resources import files
from pathlib import Path

from invaract_orchestration.errors import GateError, MissingExtra

PACKAGES = "io.delta:delta-spark_4.2_2.13:4.4.0"
"""The Delta of this PySpark; the next patch release has a Python package, but its JARs are not served."""
_IVY = Path.home() / ".ivy2.5.2"
"""Where this Spark's Ivy keeps what it fetches."""


def ivy_settings() -> str:
    """The file that tells Ivy to ask one repository, by its kind and without an address."""
    return str(files("invaract_orchestration.engines.spark") / "ivysettings.xml")


def jar_options(folder: str | None) -> dict[str, str]:
    """The options that give a session its JARs: those of a folder, or the ones to resolve.

    Raises:
        GateError: the folder holds no JAR.
    """
    if folder is None:
        return {"spark.jars.packages": PACKAGES, "spark.jars.ivySettings": ivy_settings()}
    found = sorted(Path(folder).glob("*.jar"))
    if not found:
        raise GateError(
            f"there is no JAR in {folder!r}", code="engine.jars_missing",
            hint="INVARACT_SPARK_JARS names a folder of resolved JARs; leave it out to have them resolved",
        )  # fmt: skip
    return {"spark.jars": ",".join(map(str, found))}


@contextmanager
def fetched_once(folder: str | None) -> Iterator[None]:
    """Start the session that fetches the JARs in this block: of several processes that have none yet, one fetches them and the
    others wait, as Ivy's files are spoiled by two at once.
    """
    if jars_found(folder)[0]:
        yield
        return
    from filelock import FileLock  # comes with the Spark extra

    with ExitStack() as held:
        with suppress(OSError, NotImplementedError):  # Ivy may write elsewhere, and says by itself where it cannot
            _IVY.mkdir(parents=True, exist_ok=True)
            held.enter_context(FileLock(_IVY / "invaract.lock"))
        yield


def java_version() -> str | None:
    """The first line of what Java says of itself, none where there is no Java."""
    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=f"{home}/bin" if home else None) or shutil.which("java")
    if program is None:
        return None
    said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False, timeout=30).stderr
    return said.splitlines()[0] if said else program


def require_java() -> None:
    """Raises GateError where there is no Java, and MissingExtra where PySpark is not installed."""
    try:
        import pyspark  # noqa: F401  # asked before a session is tried
    except ImportError:
        raise MissingExtra("the Spark engine", "spark") from None
    if java_version() is None:
        raise GateError(
            "the Spark engine needs Java, and none was found", code="engine.java_missing",
            hint="install a Java 17 runtime or set JAVA_HOME; a remote Spark needs none (INVARACT_SPARK_REMOTE)",
        )  # fmt: skip


def jars_found(folder: str | None) -> tuple[bool, str]:
    """Whether the JARs are here already, and a sentence about it for people."""
    if folder is not None:
        count = len(list(Path(folder).glob("*.jar")))
        return count > 0, f"{count} in {folder}"
    cache = _IVY / "jars"
    name, _, release = PACKAGES.split(":", 1)[1].partition(":")
    if list(cache.glob(f"*{name}-{release}.jar")):
        return True, f"{PACKAGES} in {cache}"
    return False, f"{PACKAGES} comes with the first session, or now by `python -m invaract_orchestration.engines.spark`"
