"""The rules a table plays by: game, options, pay tables and limits, from its table file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WagerLimit(_Part):
    """Minimum and maximum stake of one wager."""

    min_cents: int | None = Field(None, ge=0)
    max_cents: int | None = Field(None, ge=0)


class TableRules(_Part):
    """The `[rules]` part of a table file."""

    game: str = Field(description="Game id, such as 'emperors_challenge_exposed'.")
    paytables: dict[str, str] = Field(
        default_factory=dict, description="Wager name to pay table id; a wager not named is not offered."
    )
    envy_min_cents: int = Field(500, ge=0, description="Treasure stake that qualifies for envy.")
    hand_pay_cents: int = Field(
        500000, gt=0, description="Pays above this come from the cage and are checked by a person."
    )
    limits: dict[str, WagerLimit] = Field(default_factory=dict)
