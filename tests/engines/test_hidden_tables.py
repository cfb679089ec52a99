"""A folder that may not be entered: whether there is a table is not known, which is not the same as that there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from invaract_orchestration.engines.delta.read import open_table

LOOK = """
import os, sys
from invaract_orchestration.engines.delta.quarantine import quarantined_rows
from invaract_orchestration.errors import InputUnreadable
os.setgid(65534)
os.setuid(65534)
try:
    print(quarantined_rows(sys.argv[1]).num_rows, "rows")
except InputUnreadable as error:
    print(error.sentence)
"""


def test_quarantine_that_this_user_cannot_reach_is_not_empty(tmp_path: Path) -> None:
    above = tmp_path / "above"
    above.mkdir(mode=0o700)
    write_deltalake(str(above / "quarantine"), pa.table({"v": [1]}))
    if os.getuid() != 0:
        pytest.skip("only root can look as somebody else")
    seen = subprocess.run(
        [sys.executable, "-c", LOOK, str(above / "quarantine")], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "cannot be seen: Permission denied" in seen.stdout, seen.stdout + seen.stderr


def test_folder_that_is_not_there_holds_no_table(tmp_path: Path) -> None:
    assert open_table(str(tmp_path / "none")) is None
    (tmp_path / "file").write_text("x")
    assert open_table(str(tmp_path / "file" / "table")) is None
