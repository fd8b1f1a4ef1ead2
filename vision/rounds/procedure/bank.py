"""Who banks, where players may: from the house wager and the seat that stakes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vision.rounds.tracker import FACE_UP_CARDS, Episode, Round


@dataclass(frozen=True, slots=True)
class Bank:
    """The seat that banks (None: the house), or why that is not known."""

    seat: int | None = None
    doubt: str | None = None


def seen_bank(own: Round, seats: Sequence[int], house: bool | None) -> Bank:
    """Who banks in a round, as far as the felt shows it.

    A player who banks has no main wager, and the house then stakes its own: `house` is whether
    that lay there, None where it was not seen.
    """
    without = [seat for seat in seats if _dealt_without_main(own.tracks[seat].episodes)]
    if not without and not house:
        return Bank()
    named = " and ".join(f"seat {seat}" for seat in without)
    if house and len(without) == 1:
        return Bank(without[0])
    if house and not without:
        return Bank(doubt="a house wager lies, and every seat that got cards has a main wager")
    if len(without) > 1:
        return Bank(doubt=f"{named} got cards without a main wager")
    lies = "no house wager lies" if house is False else "no house wager could be seen"
    return Bank(doubt=f"{named} got cards without a main wager, and {lies}")


def _dealt_without_main(episodes: Sequence[Episode]) -> bool:
    """Whether a seat got cards and no chips were seen on its main spot until they were shown."""
    shown = next((k for k, e in enumerate(episodes) if e.cards_up >= FACE_UP_CARDS), None)
    dealt = shown is not None or any(e.backs for e in episodes)
    before = episodes if shown is None else episodes[: shown + 1]
    readings = [r for e in before for r in e.readings]
    with_main = sum("main" in r.stakes for r in readings)
    return dealt and bool(readings) and with_main * 3 < len(readings)
