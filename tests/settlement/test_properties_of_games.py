"""What holds for every game: settling never raises, flows sum to nothing, order is nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from settlement.compare.check import check_record
from settlement.compare.comparison import compare
from settlement.games import GAMES, JACKPOTS
from settlement.money_flows import HOUSE, balances, flows
from settlement.record import (
    DECK_LABELS,
    DealerRecord,
    Meter,
    Payment,
    RoundRecord,
    SeatRecord,
    WagerRecord,
)
from settlement.rules import TableRules
from settlement.settle import settle
from tests.profiles import examples
from tests.settlement.tables import TABLES, reading, with_rules
from tests.settlement.test_properties import unfouled

CENTS = st.sampled_from([0, 100, 499, 500, 2500, 3333, 100000])
READINGS = st.fixed_dictionaries(
    {
        "foul": st.sampled_from(["loses_unless_all_push", "always_loses", "reset"]),
        "percent_hits": st.sampled_from(["settling_order", "split_equally", "full_meter"]),
        "envy_excludes": st.sampled_from([None, "hand", "player"]),
        "envy_trigger_needs_wager": st.sampled_from([None, True, False]),
        "three_pair": st.sampled_from(["exact", "best_hand_only", "with_full_house"]),
        "unlisted_hand": st.sampled_from(["next_row", "not_paid"]),
        "natural_royal": st.sampled_from(["royal_without_joker", "hand_without_joker"]),
        "joker_in_pai_gow": st.sampled_from(["semi_wild", "ace"]),
        "wheel_in_pai_gow": st.sampled_from(["straight", "pai_gow"]),
        "trips_and_flush": st.sampled_from(["listed", "poker"]),
    }
)


@st.composite
def tables(draw: st.DrawFn) -> TableRules:
    """A game's table with readings and options drawn."""
    rules = TABLES[draw(st.sampled_from(sorted(TABLES)))]
    game = GAMES[rules.game]
    chosen = draw(READINGS)
    if "imperial_side_bet" not in game.side:
        del chosen["trips_and_flush"]
    if not game.copies_fixed:
        chosen["copies"] = draw(st.sampled_from(["dealer", "push"]))
    changes: dict[str, object] = {
        "wheel": draw(st.sampled_from(["second", "lowest"])),
        "joker_in_flush": draw(st.sampled_from(["highest_missing", "ace"])),
        "settling_starts": draw(st.sampled_from(["last_seat", "first_seat"])),
        "rounding": {"unit_cents": draw(st.sampled_from([1, 25, 50])), "direction": "up"},
    }
    if game.main_options:
        changes["main_option"] = draw(st.sampled_from(game.main_options))
    if game.commission:
        changes["commission"] = {"unit_cents": draw(st.sampled_from([1, 25]))}
    return with_rules(reading(rules, **chosen), **changes)


def _stakes_of(wager: str) -> st.SearchStrategy[int]:
    """A sensor may be without a coin; no other wager is of 0."""
    return CENTS if wager in JACKPOTS else CENTS.filter(bool)


@st.composite
def wagers_of(draw: st.DrawFn, rules: TableRules) -> tuple[WagerRecord, ...]:
    offered = ["main", *rules.paytables]
    names = draw(st.lists(st.sampled_from(offered), unique=True, max_size=6))
    found = []
    for name in names:
        action = "paid" if name == "envy" else draw(st.sampled_from(["paid", "taken", "left"]))
        paid = draw(CENTS) if action == "paid" else 0
        steps = (Payment(at_s="5", cents=paid),) if draw(st.booleans()) else None
        found.append(
            WagerRecord(
                wager=name,
                stake_cents=None if name == "envy" else draw(_stakes_of(name)),
                action=action,
                paid_cents=paid,
                returned_cents=draw(st.none() | st.just(0)),
                payments=steps,
            )
        )
    return tuple(found)


@st.composite
def played(draw: st.DrawFn) -> tuple[RoundRecord, TableRules]:
    """A legal round of any game, all of it known."""
    rules = draw(tables())
    game = GAMES[rules.game]
    count = draw(st.integers(1, min(6, game.seats_most)))
    deck = list(draw(st.permutations(DECK_LABELS)))
    dealer = [deck.pop() for _ in range(game.dealer_cards)]
    banker = draw(st.none() | st.integers(1, count)) if game.players_bank else None
    seats = []
    for number in range(1, count + 1):
        hand = [deck.pop() for _ in range(7)]
        wagers = draw(wagers_of(rules))
        if number == banker:
            wagers = tuple(w for w in wagers if w.wager != "main")
        seats.append(
            SeatRecord(
                seat=number,
                player=draw(st.none() | st.integers(1, 3)),
                cards_taken_s=draw(st.none() | st.just("10")),
                low=tuple(hand[:2]),
                high=tuple(hand[2:]),
                lammers=tuple(sorted(draw(st.sets(st.sampled_from(["envy", "dealer"]))))),
                wagers=wagers,
            )
        )
    house = (
        ()
        if banker is None
        else (WagerRecord(wager="house", stake_cents=draw(_stakes_of("house")), action="left"),)
    )
    meters = [
        Meter(wager=wager, level=level, cents=draw(st.integers(0, 10**7)))
        for wager in rules.paytables
        if wager.endswith("_progressive")
        for level in (1,)
    ]
    low, high = unfouled(dealer[:7])
    record = RoundRecord(
        round_id="r",
        table="t",
        game=rules.game,
        banker=banker,
        meters=tuple(meters),
        dealer=DealerRecord(
            low=low,
            high=high,
            discard=dealer[7] if len(dealer) == 8 else None,
            wagers=house,
        ),
        seats=tuple(seats),
    )
    return record, rules


@settings(max_examples=examples(250), deadline=None)
@given(played())
def test_a_legal_round_of_any_game_is_settled_whole(case: tuple[RoundRecord, TableRules]) -> None:
    record, rules = case
    assert check_record(record, rules) == []
    settled = settle(record, rules)
    assert all(w.pay_cents is not None for s in settled.seats for w in s.wagers)
    assert all(w.rule is not None for s in settled.seats for w in s.wagers)
    assert (settled.banker is None) == (record.banker is None)
    assert settled.dealer.matches is not None
    assert all(f.code != "UNDECIDED" for f in compare(record, settled, rules))


@settings(max_examples=examples(250), deadline=None)
@given(played())
def test_flows_sum_to_nothing(case: tuple[RoundRecord, TableRules]) -> None:
    """What players win, by their wagers, is what house, bank and meters lose."""
    record, rules = case
    settled = settle(record, rules)
    balance = balances(settled)
    assert sum(balance.values()) == 0
    assert all(flow.cents > 0 or flow.why == "reseed" for flow in flows(settled))
    won: Counter[str] = Counter()
    for seat in settled.seats:
        for wager in seat.wagers:
            kept = 0 if wager.stake_returned else wager.stake_cents or 0
            won[f"seat {seat.seat}"] += (wager.pay_cents or 0) - kept
    if settled.banker is not None:
        won[f"seat {settled.banker.seat}"] += settled.banker.pay_cents or 0
    meters: Counter[str] = Counter()
    for meter in settled.meters:
        name = f"meter {meter.wager}, level {meter.level}"
        meters[name] += (meter.after_cents or 0) - meter.before_cents
    for party, cents in {**won, **meters}.items():
        assert balance.get(party, 0) == cents, party
    assert balance.get(HOUSE, 0) == -sum(won.values()) - sum(meters.values())


def turned(record: RoundRecord, suits: Sequence[str]) -> RoundRecord:
    """The round with its suits swapped."""

    def swap(cards: tuple[str, ...] | None) -> tuple[str, ...]:
        return tuple(c if c == "JOKER" else c[0] + suits["CDHS".index(c[1])] for c in cards or ())

    def hand(of: DealerRecord | SeatRecord) -> dict[str, object]:
        discard = None if of.discard is None else swap((of.discard,))[0]
        return {"low": swap(of.low), "high": swap(of.high), "discard": discard}

    return record.model_copy(
        update={
            "dealer": record.dealer.model_copy(update=hand(record.dealer)),
            "seats": tuple(s.model_copy(update=hand(s)) for s in record.seats),
        }
    )


# Suits that keep their colour: nine-high of one colour is a row of its own.
COLOUR_KEEPING = ["CDHS", "CHDS", "SDHC", "SHDC", "DCSH", "DSCH", "HCSD", "HSCD"]


@settings(max_examples=examples(150), deadline=None)
@given(played(), st.sampled_from(COLOUR_KEEPING))
def test_swapping_suits_changes_no_verdict(
    case: tuple[RoundRecord, TableRules], suits: str
) -> None:
    record, rules = case
    first, second = settle(record, rules), settle(turned(record, suits), rules)
    assert first.dealer.matches == second.dealer.matches
    assert first.banker == second.banker
    assert first.meters == second.meters
    for one, two in zip(first.seats, second.seats, strict=True):
        assert (one.foul, one.wagers) == (two.foul, two.wagers)


@settings(max_examples=examples(100), deadline=None)
@given(played(), st.randoms(use_true_random=False))
def test_the_order_of_seats_and_cards_is_nothing(
    case: tuple[RoundRecord, TableRules], random: object
) -> None:
    record, rules = case
    shuffle = random.shuffle  # type: ignore[attr-defined]

    def mixed(cards: tuple[str, ...] | None) -> tuple[str, ...]:
        found = list(cards or ())
        shuffle(found)
        return tuple(found)

    seats = [
        s.model_copy(update={"low": mixed(s.low), "high": mixed(s.high)}) for s in record.seats
    ]
    shuffle(seats)
    other = settle(record.model_copy(update={"seats": tuple(seats)}), rules)
    settled = {seat.seat: seat for seat in settle(record, rules).seats}
    for seat in other.seats:
        before = {w.wager: (w.outcome, w.pay_cents) for w in settled[seat.seat].wagers}
        assert {w.wager: (w.outcome, w.pay_cents) for w in seat.wagers} == before
        assert seat.foul == settled[seat.seat].foul
