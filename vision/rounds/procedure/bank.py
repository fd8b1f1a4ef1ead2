"""Who banks, where players may: by the house wager, the seat without a stake, and the marker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from settlement.declared import place_named
from vision.rounds.procedure.marker_bank import MarkerPlace
from vision.rounds.round_state import FACE_UP_CARDS, Episode, Round


@dataclass(frozen=True, slots=True)
class Bank:
    """The seat that banks (None: the house), or why that is not known."""

    seat: int | None = None
    doubt: str | None = None


def seen_bank(
    own: Round, seats: Sequence[int], house: bool | None, marker: MarkerPlace | None = None
) -> Bank:
    """Who banks in a round, as far as the felt shows it.

    A player who banks has no main wager, and the house then stakes its own: `house` is whether
    that lay there, None where it was not seen. `marker` is where the banker's marker lay, None at
    a table without one; one that is not seen leaves it to the wagers.
    """
    without = [seat for seat in seats if _dealt_without_main(own.tracks[seat].episodes)]
    by_wagers = _by_wagers(without, house)
    if marker is None or (marker.place is None and not marker.twice):
        return by_wagers
    if marker.place is None:
        return Bank(doubt=marker.doubt)
    if marker.place != "house":
        return _marked_seat(int(marker.place), by_wagers, without)
    if by_wagers.seat is None and by_wagers.doubt is None:
        return by_wagers
    why = by_wagers.doubt or f"seat {by_wagers.seat} got cards without a main wager"
    return Bank(doubt=f"{why}, and the banker's marker lies at the house")


def _marked_seat(seat: int, by_wagers: Bank, without: Sequence[int]) -> Bank:
    """The seat before which the marker lies, where the wagers do not contradict it."""
    if seat in without:
        # That a house wager was not read, or another seat's stake, is no evidence against it.
        return Bank(seat)
    lies = f"the banker's marker lies at {place_named(seat)}"
    if by_wagers.seat is not None:
        return Bank(doubt=f"{lies}, and seat {by_wagers.seat} got cards without a main wager")
    return Bank(doubt=f"{lies}, which has a main wager or got no cards")


def _by_wagers(without: Sequence[int], house: bool | None) -> Bank:
    """Who banks by the seats that got cards without a main wager, and the house wager."""
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
