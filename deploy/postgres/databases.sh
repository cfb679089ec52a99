#!/bin/sh
# A database with an owner of its own for Airflow and for the audit; run once, when the volume is new.
set -eu
create() {
    psql --quiet -v ON_ERROR_STOP=1 -v owner="$1" -v password="$2" --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE :"owner" LOGIN PASSWORD :'password';
CREATE DATABASE :"owner" OWNER :"owner";
REVOKE CONNECT ON DATABASE :"owner" FROM PUBLIC;
SQL
}
create airflow "$AIRFLOW_DB_PASSWORD"
create audit "$AUDIT_DB_PASSWORD"
