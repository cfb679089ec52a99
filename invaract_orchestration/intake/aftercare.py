"""What happens to the consumed files after their publication is recorded."""

from __future__ import annotations

from collections.abc import Sequence

from invaract_orchestration.contract.model import Source
from invaract_orchestration.errors import InputUnreadable
from invaract_orchestration.intake.listing import ListedFile

ARCHIVE = "_archive"


def consume_files(source: Source, files: Sequence[ListedFile], submission_id: str) -> str | None:
    """Keep, archive or delete the files; a text for the audit, none when they are kept.

    An archived file goes to `_archive/<submission>` beside it, a folder that is never input.

    Raises:
        InputUnreadable: a file could not be moved or deleted; the publication stands.
    """
    if source.after == "keep" or not files:
        return None
    try:
        for file in files:
            if source.after == "delete":
                file.path.unlink(missing_ok=True)
            else:
                folder = file.path.parent / ARCHIVE / submission_id
                folder.mkdir(parents=True, exist_ok=True)
                file.path.rename(folder / file.path.name)
    except OSError as error:
        raise InputUnreadable(
            f"the published files could not be {source.after}d ({type(error).__name__})",
            hint="the publication stands; move the files by hand",
        ) from None
    return f"{source.after}d {len(files)} consumed files"
