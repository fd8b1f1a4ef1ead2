"""The rules a table plays by: game, options, pay tables and limits, from its table file."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

MainOption = Literal["ace_high_push", "king_high_or_less_push", "any_pai_gow_pays_half"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WagerLimit(_Part):
    """Minimum and maximum stake of one wager.

    >>> WagerLimit(min_cents=500, max_cents=50000).max_cents
    50000
    """

    min_cents: int | None = Field(
        default=None, ge=0, description="Least stake in cents; none: no least."
    )
    max_cents: int | None = Field(
        default=None, ge=0, description="Most stake in cents; none: no most."
    )


class TableRules(_Part):
    """The `[rules]` part of a table file.

    >>> TableRules(game="emperors_challenge_exposed").main_option
    'ace_high_push'
    """

    game: str = Field(description="Game id, such as 'emperors_challenge_exposed'.")
    paytables: dict[str, str] = Field(
        default_factory=dict,
        description="Wager name to pay table id; a wager not named is not offered.",
    )
    envy_min_cents: int = Field(
        default=500, ge=0, description="Treasure stake that qualifies for envy."
    )
    hand_pay_cents: int = Field(
        default=500000,
        gt=0,
        description="Pays above this come from the cage and are checked by a person.",
    )
    limits: dict[str, WagerLimit] = Field(
        default_factory=dict, description="Wager name to its least and most stake."
    )
    house_way: str = Field(default="document_004", description="Id of the dealer's house way.")
    wheel: Literal["second", "lowest"] = Field(
        default="second", description="A-2-3-4-5: the second highest straight, or the lowest."
    )
    main_option: MainOption = Field(
        default="ace_high_push",
        description=(
            "Commission-free option: 'ace_high_push' (all main wagers push when the dealer has an "
            "ace-high pai gow), 'king_high_or_less_push' (the same for king-high or less), "
            "'any_pai_gow_pays_half' (wins pay 1 to 2 when the dealer has any pai gow)."
        ),
    )
