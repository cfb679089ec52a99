"""Files that Hadoop cannot name: after a colon it takes what stands before it for another file system."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from invaract_orchestration.intake.batch import Batch, BatchFile


def linked(batch: Batch, folder: Path) -> Batch:
    """The batch with a link in the folder in place of every file whose path holds a colon."""
    if not any(":" in str(file.file.path) for file in batch.files):
        return batch
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return replace(batch, files=tuple(_linked(file, number, folder) for number, file in enumerate(batch.files)))


def _linked(file: BatchFile, number: int, folder: Path) -> BatchFile:
    path = file.file.path
    if ":" not in str(path):
        return file
    link = folder / f"link-{number}{re.sub('[^A-Za-z0-9.]', '_', ''.join(path.suffixes))}"  # the ending says how it is packed
    if not link.is_symlink():
        link.symlink_to(path.absolute())
    return replace(file, file=replace(file.file, path=link))
