"""Files that Hadoop cannot name: after a colon it takes what stands before it for another file system."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path

from invaract_orchestration.intake.batch import Batch
from invaract_orchestration.intake.listing import ListedFile


def linked(batch: Batch, folder: Path) -> Batch:
    """The batch with a link in the folder in place of every file whose path holds a colon, those of its tables and links too."""
    arriving = batch.arriving and replace(batch.arriving, batch=linked(batch.arriving.batch, folder))
    return replace(
        batch, files=tuple(replace(f, file=_linked(f.file, folder)) for f in batch.files), arriving=arriving,
        tables=tuple(replace(t, files=tuple(_linked(f, folder) for f in t.files)) for t in batch.tables),
        links=tuple(replace(rows, files=tuple(_linked(f, folder) for f in rows.files)) for rows in batch.links),
    )  # fmt: skip


def _linked(file: ListedFile, folder: Path) -> ListedFile:
    if ":" not in str(file.path):
        return file
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    name = hashlib.sha256(str(file.path).encode()).hexdigest()
    link = folder / f"link-{name}{re.sub('[^A-Za-z0-9.]', '_', ''.join(file.path.suffixes))}"  # the ending says how it is packed
    if not link.is_symlink():
        link.symlink_to(file.path.absolute())
    return replace(file, path=link)
