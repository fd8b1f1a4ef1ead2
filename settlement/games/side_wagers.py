"""The cards each side wager depends on. Shared by the games that offer it."""

from __future__ import annotations

from settlement.features import ACE_HIGH, PAI_GOW, TREASURE
from settlement.games.base import Held, SeatView
from settlement.seven_card_hand import SevenCardHand, Unread

_ANY = frozenset((*TREASURE, *PAI_GOW))
_ANY_ACE_HIGH = frozenset(ACE_HIGH)


def _of(hand: SevenCardHand | Unread, whose: str) -> Held:
    if isinstance(hand, Unread):
        return Held(frozenset(), whose, _ANY, hand.reason)
    return Held(hand.features, whose)


def own_hand(view: SeatView) -> Held:
    """The seat's seven cards; a foul changes nothing (reading ST-2)."""
    return _of(view.hand, "the hand")


def pai_gow_insurance(view: SeatView) -> Held:
    """The seat's seven cards, or the dealer's when the DEALER lammer lies (ST-15c)."""
    on_dealer = view.has_lammer("dealer")
    if on_dealer is None:
        return Held(frozenset(), "the hand", _ANY, view.lammers_doubt)
    return _of(view.dealer, "the dealer's hand") if on_dealer else own_hand(view)


def ace_high_pai_gow_insurance(view: SeatView) -> Held:
    """The dealer's seven cards must be an ace-high pai gow; the seat's may be too (ST-16)."""
    dealer = view.dealer
    if isinstance(dealer, Unread):
        return Held(frozenset(), "the dealer's hand", _ANY_ACE_HIGH, dealer.reason)
    if "ace_high" not in dealer.features:
        return Held(frozenset(), "the dealer's hand")
    joker = "with" if dealer.joker else "without"
    sure = frozenset({f"dealer_ace_high_{joker}_joker"})
    both = frozenset({"player_and_dealer_ace_high"})
    if isinstance(view.hand, Unread):
        return Held(sure, "the dealer's hand", both, view.hand.reason)
    held = sure | both if "ace_high" in view.hand.features else sure
    return Held(held, "the dealer's hand")
