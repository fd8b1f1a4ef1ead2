"""A shift of rounds at one table: who bets what, what happens, and when.

A game's part is its `Procedure`; another game is added as a module of its own with its
entry in PROCEDURES. A shift is planned at a table's own pace and its waiting is shortened
afterwards (`datasets.simulate.play.pace`), so that a pace changes nothing that is seen.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from datasets.render.banker_markers import MarkerLook
from datasets.render.scene import Event, Item, ShiftPlan, StackItem
from datasets.simulate.bets import UNITS_CENTS, Crowd, SeatBets
from datasets.simulate.chipwork import value_cents
from datasets.simulate.dealing import PLAYERS_MOST
from datasets.simulate.decide import Decider, possible_codes
from datasets.simulate.dice import CUP_KEY, DiceSet, dice_truth
from datasets.simulate.draft import Occasion
from datasets.simulate.filming.incidents import camera_event
from datasets.simulate.meters import Meters
from datasets.simulate.mistakes.catalogue import FaultPlan, split_wish
from datasets.simulate.play.behaviour import DealerStyle, Manner
from datasets.simulate.play.imperial import ImperialRound
from datasets.simulate.play.interludes import Interludes
from datasets.simulate.play.motion import Stop, Timeline, dealer_arm, spread_about
from datasets.simulate.play.pace import at_pace, clock_for
from datasets.simulate.play.roundplay import SILENT_S, ExposedRound, RoundPlay
from datasets.simulate.play.shift_events import ROUND_EVENTS, EventPlan
from datasets.simulate.script import Played, RoundScript, truth
from datasets.simulate.stakes import stake_chips, within
from settlement.errors import FeltwatchError
from settlement.games import terms_for
from settlement.record import Fault, RoundRecord, Undecided
from settlement.settle import settle
from vision.geometry.marker_places import marker_places
from vision.geometry.table import TableFile

_OPENING_S = 1.5
_QUICK_S = 0.2
"""From the last arm of a round to the first of one that follows at once."""

_RIDES = 0.7
"""How often a main stake that is not lost stays for a round that follows at once."""

_BANKS = 0.3
"""How often a player banks, where one can; who does is drawn for each round."""

_EMPTY_FELT_S = 1.0

MARKER_KEY = "banker.marker"
_MARKER_OFF_MM = 22.0
"""So near to its place a dealer puts the banker's marker."""

Player = Callable[..., RoundPlay]


@dataclass(frozen=True, slots=True)
class Procedure:
    """A game's part of the simulator: how a decided round is played."""

    player: Player
    banks: bool = False


PROCEDURES: Mapping[str, Procedure] = {
    "emperors_challenge_exposed": Procedure(ExposedRound),
    "emperors_challenge_exposed_washington": Procedure(ExposedRound),
    "emperors_challenge_exposed_earlier": Procedure(ExposedRound),
    "pai_gow_poker": Procedure(RoundPlay, banks=True),
    "imperial_pai_gow_draw": Procedure(ImperialRound),
}
"""Dealing procedures by game id."""


def procedure_for(table: TableFile) -> Procedure:
    """The dealing procedure of a table's game.

    Raises FeltwatchError naming the games that can be played.
    """
    try:
        return PROCEDURES[table.rules.game]
    except KeyError:
        known = ", ".join(sorted(PROCEDURES))
        raise FeltwatchError(
            f"table {table.table}: rules.game: the simulator deals no {table.rules.game!r}; "
            f"known are: {known}"
        ) from None


def plan_shift(
    table: TableFile,
    *,
    seed: int,
    rounds: int,
    faults: FaultPlan | None = None,
    pace: float = 1.0,
    jokers: bool = True,
    players: int | None = None,
    dealers: Manner = "any",
    events: EventPlan | None = None,
    silent_s: float = SILENT_S,
    marker: MarkerLook | None = None,
    dice: DiceSet | None = None,
) -> ShiftPlan:
    """A whole shift, the same for the same arguments.

    `players` is the most seats played at once, by default all, six at most: 53 cards serve no
    more beside the dealer. People come and go between rounds, at least three seats (or
    `players`, if fewer) are played. `pace` 1 waits as long as people do, less shortens the
    waiting and nothing else. `dealers` is the dealers' manner, `events` what happens between
    rounds. Before the bets of each round the banker's `marker` is laid before the seat that
    banks, or at the house. `dice` lie under their cup until
    bets are closed. `jokers` False plays with 52 cards.

    Raises FeltwatchError when the rules, seats, pace or mistakes cannot be played.
    """
    if rounds < 1:
        raise FeltwatchError(f"--rounds {rounds}: a shift has at least one round")
    there = min(len(table.seats), PLAYERS_MOST)
    most = there if players is None else players
    if not 1 <= most <= there:
        raise FeltwatchError(
            f"--seats {most}: the table has {len(table.seats)} seats, of which 1 to {there} can "
            "be played at once"
        )
    clock_for((), (), pace)
    shift = _Shift(table, seed, jokers, most, dealers, silent_s, procedure_for(table), marker,
                   dice)  # fmt: skip
    wanted = (faults or FaultPlan()).schedule(
        rounds, _stream(seed, "faults"), possible_codes(table)
    )
    between = (events or EventPlan()).schedule(rounds, _stream(seed, "events"))
    return at_pace(shift.plan(rounds, wanted, between), shift.timeline.waits, pace)


@dataclass
class _Shift:
    """The parts of a shift that go on from round to round."""

    table: TableFile
    seed: int
    jokers: bool
    most: int
    manner: Manner
    silent_s: float
    procedure: Procedure
    marker: MarkerLook | None = None
    dice: DiceSet | None = None
    timeline: Timeline = field(default_factory=Timeline)
    standing: dict[str, Item] = field(default_factory=dict)
    records: list[RoundRecord] = field(default_factory=list)
    camera: list[Event] = field(default_factory=list)
    style: DealerStyle = field(init=False)
    crowd: Crowd = field(init=False)
    meters: Meters = field(init=False)
    between: Interludes = field(init=False)
    riding: frozenset[int] = frozenset()
    stayed: dict[int, tuple[StackItem, ...]] = field(default_factory=dict)
    """Main stakes that stayed from the round before, by seat."""

    def __post_init__(self) -> None:
        self.style = DealerStyle.draw(self.manner, _stream(self.seed, "dealer"))
        self.crowd = Crowd(self.table, _stream(self.seed, "players"), self.most)
        self.meters = Meters(terms_for(self.table.rules), _stream(self.seed, "meters"))
        self.between = Interludes(
            self.table, self.timeline, _stream(self.seed, "between"), self.standing
        )

    def plan(
        self, rounds: int, wanted: Mapping[int, tuple[str, ...]],
        between: Mapping[int, tuple[str, ...]],
    ) -> ShiftPlan:  # fmt: skip
        """All rounds, one after another, at a table's own pace."""
        self.crowd.open()
        start = self.between.own_chips(self.crowd, _OPENING_S)
        for number in range(1, rounds + 1):
            own = between.get(number, ())
            start = self._interludes(number, own, start)
            self._riding(number, between)
            course = tuple(kind for kind in own if kind in ROUND_EVENTS)
            off = self._round(number, wanted.get(number, ()), course, start)
            rest = self.style.tempo.between_s
            if "quick_deal" in between.get(number + 1, ()):
                # Nobody comes or goes.
                start = off + _QUICK_S
                continue
            self.crowd.change()
            chips = self.between.own_chips(self.crowd, off + _EMPTY_FELT_S)
            start = max(off + rest, chips + 0.5)
            self.timeline.wait(off, off + _EMPTY_FELT_S, _EMPTY_FELT_S)
            self.timeline.wait(max(off + _EMPTY_FELT_S, chips), start)
        events = sorted((*self.between.events, *self.camera), key=lambda event: event.t0_s)
        return ShiftPlan(
            duration_s=round(start + 0.5, 3),
            changes=tuple(sorted(self.timeline.changes, key=lambda change: change.t_s)),
            reaches=tuple(sorted(self.timeline.reaches, key=lambda reach: reach.t0_s)),
            rounds=tuple(self.records),
            events=tuple(events),
        )

    def _interludes(self, number: int, kinds: tuple[str, ...], start: float) -> float:
        """What happens before a round."""
        for kind in kinds:
            if kind == "dealer_change":
                leaving = self.style.name
                stream = _stream(self.seed, f"dealer {number}")
                self.style = DealerStyle.draw(self.manner, stream)
                start = self.between.dealer_change(start, leaving, self.style.name)
            elif kind == "fill":
                start = self.between.fill(start, number)
            elif kind == "empty_table":
                self.crowd.leave()
                start = self.between.empty_table(start, self.crowd)
                self.crowd.open()
                start = self.between.own_chips(self.crowd, start)
            end = start + 1.0
            self.timeline.wait(start, end, _EMPTY_FELT_S)
            start = end
        return start

    def _riding(self, number: int, between: Mapping[int, tuple[str, ...]]) -> None:
        """Draw which seats' stakes stay after this round, where the next follows at once."""
        self.riding = frozenset()
        # Of a round that is abandoned all stakes go back.
        settled = "abandoned" not in between.get(number, ())
        if settled and "quick_deal" in between.get(number + 1, ()):
            luck = _stream(self.seed, f"riding {number}")
            self.riding = frozenset(s for s in sorted(self.crowd.players) if luck.random() < _RIDES)

    def _round(
        self, number: int, wishes: tuple[str, ...], course: tuple[str, ...], start: float
    ) -> float:
        """Decide and play a round; gives back when every arm is off the felt."""
        rng = _stream(self.seed, f"round {number}")
        if "abandoned" in course and wishes:
            raise FeltwatchError(
                f"round {number}: a round that is abandoned has no mistakes: {', '.join(wishes)}"
            )
        occasion = self._occasion(rng)
        decider = Decider(self.table, rng, self.jokers, self.style.restless)
        of_cards = [wish for wish in wishes if split_wish(wish)[0] != "CAMERA"]
        try:
            script = decider.decide(occasion, of_cards)
        except FeltwatchError as error:
            raise FeltwatchError(f"round {number}: {error}") from error
        start = self._pass_marker(script.banker, number, start)
        if self.dice is not None and CUP_KEY not in self.standing:
            start = self._put_cup(self.dice, start)
        play = self.procedure.player(
            self.table, script, number, self.style, self.timeline, rng, self.standing,
            silent_s=self.silent_s, course=course, quick="quick_deal" in course,
            chips={(seat, "main"): items for seat, items in self.stayed.items()},
            riding=self._may_ride(script), dice=self.dice,
        )  # fmt: skip
        played = play.play(round(start, 3))
        round_id = f"{self.table.table}-{number:06d}"
        self.between.events += [replace(event, round_id=round_id) for event in play.events]
        if "abandoned" in course:
            self.stayed = {}
            self.records.append(_abandoned(self.table, played, round_id))
            return self.timeline.off_s
        self.stayed = play.left_riding()
        self.records.append(self._truth(script, played, round_id, wishes, rng))
        self.meters.paid(settle(script.record(self.table, round_id), self.table.rules))
        return self.timeline.off_s

    def _may_ride(self, script: RoundScript) -> frozenset[int]:
        """The seats whose main stakes may stay: without a mistake and in one stack."""
        wrong = {fault.seat for fault in script.faults}
        return frozenset(
            seat.seat for seat in script.seats
            if seat.seat in self.riding - wrong
            and (main := seat.wager("main")) is not None and main.stacks == 1
        )  # fmt: skip

    def _pass_marker(self, banker: int | None, number: int, start: float) -> float:
        """The dealer lays the banker's marker where it belongs; when both hands are off again."""
        place = marker_places(self.table)[banker]
        lying = self.standing.get(MARKER_KEY)
        if self.marker is None:
            return start
        if lying is not None and math.dist(lying.center_mm, place.center_mm) <= _MARKER_OFF_MM:
            return start
        rng = _stream(self.seed, f"marker {number}")
        at_mm = spread_about(place.center_mm, _MARKER_OFF_MM, rng)
        item = self.marker.item(MARKER_KEY, at_mm, round(rng.uniform(0, 360), 1))
        taken = [] if lying is None else [Stop(lying.center_mm, remove=(MARKER_KEY,))]
        arm = dealer_arm(self.table.felt, 1, rng)
        end = self.timeline.reach(start, arm, [*taken, Stop(at_mm, put=(item,))], 0.25)
        self.standing[MARKER_KEY] = item
        return end + 0.6

    def _put_cup(self, dice: DiceSet, start: float) -> float:
        """The dealer puts the dice cup in its place; when the hand is off again."""
        cup = dice.covered()
        arm = dealer_arm(self.table.felt, -1, _stream(self.seed, "dice cup"))
        self.standing[CUP_KEY] = cup
        return self.timeline.reach(start, arm, [Stop(cup.center_mm, put=(cup,))], 0.25) + 0.6

    def _occasion(self, rng: random.Random) -> Occasion:
        bets = tuple(self._with_stayed(own) for own in self.crowd.bets())
        banker, house = self._bank(bets, rng)
        coins: dict[str, int] = {}
        for own in bets:
            for wager, chips in own.stakes.items():
                coins[wager] = coins.get(wager, 0) + value_cents(chips, self.table.chips)
        return Occasion(
            bets=bets,
            careless={seat: one.carelessness for seat, one in self.crowd.players.items()},
            hands=self.crowd.hands(),
            banker=banker,
            house=house,
            meters=self.meters.shown(coins),
            dynamic=self.meters.dynamic(rng),
        )

    def _with_stayed(self, own: SeatBets) -> SeatBets:
        """A seat's bets with the main stake that stayed from the round before, where one did."""
        stayed = self.stayed.get(own.seat, ())
        colours = tuple(colour for item in stayed for colour in item.colours)
        return own.with_stake("main", colours) if colours else own

    def _bank(
        self, bets: tuple[SeatBets, ...], rng: random.Random
    ) -> tuple[int | None, tuple[str, ...]]:
        """The seat that banks, one that has a single hand, and the house wager then laid."""
        hands = self.crowd.hands()
        free = [own.seat for own in bets if hands.get(own.seat) == 1]
        if not self.procedure.banks or not free or len(bets) < 2 or rng.random() >= _BANKS:
            return None, ()
        seat = rng.choice(free)
        cents = [c for c in UNITS_CENTS if within(c, "main", self.table.rules) and c <= 10000]
        return seat, stake_chips(rng.choice(cents), self.table, False, rng)

    def _truth(
        self, script: RoundScript, played: Played, round_id: str, wishes: tuple[str, ...],
        rng: random.Random,
    ) -> RoundRecord:  # fmt: skip
        record = truth(script, played, self.table, round_id)
        found = list(record.faults or ())
        for wish in wishes:
            code, way = split_wish(wish)
            if code == "CAMERA":
                event = camera_event(way, played, round_id, rng)
                self.camera.append(event)
                found.append(Fault(code="CAMERA", at_s=f"{event.t0_s:.3f}", note=event.note))
        lies = None if self.marker is None else script.banker or "house"
        own = dice_truth(self.table, script, played.dice_s)
        return record.model_copy(
            update={"faults": tuple(found), "banker_marker": lies, "dice": own}
        )


def _abandoned(table: TableFile, played: Played, round_id: str) -> RoundRecord:
    """The truth of a round that was broken off: nothing of it is judged."""
    return RoundRecord(
        round_id=round_id,
        table=table.table,
        game=table.rules.game,
        start_s=f"{played.start_s:.3f}",
        end_s=f"{played.end_s:.3f}",
        undecided=(Undecided(seat=None, what="hand", why="the round was abandoned"),),
        faults=(),
    )


def _stream(seed: int, purpose: str) -> random.Random:
    """A generator of its own for each purpose, so that one more draw disturbs no other."""
    return random.Random(f"{seed}/{purpose}")
