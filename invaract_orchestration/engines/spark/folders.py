"""The columns that folder names say, beside those of the files themselves, and Spark's names of files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from invaract_orchestration.contract.field_types import FieldType
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.types import spark_type
from invaract_orchestration.intake.batch import Batch, BatchFile


@dataclass(frozen=True, slots=True)
class Folders:
    """The columns in the folder names of files, and their values by file."""

    columns: tuple[str, ...]
    files: tuple[BatchFile, ...]

    @classmethod
    def of(cls, contract: Contract, batch: Batch) -> Folders:
        """The columns that only the folders of a batch say."""
        fed = {name for file in batch.files for name in file.feeds}
        names = dict.fromkeys(n for file in batch.files for n, _ in file.file.partition)
        return cls(tuple(n for n in names if contract.field(n) is not None and n not in fed), batch.files)

    @property
    def names(self) -> dict[str, str]:
        """The path of a file to its name in the batch."""
        return {str(b.file.path): b.file.name for b in self.files}

    def value(self, name: str, type_: FieldType | None = None) -> str:
        """The text that the folders say for a column; null for any other, of the given type."""
        if name in self.columns:
            return f"d{self.columns.index(name)}"
        return f"CAST(NULL AS {spark_type(type_) if type_ else 'STRING'})"

    def joined(self, spark: Any, frame: Any) -> Any:
        """The frame with the values of each row's file."""
        if not self.columns:
            return frame
        rows = [
            [str(b.file.path), *(dict(b.file.partition).get(c) for c in self.columns)] for b in self.files
        ]  # fmt: skip
        values = ", ".join("(" + ", ".join("CAST(NULL AS STRING)" if v is None else q.text(v) for v in row) + ")" for row in rows)
        names = ", ".join(["df", *(f"d{i}" for i in range(len(self.columns)))])
        table = spark.sql(f"SELECT * FROM VALUES {values} AS t({names})").hint("broadcast")
        return frame.selectExpr("*", f"{PATH_OF.format('f')} AS df").join(table, "df")


PATH_OF = "url_decode(replace(regexp_replace({}, '^file:/*', '/'), '+', '%2B'))"
"""The path in the name that Spark gives a file."""


def path_of(uri: str) -> str:
    """The same for a name that was read."""
    return "/" + unquote(uri).removeprefix("file:").lstrip("/") if uri else ""
