"""What a sensor's lamp says of a jackpot wager beside the coin that was seen on it, or was not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from settlement.record import Sensor, Undecided, WagerRecord
from settlement.rules import Progressive, TableRules
from vision.sensors.lamp_reading import LampDecision


@dataclass(frozen=True, slots=True)
class LampSays:
    """`cents`: the stake where the lamp alone shows the wager; `doubt`: why it is undecided."""

    cents: int | None = None
    doubt: str | None = None


def lamp_says(
    rules: TableRules, wager: str, lamp: LampDecision | None, *, coin: bool, unread: bool = False
) -> LampSays:
    """What a lamp adds to a coin that was seen on the sensor at rest, or was not.

    `unread`: chips lay there that could not be read. A lit lamp proves the wager, whose stake is
    the jackpot's fixed one; an unlit one after a coin was seen is a contradiction.
    """
    if lamp is None or lamp.lit is None:
        return LampSays()
    if lamp.lit and not coin:
        return LampSays() if unread else LampSays(cents=base_cents(rules, wager))
    if not lamp.lit and coin:
        why = (
            "a coin was seen on the sensor, and its lamp stayed unlit "
            f"({1 - lamp.probability:.1%}, {lamp.frames} frames)"
        )
        return LampSays(doubt=why)
    return LampSays()


def base_cents(rules: TableRules, wager: str) -> int:
    """The fixed stake of a jackpot wager."""
    return rules.progressives.get(wager, Progressive()).base_cents


def seen_sensor(
    wager: str, lamp: LampDecision | None, *, coin: bool | None, laid: WagerRecord | None
) -> Sensor | None:
    """What was seen of a sensor, and what of it decided; None where nothing was.

    `coin` is None where chips lay there that could not be read; `laid` what was done there later,
    where no wager is in the record.
    """
    lit = None if lamp is None else lamp.lit
    decided_by: Literal["coin", "lamp"] | None = None
    if coin and lit is not False:
        decided_by = "coin"
    elif coin is False and lit is not None:
        decided_by = "lamp"
    if laid is not None and laid.action == "taken":
        laid = None
    if coin is False and lit is None and laid is None:
        return None
    return Sensor(
        wager=wager, coin=coin, lamp=None if lit is None else "lit" if lit else "unlit",
        lamp_probability=None if lamp is None or lit is None else round(lamp.probability, 4),
        decided_by=decided_by, laid=laid,
    )  # fmt: skip


def lit_without_hand(
    seat: int, wagers: list[WagerRecord], lamps: Mapping[str, LampDecision]
) -> list[Undecided] | None:
    """The doubts of a seat that showed lit lamps and nothing else; None where it showed more."""
    alone = [w for w in wagers if w.stake_chips is None and w.wager in lamps]
    if not wagers or len(alone) < len(wagers):
        return None
    why = "the sensor's lamp is lit, and neither a coin nor a hand was seen at the seat"
    return [Undecided(seat=seat, what=f"{w.wager}.stake", why=why) for w in wagers]
