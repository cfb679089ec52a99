"""Whether an address answers as it should, for the health checks of docker compose; Airflow's parts have to be healthy too."""

from __future__ import annotations

import json
import sys
import urllib.request


def main(address: str) -> int:
    """0 when it is healthy."""
    with urllib.request.urlopen(address, timeout=5) as answer:
        body = answer.read()
    if not address.endswith("/monitor/health"):
        return 0
    parts = json.loads(body)
    known = [part["status"] for part in parts.values() if part and part.get("status")]
    return 0 if known and set(known) == {"healthy"} else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
