"""The distributed engine: PySpark, classic and Connect."""
