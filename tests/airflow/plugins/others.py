"""Other people's plugins beside ours: one with a page, and one whose page has no address."""

from typing import ClassVar

from airflow.providers.common.compat.sdk import AirflowPlugin
from fastapi import FastAPI

app = FastAPI()


@app.get("/hello")
def hello():
    return {"from": "another plugin"}


class OtherPlugin(AirflowPlugin):
    name = "other"
    fastapi_apps: ClassVar = [{"name": "other", "app": app, "url_prefix": "/other"}]
    external_views: ClassVar = [{"name": "Another page", "href": "/other/hello", "destination": "nav", "category": "browse", "url_route": "other"}]


class OddPlugin(AirflowPlugin):
    name = "odd"
    external_views: ClassVar = [{"name": "No address", "destination": "nav"}]
