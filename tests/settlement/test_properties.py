"""What holds for every record: settling never raises, suits are alike, doubt accuses nobody."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from settlement.cards import DECK, Card, labels, parse_cards
from settlement.compare.check import check_record
from settlement.compare.comparison import compare
from settlement.features import TREASURE, seven_card_features
from settlement.hands import STANDARD, rank_five, rank_two
from settlement.houseways import HOUSE_WAYS
from settlement.houseways.base import AS_READ, Split
from settlement.record import (
    DECK_LABELS,
    DealerRecord,
    RoundRecord,
    SeatRecord,
    Undecided,
    WagerRecord,
)
from settlement.rules import TableRules
from settlement.settle import settle
from tests.profiles import examples
from tests.settlement.felt import GAME, RULES

WAGERS = ("main", *RULES.paytables)
SIDE = WAGERS[:-1]
ACTIONS = ("paid", "taken", "left")
WHATS = (
    "high[2]",
    "low[0]",
    "lammers",
    "end_s",
    "something",
    *(f"{wager}{part}" for wager in WAGERS for part in (".stake", ".paid", ".action", "")),
)
CENTS = st.sampled_from([0, 100, 499, 500, 2500, 100000])


@st.composite
def wagers(draw: st.DrawFn, name: str, complete: bool) -> WagerRecord:
    def known(values: st.SearchStrategy[object]) -> object:
        return draw(values if complete else st.none() | values)

    # A legal wager has a stake, and what is taken or left gets no chips.
    stakes = CENTS.filter(bool) if complete else CENTS
    action = "paid" if name == "envy" else known(st.sampled_from(ACTIONS))
    return WagerRecord.model_validate(
        {
            "wager": name,
            "stake_cents": None if name == "envy" else known(stakes),
            "action": action,
            "paid_cents": known(CENTS if not complete or action == "paid" else st.just(0)),
        }
    )


def unfouled(cards: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Two and five cards as they come, or by the house way where that is a foul."""
    seven = parse_cards(cards)
    if not Split.of(seven[:2], seven[2:], STANDARD).foul:
        return tuple(cards[:2]), tuple(cards[2:])
    way = HOUSE_WAYS["document_004"].set_hands(seven, STANDARD, AS_READ)
    return labels(way.low), labels(way.high)


@st.composite
def rounds(draw: st.DrawFn, complete: bool = True) -> RoundRecord:
    """A legal round; when not complete, parts may be missing, in doubt or impossible."""
    count = draw(st.integers(1, 6))
    size = 7 * (count + 1)
    deck = draw(st.permutations(DECK_LABELS))[:size]
    if not complete:
        deck = (
            deck
            if draw(st.booleans())
            else draw(st.lists(st.sampled_from(DECK_LABELS), min_size=size, max_size=size))
        )
    hands = []
    for start in range(0, size, 7):
        low = 2 if complete else draw(st.integers(0, 7))
        high = 7 if complete else draw(st.integers(0, 7))
        hands.append((tuple(deck[start : start + low]), tuple(deck[start + low : start + high])))
    if complete:
        hands[0] = unfouled(deck[:7])
    seats = []
    for number, (low_cards, high_cards) in enumerate(hands[1:], start=1):
        names = draw(st.lists(st.sampled_from(WAGERS), unique=complete, max_size=5))
        hidden = not complete and draw(st.booleans())
        seats.append(
            SeatRecord(
                seat=number,
                low=None if hidden else low_cards,
                high=high_cards,
                lammers=tuple(draw(st.sets(st.sampled_from(["envy", "dealer"])))),
                wagers=tuple(draw(wagers(name, complete)) for name in names),
            )
        )
    doubts = st.builds(
        Undecided,
        seat=st.none() | st.integers(1, 7),
        what=st.sampled_from(WHATS),
        why=st.just("covered"),
    )
    return RoundRecord(
        round_id="r",
        table="t",
        game=GAME,
        dealer=DealerRecord(low=hands[0][0], high=hands[0][1]),
        seats=tuple(seats),
        undecided=() if complete else tuple(draw(st.lists(doubts, max_size=3))),
    )


OPTIONS = st.builds(
    lambda option, wheel: RULES.model_copy(update={"main_option": option, "wheel": wheel}),
    st.sampled_from(["ace_high_push", "king_high_or_less_push", "any_pai_gow_pays_half"]),
    st.sampled_from(["second", "lowest"]),
)


@settings(max_examples=examples(80), deadline=None)
@given(rounds(), OPTIONS)
def test_a_legal_record_is_settled_whole(record: RoundRecord, rules: TableRules) -> None:
    assert check_record(record, rules) == []
    settlement = settle(record, rules)
    for seat in settlement.seats:
        for wager in seat.wagers:
            assert wager.undecided is None
            assert wager.outcome is not None
            assert wager.pay_cents is not None
            assert (wager.pay_cents > 0) <= (wager.outcome == "win")
            assert wager.rule is not None
    assert all(f.code != "UNDECIDED" for f in compare(record, settlement, rules))


@settings(max_examples=examples(150), deadline=None)
@given(rounds(complete=False), OPTIONS)
def test_any_record_is_settled_and_compared(record: RoundRecord, rules: TableRules) -> None:
    settlement = settle(record, rules)
    check_record(record, rules)
    for finding in compare(record, settlement, rules):
        assert finding.message.endswith(".")
        assert "None" not in finding.message
    for seat in settlement.seats:
        for wager in seat.wagers:
            if wager.outcome is None or wager.pay_cents is None:
                assert wager.undecided


def swapped(cards: Sequence[str] | None, suits: str) -> tuple[str, ...] | None:
    if cards is None:
        return None
    return tuple(c if c == "JOKER" else c[0] + suits["CDHS".index(c[1])] for c in cards)


@settings(max_examples=examples(60), deadline=None)
@given(rounds(), st.permutations("CDHS"))
def test_swapping_suits_changes_no_verdict(record: RoundRecord, suits: Sequence[str]) -> None:
    order = "".join(suits)

    def turned(hand: DealerRecord | SeatRecord) -> dict[str, object]:
        return {"low": swapped(hand.low, order), "high": swapped(hand.high, order)}

    other = record.model_copy(
        update={
            "dealer": record.dealer.model_copy(update=turned(record.dealer)),
            "seats": tuple(seat.model_copy(update=turned(seat)) for seat in record.seats),
        }
    )
    first, second = settle(record, RULES), settle(other, RULES)
    assert first.dealer.matches == second.dealer.matches
    for one, two in zip(first.seats, second.seats, strict=True):
        assert (one.foul, one.wagers) == (two.foul, two.wagers)


def split_of(cards: Sequence[Card]) -> SeatRecord:
    return SeatRecord(
        seat=1,
        low=labels(cards[:2]),
        high=labels(cards[2:]),
        wagers=tuple(
            WagerRecord.model_validate({"wager": name, "stake_cents": 500}) for name in SIDE
        ),
    )


WORTH = {"lose": 0, "push": 1, "win": 2}


@settings(max_examples=examples(300), deadline=None)
@given(st.permutations(DECK), OPTIONS)
def test_a_better_hand_never_gets_less(deck: Sequence[Card], rules: TableRules) -> None:
    """Two hands against one dealer: where both of one are as good, it gets as much."""
    dealer, one, two = deck[:7], deck[7:14], deck[14:21]
    low, high = unfouled(labels(dealer))
    record = RoundRecord(
        round_id="r", table="t", game=GAME, dealer=DealerRecord(low=low, high=high)
    )

    def settled(cards: Sequence[Card]) -> dict[str, tuple[str | None, int | None, bool | None]]:
        seat = settle(record.model_copy(update={"seats": (split_of(cards),)}), rules).seats[0]
        return {w.wager: (w.outcome, w.pay_cents, seat.foul) for w in seat.wagers}

    first, second = settled(one), settled(two)
    ranks = [(rank_two(c[:2]), rank_five(c[2:], rules.ranking)) for c in (one, two)]
    if ranks[0][0] >= ranks[1][0] and ranks[0][1] >= ranks[1][1] and not first["main"][2]:
        assert WORTH[str(first["main"][0])] >= WORTH[str(second["main"][0])]
        assert (first["main"][1] or 0) >= (second["main"][1] or 0)
    order = [*TREASURE, None]

    def place(cards: Sequence[Card]) -> int:
        return min(map(order.index, seven_card_features(cards) & TREASURE.keys() or {None}))

    better, worse = sorted((one, two), key=place)
    pays = {id(one): first, id(two): second}
    name = "emperors_treasure"
    assert (pays[id(better)][name][1] or 0) >= (pays[id(worse)][name][1] or 0)


MONEY_AND_MORE = ("UNDECIDED", "DECK")


def verdicts(record: RoundRecord) -> set[tuple[str, int | None, str | None]]:
    found = compare(record, settle(record, RULES), RULES)
    return {(f.code, f.seat, f.wager) for f in found if f.code not in MONEY_AND_MORE}


@st.composite
def masked(draw: st.DrawFn) -> tuple[RoundRecord, RoundRecord]:
    """A record in which one thing is in doubt, and the same with another value for it."""
    record = draw(rounds())
    index = draw(st.integers(0, len(record.seats) - 1))
    seat = record.seats[index]
    names = [w.wager for w in seat.wagers]
    what = draw(st.sampled_from(["high[1]", "dealer", "lammers", *names]))
    free = sorted(set(DECK_LABELS) - set(hand_cards(record)))
    dealer = record.dealer
    if what in ("high[1]", "dealer"):
        assume(free)
        card = draw(st.sampled_from(free))
        hand = dealer if what == "dealer" else seat
        high = (*(hand.high or ())[:1], card, *(hand.high or ())[2:])
        if what == "dealer":
            dealer = dealer.model_copy(update={"high": high})
        else:
            seat = seat.model_copy(update={"high": high})
    elif what == "lammers":
        kinds = draw(st.sets(st.sampled_from(["envy", "dealer"])))
        seat = seat.model_copy(update={"lammers": tuple(kinds)})
    else:
        part = draw(st.sampled_from(["paid"] if what == "envy" else ["stake", "paid", "action"]))
        key = part if part == "action" else f"{part}_cents"
        value = draw(st.sampled_from(ACTIONS) if part == "action" else CENTS)
        if part == "stake":
            assume(value)
        changed = tuple(
            w.model_copy(update={key: value}) if w.wager == what else w for w in seat.wagers
        )
        # A sum laid for a wager that was taken is no truth: such an entry is undecided itself.
        assume(not any(w.paid_cents and w.action in ("taken", "left") for w in changed))
        seat = seat.model_copy(update={"wagers": changed})
        what = f"{what}.{part}"
    entry = Undecided(
        seat=None if what == "dealer" else seat.seat,
        what="high[1]" if what == "dealer" else what,
        why="covered",
    )
    seats = tuple(seat if i == index else s for i, s in enumerate(record.seats))
    other = record.model_copy(update={"seats": seats, "dealer": dealer})
    return record.model_copy(update={"undecided": (entry,)}), other


def hand_cards(record: RoundRecord) -> list[str]:
    hands: list[DealerRecord | SeatRecord] = [record.dealer, *record.seats]
    return [card for hand in hands for card in (*(hand.low or ()), *(hand.high or ()))]


@settings(max_examples=examples(600), deadline=None)
@given(masked())
def test_doubt_accuses_nobody(pair: tuple[RoundRecord, RoundRecord]) -> None:
    """A verdict given in doubt holds whatever the thing in doubt really was.

    Unless what was in doubt is the pay that lay beside the wrong spot.
    """
    in_doubt, alternative = pair
    certain = verdicts(alternative)
    misplaced = {seat for code, seat, _ in certain if code == "WRONG_SPOT"}
    assert {verdict for verdict in verdicts(in_doubt) if verdict[1] not in misplaced} <= certain
