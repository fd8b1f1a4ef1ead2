"""What each side wager looks at. Shared by the games that offer it."""

from __future__ import annotations

from settlement.features import ACE_HIGH, PAI_GOW, TREASURE
from settlement.games.base import Held, SeatView
from settlement.seven import SevenCards, Unread

_ANY_PAI_GOW = frozenset(PAI_GOW)
_ANY_TREASURE = frozenset(TREASURE)
_ANY_ACE_HIGH = frozenset(ACE_HIGH)


def emperors_treasure(view: SeatView) -> Held:
    """The seat's seven cards; a foul changes nothing (reading ST-2)."""
    if isinstance(view.hand, Unread):
        return Held(frozenset(), "the hand", _ANY_TREASURE, view.hand.reason)
    return Held(view.hand.features, "the hand")


def _pai_gow(hand: SevenCards | Unread, whose: str) -> Held:
    if isinstance(hand, Unread):
        return Held(frozenset(), whose, _ANY_PAI_GOW, hand.reason)
    return Held(frozenset({hand.pai_gow} if hand.pai_gow else ()), whose)


def pai_gow_insurance(view: SeatView) -> Held:
    """The seat's seven cards, or the dealer's when the DEALER lammer lies (ST-15c)."""
    on_dealer = view.has_lammer("dealer")
    if on_dealer is None:
        return Held(frozenset(), "the hand", _ANY_PAI_GOW, view.lammers_doubt)
    if on_dealer:
        return _pai_gow(view.dealer, "the dealer's hand")
    return _pai_gow(view.hand, "the hand")


def ace_high_pai_gow_insurance(view: SeatView) -> Held:
    """The dealer's seven cards must be an ace-high pai gow; the seat's may be too (ST-16)."""
    dealer = view.dealer
    if isinstance(dealer, Unread):
        return Held(frozenset(), "the dealer's hand", _ANY_ACE_HIGH, dealer.reason)
    if dealer.pai_gow != "ace_high":
        return Held(frozenset(), "the dealer's hand")
    joker = "with" if dealer.joker else "without"
    sure = frozenset({f"dealer_ace_high_{joker}_joker"})
    both = frozenset({"player_and_dealer_ace_high"})
    if isinstance(view.hand, Unread):
        return Held(sure, "the dealer's hand", both, view.hand.reason)
    held = sure | both if view.hand.pai_gow == "ace_high" else sure
    return Held(held, "the dealer's hand")
