"""The files of a batch, listed once: which they are, how large, when they changed, and what their folders say.

A pattern is matched one folder after another (`*`, `?`, `[...]`, and `**` for any depth), with the letter case as
written. A folder, named or matched, means every file below it. What starts with `_` or `.` is not input, but for a
`_name=value` folder.
"""

from __future__ import annotations

import fnmatch
import os
import re
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from invaract_orchestration.errors import InputUnreadable, NotSupported
from invaract_orchestration.intake.column_names import nearest
from invaract_orchestration.intake.wording import LONGEST_PLACE, counted, quoted, quoted_list

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
_PATTERN = re.compile(r"[*?\[]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")

Partition = tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile:
    """A file as it was when listed. `name` is relative to the listing's root, with `/`.

    `modified_ns` is in Unix nanoseconds, `size` in bytes. `partition` holds the columns that `name=value` folders say,
    those of the location itself first, decoded; a null is Hive's default partition.
    """

    path: Path
    name: str
    size: int
    modified_ns: int
    partition: Partition = ()

    @property
    def folder_columns(self) -> tuple[str, ...]:
        """Columns that folders below the root say; those of the location itself are the author's own layout."""
        return tuple(column for column, _ in partition_of(self.name.split("/")[:-1]))

    def columns_beside(self, own: Collection[str], agreed: Collection[str]) -> tuple[str, ...]:
        """Columns that folders say for a file with `own` columns: all of those below the root, and of the location's
        those that are agreed and that the file does not have itself.
        """
        below = self.folder_columns
        above = (name for name, _ in self.partition if name in agreed and name not in own and name not in below)
        return (*above, *below)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The input files in the order of their names, and the folder that the names start from."""

    root: str
    files: tuple[ListedFile, ...]


def list_files(location: str, *, base: Path) -> Listing:
    """The input files at a location: a file, a folder or a pattern, absolute or relative to `base`.

    Raises:
        InputUnreadable: `input.missing` when no file is there, `input.none_readable` when only names are there that are
            no input, `input.delta_table` when a folder is a Delta table, `input.unreadable` when a file cannot be read.
        NotSupported: the location is a URL of anything but `file://`.
    """
    place = _Place.of(location, base)
    found = dict.fromkeys(place.files(is_hidden_input=False))
    if not found:
        raise _nothing(place)
    files = sorted((_listed(path, place) for path in found), key=lambda file: file.name)
    return Listing(root=str(place.root), files=tuple(files))


def verify_unchanged(listing: Listing, location: str, base: Path) -> None:
    """The files at the location are still those of the listing, with the same size and time of change.

    Raises:
        InputUnreadable: `input.changed`, with the names of files that changed, vanished or appeared.
    """
    try:
        now = {file.name: file for file in list_files(location, base=base).files}
    except InputUnreadable as problem:
        if problem.code not in ("input.missing", "input.none_readable"):
            raise
        now = {}
    then = {file.name: file for file in listing.files}
    differences = {
        "changed": sorted(name for name in then.keys() & now.keys() if _stamp(then[name]) != _stamp(now[name])),
        "vanished": sorted(then.keys() - now.keys()),
        "appeared": sorted(now.keys() - then.keys()),
    }
    said = [f"{counted(len(names), 'file')} {how}: {quoted_list(names)}" for how, names in differences.items() if names]
    if said:
        raise InputUnreadable(
            f"the input at {quoted(location, LONGEST_PLACE)} is not what was listed: {'; '.join(said)}",
            hint="start the gate when the delivery is complete; a producer that writes under a name that starts with "
            "'_' or '.' and renames it at the end is never read half-written",
            code="input.changed",
        )


def partition_of(folders: list[str]) -> Partition:
    """The columns that folder names of the form `name=value` say, percent-decoded as Hive writes them."""
    pairs = (folder.split("=", 1) for folder in folders if "=" in folder[1:])
    return tuple((unquote(name), None if value == NULL_PARTITION else unquote(value)) for name, value in pairs)


def is_as_listed(file: ListedFile) -> bool:
    """Whether the file is still there, with the size and the time of change that it was listed with."""
    try:
        now = file.path.stat()
    except FileNotFoundError:
        return False
    return (now.st_size, now.st_mtime_ns) == _stamp(file)


def _stamp(file: ListedFile) -> tuple[int, int]:
    return file.size, file.modified_ns


@dataclass(frozen=True, slots=True)
class _Place:
    """A location taken apart: the folder before the first pattern, and the patterns below it."""

    location: str
    root: Path
    written: tuple[str, ...]
    """The steps of the location up to the root, as the author wrote them."""
    steps: tuple[str, ...]

    @classmethod
    def of(cls, location: str, base: Path) -> _Place:
        text = _local(location)
        if "\0" in text or not text.strip():
            raise InputUnreadable(f"location {quoted(location, LONGEST_PLACE)} names no file", code="input.missing")
        parts = [part for part in text.split("/") if part not in ("", ".")]
        start = Path("/") if text.startswith("/") else base
        whole = start.joinpath(*parts)
        if _is_there(whole) and whole.is_dir():
            return cls(location, whole, tuple(parts), ())
        if _is_there(whole):  # a name that is there is never a pattern, whatever characters it has
            return cls(location, whole.parent, tuple(parts[:-1]), (_literal(parts[-1]),))
        patterns = (i for i, part in enumerate(parts) if _PATTERN.search(part))
        fixed = next(patterns, len(parts) - 1)
        return cls(location, start.joinpath(*parts[:fixed]), tuple(parts[:fixed]), tuple(parts[fixed:]))

    def files(self, *, is_hidden_input: bool) -> Iterator[Path]:
        """Every file that the location means; those that are no input only when asked for."""
        if self.root.is_dir():
            yield from _matches(self.root, self.steps, is_hidden_input, ())


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as cause:
        raise InputUnreadable(f"{quoted(str(path), LONGEST_PLACE)} cannot be looked at: {_why(cause)}") from cause


def _literal(name: str) -> str:
    return _PATTERN.sub(lambda match: f"[{match.group()}]", name)


def _local(location: str) -> str:
    """The path in a location, without `file://`."""
    scheme = _SCHEME.match(location)
    if scheme is None:
        return location
    if scheme.group(1).lower() != "file":
        raise NotSupported(
            f"reading files from {scheme.group(1)}: locations ({quoted(location, LONGEST_PLACE)}) is not supported by "
            "the intake",
            hint="the intake reads local and mounted file systems; mount the storage, or read it with the Spark engine",
        )
    rest = location[len("file:") :]
    host, slash, path = rest[2:].partition("/") if rest.startswith("//") else ("", "", rest)
    if host not in ("", "localhost"):
        raise NotSupported(f"a file: location with the host {quoted(host)} is not supported", hint="write file:///path")
    return unquote(slash + path)


def _is_input(name: str) -> bool:
    return name[0] not in "_." or (name[0] == "_" and "=" in name)


def _matches(folder: Path, steps: tuple[str, ...], hidden: bool, above: tuple[tuple[int, int], ...]) -> Iterator[Path]:
    """Files below a folder that the steps match; no step left means all of them."""
    if not steps:
        yield from _below(folder, hidden, above)
        return
    step, rest = steps[0], steps[1:]
    if step == "..":
        yield from _matches(folder / step, rest, hidden, above)
        return
    if step == "**" and rest:
        yield from _matches(folder, rest, hidden, above)
    for entry in _entries(folder):
        if not hidden and not _is_input(entry.name):
            continue
        if step == "**":
            if _is_folder(entry):
                yield from _matches(Path(entry.path), steps, hidden, _deeper(folder, above))
            elif not rest:
                yield Path(entry.path)
        elif fnmatch.fnmatchcase(entry.name, step):
            if _is_folder(entry):
                yield from _matches(Path(entry.path), rest, hidden, _deeper(folder, above))
            elif not rest:
                yield Path(entry.path)


def _below(folder: Path, hidden: bool, above: tuple[tuple[int, int], ...]) -> Iterator[Path]:
    for entry in _entries(folder):
        if not hidden and not _is_input(entry.name):
            continue
        if _is_folder(entry):
            yield from _below(Path(entry.path), hidden, _deeper(folder, above))
        else:
            yield Path(entry.path)


def _deeper(folder: Path, above: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    status = folder.stat()
    identity = (status.st_dev, status.st_ino)
    if identity in above:
        raise InputUnreadable(
            f"folder {quoted(str(folder), LONGEST_PLACE)} contains itself through a symbolic link",
            hint="remove the link, or name the files by a pattern that does not follow it",
        )
    return (*above, identity)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError as cause:
        raise InputUnreadable(f"folder {quoted(str(folder), LONGEST_PLACE)} cannot be listed: {_why(cause)}") from cause
    if any(entry.name == "_delta_log" for entry in found):
        raise InputUnreadable(
            f"folder {quoted(str(folder), LONGEST_PLACE)} is a Delta table: its files alone hold deleted rows too",
            hint="write `format: delta` and the table's folder as location",
            code="input.delta_table",
        )
    return found


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError as cause:
        raise InputUnreadable(f"{quoted(entry.path, LONGEST_PLACE)} cannot be looked at: {_why(cause)}") from cause


def _listed(path: Path, place: _Place) -> ListedFile:
    name = path.relative_to(place.root).as_posix()
    try:
        name.encode("utf-8")
        status = path.stat()
    except UnicodeEncodeError as cause:
        raise InputUnreadable(
            f"the name of file {quoted(name, LONGEST_PLACE)} is not UTF-8", hint="rename it", code="input.unsafe_name"
        ) from cause
    except OSError as cause:
        raise InputUnreadable(f"file {quoted(name, LONGEST_PLACE)} cannot be read: {_why(cause)}") from cause
    if not stat.S_ISREG(status.st_mode):
        raise InputUnreadable(f"{quoted(name, LONGEST_PLACE)} is not a regular file", hint="remove it from there")
    if not os.access(path, os.R_OK):
        raise InputUnreadable(
            f"file {quoted(name, LONGEST_PLACE)} cannot be read: permission denied",
            hint="give the gate's user the right to read it",
        )
    folders = [*place.written, *name.split("/")[:-1]]
    return ListedFile(
        path=path, name=name, size=status.st_size, modified_ns=status.st_mtime_ns, partition=partition_of(folders)
    )


def _nothing(place: _Place) -> InputUnreadable:
    hidden = [p.relative_to(place.root).as_posix() for p in dict.fromkeys(place.files(is_hidden_input=True))]
    if hidden:
        return InputUnreadable(
            f"location {quoted(place.location, LONGEST_PLACE)}: {counted(len(hidden), 'file')} on disk, 0 readable: "
            f"{quoted_list(sorted(hidden))}; a file or folder whose name starts with '_' or '.' is not input",
            hint="rename the delivered files so that they start with another character",
            code="input.none_readable",
        )
    return InputUnreadable(
        f"location {quoted(place.location, LONGEST_PLACE)}: expected at least one file, found none",
        hint=_nearest_place(place),
        code="input.missing",
    )


def _nearest_place(place: _Place) -> str:
    folder = place.root
    while not folder.is_dir():
        folder = folder.parent
    said = f"the nearest folder that exists is {quoted(str(folder), LONGEST_PLACE)}"
    names = [entry.name for entry in _entries(folder)]
    below = (*place.root.relative_to(folder).parts, *place.steps)
    looked_for = f"; looked for {quoted('/'.join(below), LONGEST_PLACE)} in it" if below else ""
    close = nearest(below[0], names) if below else None
    held = f"it holds {counted(len(names), 'name')}" + (f", the closest is {quoted(close)}" if close else "")
    return f"{said}{looked_for}; {held}"


def _why(cause: OSError) -> str:
    return (cause.strerror or type(cause).__name__).lower()
