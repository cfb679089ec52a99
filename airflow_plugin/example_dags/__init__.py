"""DAGs that show the gate, run as tests."""
