"""Stakes in two stacks, the second of which stands where pays are laid, pays laid on a spot, and
chips of a player's own that a pay came to stand by."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

from settlement.games import JACKPOTS
from vision.chips.reading import ReadStack
from vision.chips.states import SAME_MM, PlaceSum, place_sum, stands
from vision.geometry.table import Point
from vision.rounds.region_change import CHANGED_SHARE, as_picture, different_share
from vision.rounds.round_state import Episode
from vision.rounds.view_reader import ViewReading

LEAST_SHARE = 0.25
"""What stands beside a stake in so many of the views before the hand is turned up is no pay."""

LAMP = 0.5
"""What is read on a sensor with less may be its lit lamp. Tune: "feltwatch jackpots judge
2026-11-30" 0 to 3, after they were judged: of 463 readings 109 coins have 0.95 and more, 354 lamps
0.45 at most."""

LEAST_COIN = 2
"""One reading is no coin in `compile_round` either."""


def with_second_stacks(episodes: Sequence[Episode], shown: int) -> list[Episode]:
    """The episodes with stakes in two stacks assigned as stakes.

    A stack beside the spot is a payout; but nothing is paid before the hand is turned up, so what
    stands there in several views until then is more of the stake, and stays that.
    """
    before = [r for e in episodes[:shown] for r in e.readings]
    early: dict[str, list[Point]] = {}
    for reading in before:
        # One at the edge of the spot is a stake in some views and beside it in others.
        for name, stacks in (*reading.pays.items(), *reading.stakes.items()):
            for stack in stacks:
                there = sum(
                    stands(stack.center_mm, (*r.pays.get(name, ()), *r.stakes.get(name, ())))
                    for r in before
                )
                staked = sum(name in r.stakes for r in before)
                if name != "envy" and staked and there >= max(2, LEAST_SHARE * staked):
                    early.setdefault(name, []).append(stack.center_mm)
    if not early:
        return list(episodes)

    def reassigned(reading: ViewReading) -> ViewReading:
        stakes, pays = dict(reading.stakes), dict(reading.pays)
        for name, places in early.items():
            own = pays.pop(name, ())
            left = [at for at in places if not stands(at, stakes.get(name, ()))]
            old = tuple(s for s in own if any(math.dist(s.center_mm, at) <= SAME_MM for at in left))
            new = tuple(s for s in own if s not in old)
            if old:
                stakes[name] = (*stakes.get(name, ()), *old)
            if new:
                pays[name] = new
        return replace(reading, stakes=stakes, pays=pays)

    return [replace(e, readings=[reassigned(r) for r in e.readings]) for e in episodes]


def undealt_rests(episodes: Sequence[Episode]) -> Sequence[Episode]:
    """The rests from before the seat had cards; the first where it always had.

    From then on prizes may be laid for the hands of others.
    """
    dealt = next((k for k, e in enumerate(episodes) if e.backs or e.cards_up), len(episodes))
    return episodes[: max(1, dealt)]


def undealt(episodes: Sequence[Episode]) -> list[ViewReading]:
    """The readings of these rests."""
    return [r for e in undealt_rests(episodes) for r in e.readings]


def without_players_own(episodes: Sequence[Episode], shown: int) -> list[Episode]:
    """The episodes with what stood by no wager before cards were dealt as no payout.

    A player's own chips may stand so near to a payout that they seem to be a part of it. But
    what stood there before anything was paid is none.
    """
    before = undealt(episodes[:shown])
    least = max(2, LEAST_SHARE * len(before))
    own = [
        stack.center_mm for reading in before for stack in reading.strays
        if sum(stands(stack.center_mm, r.strays) for r in before) >= least
    ]  # fmt: skip
    if not own:
        return list(episodes)

    def is_own(stack: ReadStack) -> bool:
        return any(math.dist(stack.center_mm, at) <= SAME_MM for at in own)

    def reassigned(reading: ViewReading) -> ViewReading:
        pays = {
            name: kept for name, stacks in reading.pays.items()
            if (kept := tuple(s for s in stacks if not is_own(s)))
        }  # fmt: skip
        back = tuple(s for stacks in reading.pays.values() for s in stacks if is_own(s))
        return replace(reading, pays=pays, strays=(*reading.strays, *back))

    after = [replace(e, readings=[reassigned(r) for r in e.readings]) for e in episodes[shown:]]
    return [*episodes[:shown], *after]


def given_at(episodes: Sequence[Episode]) -> list[Point]:
    """Where the stacks that were given to wagers of a seat stood (mm of the felt), each once."""
    places: list[Point] = []
    for episode in episodes:
        for reading in episode.readings:
            for stacks in (*reading.stakes.values(), *reading.pays.values()):
                new = (s.center_mm for s in stacks)
                places += [at for at in new if not any(math.dist(at, p) <= SAME_MM for p in places)]
    return places


def came_to_stand(
    before: Sequence[Episode], last: Episode, elsewhere: Sequence[Point]
) -> PlaceSum | None:
    """What of no wager stands there at last, in most views, that did not `before`; None: nothing.

    Chips of other seats' wagers, which lay `elsewhere`, are seen in a seat's view too. Those of
    a player's own may be read only once a payout lies beside them: the image shows that they lay
    there.
    """
    old = [*(s.center_mm for e in before for r in e.readings for s in r.strays), *elsewhere]
    was = as_picture(next((e.picture for e in reversed(before) if e.picture), b""))
    now = as_picture(last.picture)

    def came(stack: ReadStack) -> bool:
        if any(math.dist(stack.center_mm, at) <= SAME_MM for at in old):
            return False
        # What a further camera alone reads may be hidden in these images.
        if stack.camera or was is None or now is None:
            return True
        return different_share(was, now, [stack.box_mm]) >= CHANGED_SHARE

    frames = [tuple(filter(came, r.strays)) for r in last.readings]
    return place_sum(frames) if sum(map(bool, frames)) * 2 > len(frames) else None


def with_sensor_pays(episodes: Sequence[Episode], shown: int) -> list[Episode]:
    """The episodes with what is laid on a jackpot's sensor from rest `shown` on as its payout.

    The coin is taken in before, so that a pay has its place. A coin that lay there still when the
    hand was turned up stays a stake. What comes to as much as the coin did is no pay, nor is what
    is hardly read (`LAMP`), nor is that a stake where the coin itself was read: a lit lamp
    looks like a chip.
    """
    names = {name for e in episodes for r in e.readings for name in r.stakes if name in JACKPOTS}
    early = {name for name in names if _laid_as_shown(name, episodes, shown)}
    coins = {name: _coins(name, episodes[: shown + (name not in early)]) for name in names}
    lit = {name for name, own in coins.items() if len(own) >= LEAST_COIN}
    episodes = [replace(e, readings=[_without_lamps(r, lit) for r in e.readings]) for e in episodes]
    gone = {name for name in names if _is_clear(name, episodes, shown)}
    if not gone and not early:
        return episodes

    def laid(reading: ViewReading, cleared: Collection[str]) -> ViewReading:
        stakes, pays = dict(reading.stakes), dict(reading.pays)
        for name in cleared & stakes.keys():
            stacks = stakes.pop(name)
            new = tuple(
                stack for stack in stacks
                if stack.value_cents not in coins[name]
                and stack.probability >= LAMP
            )  # fmt: skip
            if new:
                pays[name] = (*pays.get(name, ()), *new)
        return replace(reading, stakes=stakes, pays=pays)

    def from_(k: int) -> Collection[str]:
        return frozenset() if k < shown else early if k == shown else early | gone

    return [
        replace(e, readings=[laid(r, from_(k)) for r in e.readings])
        for k, e in enumerate(episodes)
    ]  # fmt: skip


def _laid_as_shown(name: str, episodes: Sequence[Episode], shown: int) -> bool:
    """Whether a coin was taken in, and the rest that shows the hand turned up shows a pay too."""
    coins = _coins(name, episodes[:shown])
    if len(coins) < LEAST_COIN or not _is_clear(name, episodes, shown - 1):
        return False
    now = _coins(name, episodes[shown : shown + 1])
    return len(now) >= LEAST_COIN and not set(now) & set(coins)


def _is_clear(name: str, episodes: Sequence[Episode], rest: int) -> bool:
    """Whether most readings of a rest show nothing on a sensor."""
    readings = episodes[min(rest, len(episodes) - 1)].readings
    return sum(name in r.stakes for r in readings) * 2 <= len(readings)


def _coins(name: str, before: Sequence[Episode]) -> list[int]:
    """What lay on a jackpot's sensor and was read well, by readings, in cents."""
    return [
        stack.value_cents for e in before for r in e.readings for stack in r.stakes.get(name, ())
        if stack.probability >= LAMP
    ]  # fmt: skip


def _without_lamps(reading: ViewReading, names: Collection[str]) -> ViewReading:
    """The reading without stakes on these sensors that are hardly read."""
    read = {
        name: tuple(s for s in own if name not in names or s.probability >= LAMP)
        for name, own in reading.stakes.items()
    }
    return replace(reading, stakes={name: own for name, own in read.items() if own})
