#!/bin/sh
# Starts a part of Spark from the installed pyspark package, in the foreground.
SPARK_HOME=$(python -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent)')
export SPARK_HOME SPARK_NO_DAEMONIZE=1
exec "$SPARK_HOME/bin/spark-class" "$@"
