"""Engines: each translates its own types and errors, and nothing else does."""
