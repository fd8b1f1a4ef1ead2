"""Ways of mistakes that are made when hands are set.

Each function changes a draft of the round and returns whether there was room for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from datasets.simulate.dealing import HAND_CARDS, Setting, fouls, house_way, other_ways
from datasets.simulate.draft import Draft
from datasets.simulate.mistakes.bets import EarlyWay
from datasets.simulate.script import CardMove


def _house_way_slip(draft: Draft) -> bool:
    others = other_ways(_kept(draft), draft.table.rules)
    return _dealer_sets(draft, others[:4])


def _kept(draft: Draft) -> tuple[str, ...]:
    return (*draft.dealer.low, *draft.dealer.high)


def _house_way_foul(draft: Draft) -> bool:
    return _dealer_sets(draft, fouls(_kept(draft), draft.table.rules))


def _house_way_eighth(draft: Draft) -> bool:
    """Another card left out, the other seven set as the house way sets seven."""
    if len(draft.dealt.dealer) <= HAND_CARDS:
        return False
    ways = []
    for card in draft.dealt.dealer:
        if card != draft.dealer.discard:
            seven = tuple(c for c in draft.dealt.dealer if c != card)
            own = house_way(seven, draft.table.rules)
            ways.append(Setting(own.low, own.high, card))
    return _dealer_sets(draft, ways)


def _dealer_sets(draft: Draft, ways: list[Setting]) -> bool:
    if not ways:
        return False
    due, wrong = draft.dealer, draft.rng.choice(ways)
    draft.dealer = replace(wrong, discard=wrong.discard or due.discard)
    note = f"due {' '.join(due.low)} / {' '.join(due.high)}"
    draft.fault("HOUSE_WAY", None, None, note, ("set", None, None))
    return True


def _foul_rank(draft: Draft) -> bool:
    """Have one seat set a low hand above the high one."""
    for seat in draft.rng.sample(sorted(draft.settings), len(draft.settings)):
        ways = fouls(draft.dealt.seats[seat], draft.table.rules)
        if ways and seat != draft.occasion.banker:
            draft.settings[seat] = draft.rng.choice(ways)
            return True
    return False


def _foul_boxes(draft: Draft) -> bool:
    """Have one seat lay three and four cards."""
    seats = [seat for seat in sorted(draft.settings) if seat != draft.occasion.banker]
    if not seats:
        return False
    seat = draft.rng.choice(seats)
    own = draft.settings[seat]
    draft.settings[seat] = Setting((*own.low, own.high[-1]), own.high[:-1])
    return True


def _moved_hand(draft: Draft) -> bool:
    """A card of the low hand and one of the high hand change places.

    Not the banker's: all hands are compared with it before it would be changed.
    """
    seats = [seat for seat in _unmoved(draft) if seat != draft.occasion.banker]
    if not seats:
        return False
    seat = draft.rng.choice(seats)
    own = draft.settings[seat]
    low, high = draft.rng.choice(own.low), draft.rng.choice(own.high)
    draft.before[seat] = (own.low, own.high)
    draft.settings[seat] = Setting(_swap(own.low, low, high), _swap(own.high, high, low))
    draft.moves.append(CardMove("hand", seat, (low, high)))
    draft.fault("CARD_MOVED", seat, None, f"{low} and {high} change hands", ("card", seat, None))
    return True


def _moved_seat(draft: Draft) -> bool:
    """Cards of the high hands of two seats change places, face down."""
    pairs = [(a, b) for a, b in pairwise(_unmoved(draft)) if b - a == 1]
    if not pairs:
        return False
    one, two = draft.rng.choice(pairs)
    a, b = draft.rng.choice(draft.settings[one].high), draft.rng.choice(draft.settings[two].high)
    for seat, mine, other in ((one, a, b), (two, b, a)):
        own = draft.settings[seat]
        draft.before[seat] = (own.low, own.high)
        draft.settings[seat] = replace(own, high=_swap(own.high, mine, other))
    draft.moves.append(CardMove("seat", one, (a, b), two))
    note = f"{a} goes to seat {two}, {b} comes from there"
    draft.fault("CARD_MOVED", one, None, note, ("card", one, None))
    return True


def _unmoved(draft: Draft) -> list[int]:
    """The seats of whose hand no card is to move yet: a second move starts from another hand."""
    return sorted(draft.settings.keys() - draft.before.keys())


def _swap(cards: tuple[str, ...], gone: str, come: str) -> tuple[str, ...]:
    return tuple(come if card == gone else card for card in cards)


SET_WAYS: Mapping[tuple[str, str], EarlyWay] = {
    ("HOUSE_WAY", "slip"): _house_way_slip,
    ("HOUSE_WAY", "foul"): _house_way_foul,
    ("HOUSE_WAY", "eighth"): _house_way_eighth,
    ("FOUL", "rank"): _foul_rank,
    ("FOUL", "boxes"): _foul_boxes,
    ("CARD_MOVED", "hand"): _moved_hand,
    ("CARD_MOVED", "seat"): _moved_seat,
}
"""Ways that are made when hands are set."""
