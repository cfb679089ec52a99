"""What happens to the consumed files after their publication is recorded."""

from __future__ import annotations

from collections.abc import Sequence

from invaract_orchestration.contract.model import Source
from invaract_orchestration.intake.listing import ListedFile, is_as_listed

ARCHIVE = "_archive"


def consume_files(source: Source, files: Sequence[ListedFile], submission_id: str) -> str:
    """Keep, archive or delete the files; what to add to the message, empty when they are kept.

    An archived file goes to `_archive/<submission>` beside it, a folder that is never input. A file that cannot be moved is said
    so and is no error: the publication stands. One that is not what was published any more stays, as it is another delivery.
    """
    if source.after == "keep":
        return ""
    done = {"archive": "archived", "delete": "deleted"}[source.after]
    try:
        files = [file for file in files if is_as_listed(file)]
        for file in files:
            if source.after == "delete":
                file.path.unlink(missing_ok=True)
            else:
                folder = file.path.parent / ARCHIVE / submission_id
                folder.mkdir(parents=True, exist_ok=True)
                file.path.rename(folder / file.path.name)
    except OSError as error:
        return f"; not all of the consumed files could be {done} ({type(error).__name__}), the publication stands"
    return f"; {done} {len(files)} consumed {'file' if len(files) == 1 else 'files'}" if files else ""
