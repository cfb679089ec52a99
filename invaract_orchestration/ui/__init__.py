"""The audit pages: server-rendered HTML and a JSON API over the audit, read-only."""
