"""The manifest beside a candidate: its files with sizes, rows and digests, for people and for the clean-up."""

from __future__ import annotations

import json
from pathlib import Path

from invaract_orchestration.candidate.candidate import Materialised

MANIFEST = "manifest.json"


def write_manifest(place: Path, materialised: Materialised) -> None:
    """Write it in the attempt's folder; it holds no statistics, as those hold values."""
    candidate = materialised.candidate
    body = {
        "digest": candidate.digest,
        "columns": [[name, str(type_)] for name, type_ in candidate.columns],
        "rows": candidate.rows,
        "files": [
            {"path": str(Path(f.path).relative_to(place)), "size": f.size, "rows": f.rows, "digest": f.digest}
            for f in candidate.files
        ],
    }
    (place / MANIFEST).write_text(json.dumps(body, indent=1), encoding="utf-8")
