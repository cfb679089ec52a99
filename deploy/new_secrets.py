"""Writes `.env` for docker compose with secrets that are made here and now; what is there stays, what is missing is added."""

from __future__ import annotations

import base64
import json
import secrets
import sys
from pathlib import Path

NAMES = ("POSTGRES_PASSWORD", "AIRFLOW_DB_PASSWORD", "AUDIT_DB_PASSWORD", "AIRFLOW_JWT_SECRET", "INVARACT_UI_TOKEN")
FERNET = "AIRFLOW_FERNET_KEY"
"""Airflow encrypts its connections with it; one of its own making would be gone with the container."""


def main(folder: Path) -> int:
    """Write the file, and the password of Airflow's admin beside it."""
    environment, passwords = folder / ".env", folder / "deploy" / "airflow_passwords.json"
    if not passwords.exists():
        passwords.touch(mode=0o644)  # read by the container's own user
        passwords.write_text(json.dumps({"admin": secrets.token_urlsafe(16)}), encoding="utf-8")
    environment.touch(mode=0o600)
    text = environment.read_text(encoding="utf-8")
    known = {line.partition("=")[0] for line in text.splitlines()}
    made = {name: secrets.token_hex(64) for name in NAMES} | {FERNET: base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()}
    added = [f"{name}={value}\n" for name, value in made.items() if name not in known]
    environment.write_text(text + ("\n" if text and not text.endswith("\n") else "") + "".join(added), encoding="utf-8")
    sys.stdout.write(f"{environment} and {passwords}: {len(added)} secrets added, the others stay\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(__file__).parents[1]))
