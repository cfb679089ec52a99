"""The embedded engine: DuckDB over files, no server."""
