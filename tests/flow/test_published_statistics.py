"""What the gate writes into the target's log is of each column's own type, or the table could not be read any more."""

from __future__ import annotations

from pathlib import Path

from deltalake import DeltaTable, QueryBuilder

from tests.cli.conftest import Place, place  # noqa: F401

CONTRACT = """\
contract: places
version: "1.0.0"
source: {location: in.csv}
fields:
  - {name: zip, type: string}
  - {name: open, type: boolean}
  - {name: day, type: date}
  - {name: price, type: "decimal(10,2)"}
  - {name: seats, type: int}
publish: {target: t.places}
"""


def test_published_table_of_every_kind_of_column_can_be_read(place: Place) -> None:  # noqa: F811
    (place.root / "c.yaml").write_text(CONTRACT)
    (place.root / "in.csv").write_text("zip,open,day,price,seats\n10001,true,2026-01-31,1.00,7\n99999,false,2026-02-28,2,9\n")
    assert place.call("run", "c.yaml").code == 0
    table = DeltaTable(str(Path("lake/t/places").absolute()))
    rows = QueryBuilder().register("t", table).execute("SELECT zip, seats FROM t WHERE zip > '10001'").read_all()
    assert [(c.to_pylist()) for c in (rows["zip"], rows["seats"])] == [["99999"], [9]]
