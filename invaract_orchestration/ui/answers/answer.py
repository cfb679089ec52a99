"""What every answer is, and the one that says why there is none."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Answer(BaseModel):
    """Frozen and closed."""

    model_config = ConfigDict(frozen=True, extra="forbid", from_attributes=True)


class Problem(Answer):
    """Why there is no answer."""

    detail: str
    hint: str | None = None
