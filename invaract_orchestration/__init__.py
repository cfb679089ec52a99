"""invaract-orchestration: a publication gate for lakehouse tables."""
