"""Delta tables by deltalake: reading, committing, history; used with every engine."""
