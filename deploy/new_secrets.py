"""Writes `.env` for docker compose with secrets that are made here and now; a file that is there is left as it is."""

from __future__ import annotations

import json
import secrets
import sys
from pathlib import Path

NAMES = ("POSTGRES_PASSWORD", "AIRFLOW_DB_PASSWORD", "AUDIT_DB_PASSWORD", "AIRFLOW_JWT_SECRET", "INVARACT_UI_TOKEN")


def main(folder: Path) -> int:
    """Write the file, and the password of Airflow's admin beside it."""
    environment, passwords = folder / ".env", folder / "deploy" / "airflow_passwords.json"
    if environment.exists():
        sys.stdout.write(f"{environment} is there already and stays as it is\n")
        return 0
    passwords.touch(mode=0o644)  # read by the container's own user
    passwords.write_text(json.dumps({"admin": secrets.token_urlsafe(16)}), encoding="utf-8")
    environment.touch(mode=0o600)
    environment.write_text("".join(f"{name}={secrets.token_hex(64)}\n" for name in NAMES), encoding="utf-8")
    sys.stdout.write(f"wrote {environment} and {passwords}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(__file__).parents[1]))
