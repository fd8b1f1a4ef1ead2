"""The house wager against a banking player, read from the place of its own."""

from __future__ import annotations

from tests.vision.rounds.readings import PICTURE, TABLE, reading
from vision.rounds.procedure.house_place import HousePlace, read_house


def test_a_payout_in_a_large_chip_may_have_had_change() -> None:
    place = HousePlace()
    rests = [{}, {"house": ["green"]}]
    for k, pays in enumerate(rests):
        for moment in range(3):
            at_s = 10.0 * k + moment
            own = reading(at_s, stakes={"house": ["red red red red"]}, pays=pays)
            place.take(own, PICTURE, fresh=moment == 0, since_s=10.0 * k)
    house = read_house(TABLE, place.episodes, 1.0, None).wager
    assert house is not None
    assert (house.stake_cents, house.paid_cents, house.paid_least_cents) == (2000, 2500, 2500)
