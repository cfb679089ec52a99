"""The publication gate in Airflow: it translates between a task and the gate, and decides nothing itself.

Nothing is imported here: what Airflow loads while it parses a DAG stays as small as the module that the DAG names.
"""

__version__ = "0.1.0"
