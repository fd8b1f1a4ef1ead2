"""Rounds with stretches that no frame shows: what was seen is judged, the rest is undecided."""

from __future__ import annotations

from dataclasses import replace

from settlement.compare.comparison import compare
from settlement.procedures import Phase
from settlement.record import RoundRecord
from settlement.settle import settle
from tests.vision.rounds.readings import PICTURE, TABLE, Play, hand, reading, seat_cards
from vision.rounds.compile_round import compile_round
from vision.rounds.coverage import Coverage
from vision.rounds.jackpots.meter_watch import MeterMemory
from vision.rounds.round_state import Round
from vision.rounds.snapshot import WatcherState, dump_state, load_state

WEAK = hand(TABLE.dealer, "TD 9C", "JS 8D 6D 4S 2C")
"""A dealer's hand that loses to seat 1's and makes seat 2's a push."""
MAIN = {"main": ["red red"]}
PAY = {"main": ["red red"]}


def dealt(play: Play) -> None:
    for seat in (1, 2):
        play.see(seat, reading(stakes=MAIN))
    for seat in (1, 2):
        play.see(seat, reading(stakes=MAIN, backs=1))
    play.see(None, reading(backs=7))
    play.see(None, reading(cards=WEAK))


def shown(play: Play, seat: int) -> None:
    play.see(seat, reading(stakes=MAIN, cards=seat_cards(seat)))


def cleared(play: Play) -> None:
    for seat in (None, 1, 2):
        play.see(seat, reading())


def record_of(own: Round, end_s: float) -> RoundRecord:
    return compile_round(TABLE, 1, own, end_s, cut_short=False)


def alerts(record: RoundRecord) -> dict[tuple[int | None, str], str]:
    found = compare(record, settle(record, TABLE.rules), TABLE.rules)
    return {(f.seat, str(f.code)): f.message for f in found}


def test_a_stake_that_vanished_unseen_was_not_taken() -> None:
    play = Play()
    dealt(play)
    shown(play, 1)
    play.stand(None, 1, 2)
    # Paid and drawn in, unseen: on the felt it looks as if the stake had been taken.
    play.lose(3.0)
    play.stand(None, 2)
    play.see(1, reading())
    shown(play, 2)
    cleared(play)
    (own,) = play.ended
    record = record_of(own, play.now_s)
    found = alerts(record)
    assert not {(1, "TOOK_WINNER"), (1, "TOOK_PUSH"), (1, "NOT_PAID")} & set(found)
    assert "no picture from" in found[1, "UNDECIDED"]
    assert "(frames dropped): not seen while it was settled" in found[1, "UNDECIDED"]
    entries = {(d.seat, d.what) for d in record.undecided}
    assert entries == {(1, "main.action"), (1, "envy.action")}
    # The hand itself lay in full view, and so did the other seat.
    assert len(record.seats[0].high or ()) == 5
    assert (2, "UNDECIDED") not in found
    assert record.seats[1].wagers[0].action == "left"


def test_without_the_gap_the_same_is_an_alert() -> None:
    play = Play()
    dealt(play)
    shown(play, 1)
    play.see(1, reading())
    shown(play, 2)
    cleared(play)
    (own,) = play.ended
    assert (1, "TOOK_WINNER") in alerts(record_of(own, play.now_s))


def test_what_lies_as_before_was_not_changed() -> None:
    play = Play()
    dealt(play)
    shown(play, 1)
    play.see(1, reading(stakes=MAIN, pays=PAY, cards=seat_cards(1)))
    play.lose(30.0)
    play.stand(None, 1, 2)
    shown(play, 2)
    play.see(2, reading(cards=seat_cards(2)))
    cleared(play)
    (own,) = play.ended
    record = record_of(own, play.now_s)
    assert record.undecided == ()
    assert [s.wagers[0].action for s in record.seats] == ["paid", "taken"]


def test_a_round_does_not_span_a_gap_in_which_another_began() -> None:
    play = Play()
    dealt(play)
    shown(play, 1)
    play.see(1, reading(stakes=MAIN, pays=PAY, cards=seat_cards(1)))
    play.see(1, reading(stakes=MAIN, pays=PAY))
    gap_from = play.now_s
    play.lose(20.0)
    gap_to = play.now_s
    # The next deal lies there, face down and elsewhere.
    for seat in (1, 2):
        play.see(seat, reading(stakes=MAIN, backs=2))
    assert play.ended == []
    play.see(None, reading(backs=7))
    (first,) = play.ended
    assert first.gap is not None
    assert (first.gap.from_s, first.gap.to_s) == (gap_from, gap_to)
    play.see(None, reading(cards=WEAK))
    assert play.tracker.phase is Phase.DEALER_SET
    for seat in (1, 2):
        shown(play, seat)
    cleared(play)
    second = play.ended[1]
    assert second.start_s >= gap_to
    record = record_of(first, first.gap.from_s)
    entries = {(d.seat, d.what) for d in record.undecided}
    # Seat 1 was settled in full view, seat 2 not at all.
    assert (1, "main.action") not in entries
    assert {(2, "main.action"), (2, "hand"), (None, "end")} <= entries
    assert (None, "hand") not in entries
    assert record.seats[0].wagers[0].action == "paid"
    whole = record_of(second, play.now_s)
    assert whole.undecided == ()
    assert {c for _, c in alerts(record) if c != "UNDECIDED"} <= {"HOUSE_WAY"}


def test_bursts_of_gaps_count_together() -> None:
    play = Play()
    dealt(play)
    shown(play, 1)
    for _ in range(4):
        play.lose(1.8)
        play.now_s += 0.4
    play.see(1, reading(stakes=MAIN, backs=2))
    play.see(2, reading(stakes=MAIN, backs=2))
    play.see(None, reading(backs=7))
    assert len(play.ended) == 1
    assert play.ended[0].gap is not None
    assert 7 < play.ended[0].gap.hidden_s < 7.5


def test_a_jump_of_the_stream_may_hide_anything() -> None:
    play = Play()
    dealt(play)
    shown(play, 1)
    play.lose(0.5, jumped=True)
    for seat in (1, 2, None):
        play.see(seat, reading())
    (own,) = play.ended
    assert own.gap is not None
    assert "not seen" in {d.what: d.why for d in record_of(own, 99.0).undecided}["end"]
    assert play.tracker.phase is Phase.WAITING


def test_a_cleared_round_is_whole_whatever_follows() -> None:
    play = Play()
    dealt(play)
    for seat in (1, 2):
        shown(play, seat)
        play.see(seat, reading(stakes=MAIN, pays=PAY))
    play.see(None, reading())
    play.lose(40.0)
    (own,) = play.ended
    assert own.gap is None
    assert record_of(own, play.now_s).undecided == ()


def test_the_dealers_cards_gone_within_a_gap_cut_the_round_at_its_begin() -> None:
    play = Play()
    dealt(play)
    for seat in (1, 2):
        shown(play, seat)
    play.stand(None, 1, 2)
    begin = play.now_s
    play.lose(2.0)
    play.see(1, reading())
    play.see(2, reading())
    play.see(None, reading())
    (own,) = play.ended
    assert own.cut_s == begin
    record = record_of(own, play.now_s)
    assert {c for _, c in alerts(record)} <= {"UNDECIDED", "HOUSE_WAY"}
    assert {(1, "main.action"), (2, "main.action")} <= {(d.seat, d.what) for d in record.undecided}


def test_a_dealers_hand_that_vanished_before_anything_was_compared_is_undecided() -> None:
    play = Play()
    dealt(play)
    play.lose(3.0)
    play.see(None, reading())
    shown(play, 1)
    own = play.tracker.round
    assert own is not None
    why = {(d.seat, d.what): d.why for d in record_of(own, play.now_s).undecided}
    assert "it may have been laid otherwise" in why[None, "hand"]
    # Seen again as it was set later, it counts.
    play.see(None, reading(cards=WEAK))
    assert (None, "hand") not in {(d.seat, d.what) for d in record_of(own, 99.0).undecided}


def test_a_hand_that_lay_open_when_the_watching_began_is_not_judged() -> None:
    play = Play()
    play.lose(0.2, jumped=True)
    shown(play, 1)
    play.see(None, reading(cards=WEAK))
    play.see(2, reading(stakes=MAIN, backs=1))
    shown(play, 2)
    cleared(play)
    (own,) = play.ended
    record = record_of(own, play.now_s)
    assert {d.seat for d in record.undecided if d.what == "gap"} == {1}
    assert (1, "NOT_PAID") not in alerts(record)


def test_what_came_to_rest_with_the_dealers_cards_gone_is_undecided_at_few_frames() -> None:
    def played(coarse: bool) -> RoundRecord:
        play = Play()
        dealt(play)
        for seat in (1, 2):
            shown(play, seat)
        play.stand(None, 1, 2)
        play.now_s += 2.0
        if coarse:
            play.tracker.coarse_s = play.now_s
        # Both motions were over when the felt was looked at: which was first is not known.
        for place in (2, None):
            since, play.now_s = play.now_s, play.now_s + 0.8
            play.tracker.take(
                place, replace(reading(), at_s=play.now_s), PICTURE, fresh=True, since_s=since
            )
            play.now_s = since
        play.see(1, reading())
        (own,) = play.ended
        return record_of(own, play.now_s)

    assert (2, "TOOK_PUSH") in alerts(played(coarse=False))
    record = played(coarse=True)
    assert (2, "TOOK_PUSH") not in alerts(record)
    why = {(d.seat, d.what): d.why for d in record.undecided}
    assert "looked at too seldom" in why[2, "main.action"]


def test_gaps_are_kept_with_what_was_seen() -> None:
    play = Play()
    dealt(play)
    shown(play, 1)
    play.lose(20.0)
    tracker = play.tracker
    assert tracker.open_gap is not None
    state = WatcherState(
        round=tracker.round, latest={}, bare={}, between={}, unseen=tracker.unseen,
        open_gap=tracker.open_gap, skipped=None, coarse_s=tracker.coarse_s, views=[], numbers=0,
        now_s=0.0, matches=[], felt_known=True, house=[],
        coverage=Coverage(), meters=MeterMemory([]), arms=None,
    )  # fmt: skip
    kept = load_state(dump_state(state))
    unseen, open_gap = kept.unseen, kept.open_gap
    assert open_gap is not None
    assert unseen == tracker.unseen
    assert (open_gap.gap, open_gap.held) == (tracker.open_gap.gap, tracker.open_gap.held)


def test_chips_that_came_in_a_gap_at_a_hand_never_seen_open_are_no_stake() -> None:
    play = Play()
    dealt(play)
    shown(play, 2)
    play.stand(None, 1, 2)
    play.lose(4.0)
    play.stand(None, 2)
    play.see(1, reading(stakes={"main": ["red red red red"]}))
    cleared(play)
    record = record_of(play.ended[0], play.now_s)
    found = alerts(record)
    assert "(frames dropped): the bets were not seen" in found[1, "UNDECIDED"]
    assert [code for seat, code in found if seat == 1] == ["UNDECIDED"]
