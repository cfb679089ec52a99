"""How a table's log spells the paths of its files.

deltalake takes a file out of a table under the spelling that it would have given the path itself. Where another writer spells it
otherwise (Spark leaves the letters of other alphabets as they are), the file stays, and its rows stay beside the new ones.
"""

from __future__ import annotations

from urllib.parse import quote, unquote

import pyarrow as pa
from deltalake import DeltaTable

_LEFT_ALONE = "!$&'()+,/:;=@"
"""What deltalake writes as it is, beside the letters and digits of ASCII and `_.-~`."""


def plain_path(logged: str) -> str:
    """The path of a file in the log, as deltalake takes it to spell it again."""
    return unquote(logged)


def has_paths_of_another_spelling(table: DeltaTable) -> bool:
    """Whether a file of the table cannot be taken out through deltalake."""
    paths = pa.table(table.get_add_actions(flatten=True)).column("path").to_pylist()
    return any(quote(plain_path(path), safe=_LEFT_ALONE) != path for path in paths)
