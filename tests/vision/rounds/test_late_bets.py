from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from settlement.record import RoundRecord
from tests.vision.rounds.readings import TABLE, Play, dealer_cards, reading, seat_cards, stack
from vision.chips.reading import ReadStack
from vision.detect.detections import ByteArray
from vision.geometry.table import VIEW_MM
from vision.rounds.changes import Changes, find_changes
from vision.rounds.compile_round import compile_round
from vision.rounds.late_bets import SeenLateBet, closed_s
from vision.rounds.round_state import Round
from vision.sources.gaps import Gap

PX = 256
AT_MM = {"main": (-30.0, 20.0), "emperors_treasure": (40.0, 20.0)}
"""Where the stakes are in the images made here, in the view's frame."""

Stakes = Mapping[str, str | ReadStack]


def stands(name: str, what: str | ReadStack) -> ReadStack:
    """A stack where the wager stands."""
    own = what if isinstance(what, ReadStack) else stack(what)
    (u, v) = AT_MM[name]
    return replace(own, box_mm=(u - 20, v - 20, u + 20, v + 20))


def view(stakes: Stakes, *, bare: bool = False, light: int = 0) -> ByteArray:
    """An image of a seat: rings of chips, others for other stakes."""
    image = np.full((PX, PX, 3), (60 + light, 110 + light, 40 + light), np.uint8)
    if bare:
        return image
    v, u = (np.mgrid[:PX, :PX] - PX / 2) * VIEW_MM / PX
    for name, value in stakes.items():
        own = stands(name, value)
        far = np.hypot(u - AT_MM[name][0], v - AT_MM[name][1])
        rings = (far < 20) & ((far + 3 * len(own.colours)) % 8 < 4)
        image[far < 20] = (40 + light, 40 + light, 190 + light)
        image[rings] = (225 + light, 225 + light, 225 + light)
    return image


def rest(play: Play, stakes: Stakes, *, picture: ByteArray | None = None, **kw: object) -> None:
    """Seat 1 comes to rest with those stakes."""
    own = {name: [stands(name, value)] for name, value in stakes.items()}
    play.see(
        1, reading(stakes=own, **kw),  # type: ignore[arg-type]
        picture=view(stakes) if picture is None else picture,
    )  # fmt: skip


def played(deal: Callable[[Play], None], first: Stakes, last: Stakes) -> Round:
    """A round in which seat 1 bets, and `deal` is what happens from the close to the show."""
    play = Play()
    play.see(1, reading(), picture=view({}, bare=True))
    rest(play, first)
    play.see(2, reading(stakes={"main": ["green"]}))
    play.see(2, reading(stakes={"main": ["green"]}, backs=1))
    play.see(None, reading(backs=7))
    deal(play)
    play.see(None, reading(cards=dealer_cards()))
    rest(play, last, cards=seat_cards(1))
    play.see(1, reading(cards=seat_cards(1)))
    play.see(None, reading())
    play.see(1, reading())
    play.see(2, reading())
    (own,) = play.ended
    return own


def late(own: Round) -> tuple[SeenLateBet, ...]:
    return find_changes(TABLE, own).late.get(1, ())


def record(own: Round) -> RoundRecord:
    return compile_round(TABLE, 1, own, 99.0, cut_short=False)


@pytest.mark.parametrize(
    ("first", "last", "cents", "how"),
    [
        ({"main": "red"}, {"main": "red red red"}, (500, 1500), "grew"),
        ({"main": "red red red"}, {"main": "red"}, (1500, 500), "shrank"),
        ({}, {"main": "red red"}, (0, 1000), "appeared"),
    ],
)
def test_a_stake_that_changes_after_the_close_is_reported(
    first: Stakes, last: Stakes, cents: tuple[int, int], how: str
) -> None:
    def deal(play: Play) -> None:
        rest(play, first, backs=1)
        rest(play, first)
        rest(play, last)
        rest(play, last, backs=5)

    own = played(deal, {**first, "emperors_treasure": "white"}, last)
    (observation,) = late(own)
    assert (observation.wager, observation.late.before_cents, observation.late.after_cents) == (
        "main",
        *cents,
    )
    assert observation.late.how == how
    close_s = closed_s(own)
    assert close_s is not None
    assert close_s < float(observation.late.before_s) < float(observation.late.after_s)
    wager = record(own).seats[0].wager("main")
    assert wager is not None
    assert wager.late == observation.late
    # What lay there before does not vote on what lies there.
    assert wager.stake_cents == cents[1]


def test_the_images_show_it_before_and_after() -> None:
    def deal(play: Play) -> None:
        rest(play, {"main": "red"}, backs=1)
        rest(play, {"main": "red red"})
        rest(play, {"main": "red red"}, backs=5)

    own = played(deal, {"main": "red"}, {"main": "red red"})
    changes = find_changes(TABLE, own)
    stakes = {what: rest.readings[0].stakes["main"] for seat, what, rest in changes.shown()}
    assert {what: len(own.colours) for what, (own,) in stakes.items()} == {
        "staked": 1,
        "changed": 2,
    }


ONE, TWO = {"main": "red"}, {"main": "red red"}
UNSURE = {"main": stack("red red", 0.85, c500=0.14)}


@pytest.mark.parametrize(
    ("share", "former", "count"),
    [
        (0.06, 0.0, 1),
        # As different as stakes that stayed are, or perhaps what it was before.
        (0.01, 0.0, 0),
        (0.06, 0.02, 0),
        (0.2, 0.02, 1),
    ],
)
def test_a_chip_on_top_of_like_ones_changes_little_of_the_image(
    share: float, former: float, count: int
) -> None:
    first = {"main": "green green green"}
    last = stands("main", stack("green " * 4, 0.999 - former, c7500=former + 1e-6))
    image = view(first)
    u, v = AT_MM["main"]
    side = 46 * share**0.5
    x0, y0 = (round((at - side / 2 + VIEW_MM / 2) * PX / VIEW_MM) for at in (u, v))
    far = round(side * PX / VIEW_MM)
    image[y0 : y0 + far, x0 : x0 + far] = 20

    def deal(play: Play) -> None:
        rest(play, first, backs=1)
        rest(play, first)
        rest(play, {"main": last}, picture=image)
        rest(play, {"main": last}, picture=image, backs=5)

    assert len(late(played(deal, first, {"main": last}))) == count


def _moved_in_time(play: Play) -> None:
    rest(play, TWO, backs=1)
    rest(play, TWO)


def _never_sure(play: Play) -> None:
    rest(play, ONE, backs=1)
    rest(play, UNSURE)
    rest(play, UNSURE, backs=5)


def _misread(play: Play) -> None:
    """The image stays the same; only the reading changes."""
    rest(play, ONE, backs=1)
    rest(play, TWO, picture=view(ONE))
    rest(play, TWO, picture=view(ONE), backs=5)


def _lit(play: Play) -> None:
    rest(play, ONE, backs=1)
    rest(play, TWO, picture=view(ONE, light=25))
    rest(play, TWO, picture=view(ONE, light=25), backs=5)


def _to_and_fro(play: Play) -> None:
    rest(play, ONE, backs=1)
    rest(play, TWO)
    rest(play, ONE, backs=5)


def _read_in_part(play: Play) -> None:
    rest(play, ONE, backs=1)
    own = {"main": [stands("main", "red red")]}
    play.see(1, reading(stakes=own), reading(), reading(stakes=own), picture=view(TWO))


@pytest.mark.parametrize("deal", [_moved_in_time, _misread, _lit, _to_and_fro, _read_in_part])
def test_what_is_not_sure_is_no_late_bet(deal: Callable[[Play], None]) -> None:
    assert late(played(deal, ONE, TWO)) == ()


def test_a_stake_never_read_with_confidence_is_no_late_bet() -> None:
    assert late(played(_never_sure, ONE, UNSURE)) == ()
    assert len(late(played(_never_sure, ONE, TWO))) == 1


def test_sums_need_not_be_sure_where_they_are_unlike() -> None:
    """Two or three chips, and then eight or nine: it grew, by whatever."""
    few = {"main": stack("red red", 0.8, c1500=0.19, c500=0.009)}
    many = {"main": stack("red " * 8, 0.7, c4500=0.29, c1500=0.005)}

    def deal(play: Play) -> None:
        rest(play, few, backs=1)
        rest(play, many)
        rest(play, many, backs=5)

    (observation,) = late(played(deal, few, many))
    assert (observation.late.before_cents, observation.late.after_cents) == (1000, 4000)
    # Where the image stays as it was the reading is what changed.
    same = view(few)

    def still(play: Play) -> None:
        rest(play, few, backs=1)
        rest(play, many, picture=same)
        rest(play, many, picture=same, backs=5)

    assert late(played(still, few, many)) == ()


def test_a_stack_in_fewer_than_a_third_of_the_rests_is_no_sum_to_compare_with() -> None:
    """Nothing lay there by most rests: what the one with chips showed is not known."""
    chips = {"main": stack("red red", 0.8, c1500=0.19)}

    def deal(play: Play) -> None:
        rest(play, {}, backs=1)
        for stakes in ({}, {}, chips, {}, {}, {}):
            rest(play, stakes, backs=5)

    assert late(played(deal, {}, {})) == ()


def test_bets_are_closed_by_the_first_of_two_packets_dealt_one_after_the_other() -> None:
    def deal(_play: Play) -> None:
        """Nothing more."""

    own = played(deal, ONE, TWO)
    first = next(e for e in own.tracks[2].episodes if e.backs)
    second = next(e for e in own.tracks[None].episodes if e.backs)
    assert closed_s(own) == first.readings[0].at_s
    # A back that is seen long before any other may be misread.
    for place, one in enumerate(first.readings):
        first.readings[place] = replace(one, at_s=one.at_s - 5)
    assert closed_s(own) == second.readings[0].at_s


def test_bets_are_closed_by_the_dealers_packet_where_that_hand_is_turned_up_soon_after() -> None:
    def deal(_play: Play) -> None:
        """Nothing more."""

    own = played(deal, ONE, TWO)
    packet = next(e for e in own.tracks[None].episodes if e.backs)
    shown = next(e for e in own.tracks[None].episodes if e.cards_up)
    # All other packets were taken up at once.
    for seat in (1, 2):
        for one in own.tracks[seat].episodes:
            if one.dealt:
                one.readings[:] = [replace(r, at_s=r.at_s + 60) for r in one.readings]
    assert shown.readings[0].at_s - packet.readings[0].at_s < 5
    assert closed_s(own) == packet.readings[0].at_s


def test_a_stake_seen_last_as_bets_are_closed_lay_there_then() -> None:
    def deal(play: Play) -> None:
        rest(play, TWO)
        rest(play, TWO, backs=5)

    own = played(deal, ONE, TWO)
    # Seen last before the close, it may have been changed in time.
    assert late(own) == ()
    close_s = closed_s(own)
    assert close_s is not None
    own.tracks[1].episodes[0].until_s = close_s
    assert [observation.late.how for observation in late(own)] == ["grew"]


@pytest.mark.parametrize(
    ("first", "how"), [(ONE, "grew"), ({"emperors_treasure": "white"}, "appeared")]
)
def test_a_stake_is_late_if_its_spot_looked_as_before_when_bets_were_closed(
    first: Stakes, how: str
) -> None:
    """The view was not at rest at the close; it was before, and with the changed stake after."""

    both = {**first, **TWO}

    def deal(play: Play) -> None:
        rest(play, both)
        rest(play, both, backs=5)

    own = played(deal, first, both)
    assert late(own) == ()
    close_s = closed_s(own)
    assert close_s is not None
    changed = own.tracks[1].episodes[1]
    changed.lay_until["ace_high_pai_gow_insurance"] = close_s + 0.4
    assert late(own) == ()
    changed.lay_until["main"] = close_s - 0.2
    assert late(own) == ()
    changed.lay_until["main"] = close_s + 0.4
    (seen,) = late(own)
    assert (seen.late.how, float(seen.late.before_s)) == (how, pytest.approx(close_s + 0.4))
    changed.gap = Gap.between(close_s - 1, close_s + 1, "frames dropped")
    assert late(own) == ()


def test_a_stake_that_was_lifted_as_bets_were_closed_did_not_appear() -> None:
    """It lay there before: that it was touched is another matter."""

    def deal(play: Play) -> None:
        rest(play, {}, picture=view({}, bare=True), backs=1)
        rest(play, TWO)
        rest(play, TWO, backs=5)

    assert late(played(deal, TWO, TWO)) == ()
    assert [observation.late.how for observation in late(played(deal, {}, TWO))] == ["appeared"]


def test_a_stake_that_may_have_lain_there_before_did_not_appear() -> None:
    """Its sum was not sure while it lay there before the close."""

    def deal(play: Play) -> None:
        rest(play, {}, picture=view({}, bare=True), backs=1)
        rest(play, TWO)
        rest(play, TWO, backs=5)

    assert late(played(deal, UNSURE, TWO)) == ()


def test_sums_may_be_less_unlike_where_the_image_changed_clearly() -> None:
    """One chip of nineteen is taken: it may be the same sum with 2%, but the image is another."""
    whole = {"main": stack("red " * 19, 0.98, c10000=0.02)}
    less = {"main": stack("red " * 18, 0.92, c9500=0.03, c8500=0.05)}

    def deal(play: Play, shown: ByteArray | None = None) -> None:
        rest(play, whole, backs=1)
        rest(play, less, picture=shown)
        rest(play, less, picture=shown, backs=5)

    (observation,) = late(played(deal, whole, less))
    assert (observation.late.before_cents, observation.late.after_cents) == (9500, 9000)

    def hardly(play: Play) -> None:
        shown = view(whole)
        shown[140:150, 100:112] = 0
        deal(play, shown)

    assert late(played(hardly, whole, less)) == ()


def test_a_stake_that_goes_is_no_late_bet() -> None:
    def deal(play: Play) -> None:
        rest(play, TWO, backs=1)
        rest(play, {})
        rest(play, {}, backs=5)

    assert late(played(deal, TWO, {})) == ()


def test_a_stake_seen_late_under_a_hand_did_not_appear() -> None:
    """What lay on the spot before is no bare felt: a hand, an arm."""
    covered = view({"main": "red red red red"})

    def deal(play: Play) -> None:
        rest(play, {}, picture=covered, backs=1)
        rest(play, {}, picture=covered)
        rest(play, TWO)
        rest(play, TWO, backs=5)

    assert late(played(deal, {"emperors_treasure": "white"}, TWO)) == ()


def test_games_without_a_procedure_are_not_looked_at() -> None:
    def deal(play: Play) -> None:
        rest(play, ONE, backs=1)
        rest(play, TWO)
        rest(play, TWO, backs=5)

    rules = TABLE.rules.model_copy(update={"game": "pai_gow_tiles"})
    other = TABLE.model_copy(update={"rules": rules})
    own = played(deal, ONE, TWO)
    assert late(own)
    assert find_changes(other, own) == Changes({}, ())


def test_a_rest_read_unsurely_counts_where_it_reads_and_looks_as_the_one_before() -> None:
    dim = {"main": stack("red red", 0.8, c500=0.19)}

    def deal(play: Play, picture: ByteArray) -> None:
        rest(play, dim, picture=picture, backs=1)
        rest(play, {"main": "red"})
        rest(play, {"main": "red"}, backs=5)

    same = played(lambda play: deal(play, view(TWO)), TWO, {"main": "red"})
    assert [observation.late.how for observation in late(same)] == ["shrank"]
    # When it looks otherwise nothing says what lay there after the close.
    other = played(lambda play: deal(play, view({"main": "red red red"})), TWO, {"main": "red"})
    assert late(other) == ()
