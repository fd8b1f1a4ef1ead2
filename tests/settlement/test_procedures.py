from __future__ import annotations

from importlib.resources import files

import pytest

from settlement.errors import FeltwatchError
from settlement.games import GAMES
from settlement.procedures import Phase, SeatShows, parse_procedure, procedure_of, procedures

IMPERIAL = files("settlement.procedures").joinpath("imperial_pai_gow_draw.toml").read_text("utf-8")


def test_every_game_has_a_procedure() -> None:
    assert set(procedures()) == set(GAMES)


@pytest.mark.parametrize("game", sorted(GAMES))
def test_every_document_that_a_rule_may_cite_has_its_section(game: str) -> None:
    own = procedure_of(game)
    assert own is not None
    assert own.forbidden
    for rule in own.forbidden:
        # What an edition says nothing of is a doubt there, and no breach.
        if not rule.breach.startswith("coin_"):
            assert own.breach(rule.breach, GAMES[game].document) is rule
    coins = own.breach("coin_unseen", GAMES[game].document)
    assert (coins is not None) == (GAMES[game].document[:3] == "003")


@pytest.mark.parametrize("game", sorted(GAMES))
def test_every_phase_can_be_reached_from_the_bets(game: str) -> None:
    own = procedure_of(game)
    assert own is not None
    reached = {Phase.BETS}
    for _ in own.phases:
        reached |= {change.to for change in own.phases if reached & set(change.from_)}
    assert reached >= {change.to for change in own.phases} | {Phase.CLEARED}
    for rule in own.forbidden:
        assert rule.since in reached


def test_a_drawing_seat_goes_from_step_to_step() -> None:
    own = procedure_of("imperial_pai_gow_draw")
    assert own is not None
    seen: list[SeatShows] = [
        "nothing", "chips", "packet", "chips", "discard", "packet", "chips", "set", "hand", "chips",
    ]  # fmt: skip
    step: str | None = None
    steps = []
    for shows in seen:
        before: str | None = step
        step = own.next_step(before, shows)
        assert step is None or own.follows(before, step)
        steps.append(step)
    assert steps == [
        None, "bets", "dealt", "in_hand", "discarded", "drawn", "in_hand", "set", "shown", "taken",
    ]  # fmt: skip


def test_a_step_out_of_order_is_taken_and_known_as_such() -> None:
    own = procedure_of("pai_gow_poker")
    assert own is not None
    assert own.next_step("taken", "set") == "set"
    assert not own.follows("taken", "set")
    assert own.next_step("shown", "packet") == "dealt"
    assert not own.follows("shown", "dealt")


def test_in_the_open_game_a_hand_may_be_laid_again_until_the_first_is_compared() -> None:
    exposed, closed = procedure_of("emperors_challenge_exposed"), procedure_of("pai_gow_poker")
    assert exposed is not None
    assert closed is not None
    bets = {"bet_touched": Phase.DEALT, "bet_taken": Phase.DEALT, "shown_early": Phase.DEALT}
    assert {rule.breach: rule.since for rule in exposed.forbidden} == {
        "taken_up": Phase.SETTLING,
        "looked_at": Phase.SETTLING,
        **bets,
        "coin_unregistered": Phase.DEALT,
        "coin_unseen": Phase.DEALT,
    }
    assert {rule.breach: rule.since for rule in closed.forbidden} == {
        "taken_up": Phase.DEALER_SET,
        "looked_at": Phase.DEALER_SET,
        "set_late": Phase.DEALER_SET,
        **bets,
        "wrong_first_seat": Phase.DEALT,
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('then = ["drawn",', 'then = ["drwan",', "no step 'drwan'; there are bets, dealt, "),
        ('name = "drawn"', 'name = "dealt"', "a step stands twice"),
        ('shows = ["packet"]', 'shows = ["pile"]', "steps.1.shows.0: "),
        ("[[steps]]", "[[stages]]", "steps: is missing"),
        ('since = "dealer_set"', "since = dealer_set", "not valid TOML"),
        ('until = "dealer_set"', 'until = "bets"', "shown_early: bets does not come after dealt"),
        ('breach = "bet_taken"', 'breach = "set_late"', "'set_late' needs a step"),
    ],
)
def test_a_procedure_that_cannot_be_is_refused(old: str, new: str, message: str) -> None:
    assert old in IMPERIAL
    with pytest.raises(FeltwatchError) as caught:
        parse_procedure(IMPERIAL.replace(old, new), "own.toml")
    assert str(caught.value).startswith("own.toml: ")
    assert message in str(caught.value)
