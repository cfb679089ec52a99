"""The front end of SQL text: any dialect that sqlglot parses, with the schemas of the inputs."""

from invaract_orchestration.candidate.plan.sql.translate import translate_sql

__all__ = ["translate_sql"]
