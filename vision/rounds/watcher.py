"""Watching one table: frames in, observed rounds out."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from settlement.declared import Declared, with_declared
from settlement.errors import FeltwatchError
from settlement.games import GAMES, players_bank
from settlement.procedures import Phase, procedure_of
from vision.cards.backs import without_false_backs
from vision.cards.joker_match import Sample, table_joker, with_joker
from vision.cards.joker_memory import JokerMemory
from vision.cards.table_deck import reader_for
from vision.cards.unread_card import faint_finds
from vision.chips.lammer_colour import by_colour
from vision.chips.network_input.side_strip import ChipSize
from vision.chips.side_palette import Palette
from vision.detect.arms import ArmWatch
from vision.detect.detections import ByteArray, Detections
from vision.detect.motion import STILL_SAMPLES, shrink
from vision.geometry.calibration import Calibration
from vision.geometry.table import FurtherCamera, Polygon, TableFile
from vision.networks import Networks
from vision.rounds.cameras.further_camera import OtherCamera, RecordedCamera
from vision.rounds.cameras.joining import join_round
from vision.rounds.cameras.live_camera import LiveCamera, Sight
from vision.rounds.changes import Changes, find_changes
from vision.rounds.coverage import Coverage
from vision.rounds.felt.felt_check import FeltCheck
from vision.rounds.felt.overhang import with_overhangs
from vision.rounds.jackpots.lamp_watch import LampWatch
from vision.rounds.jackpots.meter_watch import MeterWatch
from vision.rounds.joker_learning import learn_joker
from vision.rounds.live_view import TableNow, table_now
from vision.rounds.loose_pays import compile_owned
from vision.rounds.observed import ObservedRound
from vision.rounds.procedure.first_hands import FirstHandWatch, deal_pictures, with_dice
from vision.rounds.procedure.house_place import HOUSE, HousePlace
from vision.rounds.procedure.marker_bank import MarkerWatch
from vision.rounds.procedure.place_states import PlaceStates
from vision.rounds.procedure.reaches import arms_over, with_arms, with_hides
from vision.rounds.procedure.round_reader import read_procedure, with_procedure
from vision.rounds.rest_doubt import RestDoubt
from vision.rounds.round_pictures import round_pictures
from vision.rounds.round_state import Round
from vision.rounds.snapshot import WatcherState, dump_state, load_state
from vision.rounds.stake_dates import StakeDates
from vision.rounds.table_views import View, table_views
from vision.rounds.timeline.felt_timeline import felt_timeline
from vision.rounds.timeline.signs import Signs
from vision.rounds.tracker import RoundTracker
from vision.rounds.two_readings import SamplesUse
from vision.rounds.usual_stakes import UsualStakes
from vision.rounds.view_reader import (
    cards_of_place,
    cards_within,
    dealers_rows,
    read_view,
)
from vision.sources.base import Frame
from vision.sources.gaps import COARSE_STEPS, JUMPED, LEAST_S, Gap
from vision.sources.live_moments import LiveMoments
from vision.sources.moments import Moments

READS_PER_REST = 3
"""How often a rest is read at most, and for how many readings its last one counts."""

SELDOM_SHARE = 0.25
"""In a round seen too seldom for more of its time, no late bet, moved card or breach of the
procedure is reported: a tune shift (seed 9301) seen once a second had three false breaches."""


class TableWatcher:
    """Watches one table through one camera; see `feed`.

    Raises FeltwatchError when the table file has no camera.
    """

    sample_every_s = 0.2

    def __init__(
        self,
        table: TableFile,
        networks: Networks,
        source_name: str = "video",
        *,
        rounds_before: int = 0,
        check_felt: bool = True,
    ) -> None:
        """`source_name` names the stream in messages.

        Rounds are numbered from `rounds_before` + 1. With `check_felt` False whoever feeds
        the frames sees to it that they show this table.
        """
        if table.camera is None:
            raise FeltwatchError(
                f"table {table.table!r} has no [camera] in its table file; calibrate it first"
            )
        self.table = table
        self.source_name = source_name
        self.calibration = Calibration.fit(table.camera)
        reader = reader_for(table, networks.reader, networks.comparer)
        self.networks = replace(networks, reader=reader)
        self.palette = Palette.of(table.chips)
        self.chip_size = ChipSize(table.chip_diameter_mm, table.chip_thickness_mm)
        self._joker = table_joker(table)
        self._lammer_wagers = {one.kind: one.wager for one in GAMES[table.rules.game].lammers}
        self.jokers = JokerMemory()
        """The joker's look learned so far, where none is enrolled."""
        self.usual = UsualStakes()
        """What was staked so far."""
        self.samples = SamplesUse()
        self._place_states = PlaceStates(table, self.networks.detector.size)
        self.tracker = RoundTracker(
            [s.seat for s in table.seats], procedure_of(table.rules.game), self._place_states.shows
        )
        self._doubt = RestDoubt(self.tracker, procedure_of(table.rules.game), self._place_states)
        self.house = HousePlace()
        self.coverage = Coverage()
        self.meters = MeterWatch(table.displays, self.calibration)
        self._views = table_views(table, self.calibration)
        self._boxes: dict[int | None, tuple[Polygon, Polygon]] = {
            None: (table.dealer.low, table.dealer.high),
            **{seat.seat: (seat.low, seat.high) for seat in table.seats},
        }
        self._dates = StakeDates(self.calibration, table.seats, self.chip_size)
        self.arms = ArmWatch(self.calibration, table.seats)
        self.marker = None if table.banker_marker is None else MarkerWatch(table, self.calibration)
        self.first_hands = (
            None if table.dice is None else FirstHandWatch(table.dice, table, self.calibration)
        )
        self.lamps = None if table.sensor_lamp is None else LampWatch(table, self.calibration)
        self._numbers = rounds_before
        self._now_s: float | None = None
        """Time of the last frame that was looked at."""
        self._before: Frame | None = None
        """That frame."""
        self._skipped: Gap | None = None
        self.recorded: list[RecordedCamera] = []
        """Further cameras that read the stacks of each round once it has ended."""
        self.live: list[LiveCamera] = []
        """Further cameras that read them as they come."""
        self._felt = FeltCheck(table, self.calibration, source_name, known=not check_felt)

    def join(self, camera: FurtherCamera, moments: Moments) -> None:
        """Read the stacks of each round in the recording of a further camera too."""
        self.recorded.append(RecordedCamera(self._other(camera), moments))

    def join_live(
        self, camera: FurtherCamera, moments: LiveMoments, sight: Callable[[], Sight]
    ) -> None:
        """Read the stacks of each round by a further live camera too; `sight`: what it shows."""
        self.live.append(LiveCamera(self._other(camera), moments, sight))

    def _other(self, camera: FurtherCamera) -> OtherCamera:
        return OtherCamera(
            self.table, camera, self.calibration, self.networks.detector, self.networks.strips,
            self.palette, self.chip_size,
        )  # fmt: skip

    def joker_samples(self) -> tuple[Sample, ...]:
        """What of the table's joker is looked for: the table file's samples, else learned ones."""
        return self._joker or self.jokers.samples

    def faults(self) -> list[str]:
        """What of further cameras' recordings and of the deck's samples was of no use."""
        own = [fault for camera in self.recorded for fault in camera.faults()]
        return [*own, *self.samples.faults()]

    def now(self) -> TableNow:
        """What lies on the table now, as read last."""
        moving = [v.seat for v in self._views if v.watch.still == 0 and v.seat != HOUSE]
        return table_now(
            self.table,
            self.calibration,
            self.tracker,
            self._numbers + 1,
            moving,
            self.networks.detector.size,
        )

    def feed(self, frame: Frame) -> list[ObservedRound]:
        """Take the next sampled frame; gives back the rounds that it ended.

        A frame with damaged parts is not looked at: it is a part of a gap.
        Raises NotThisTableError when the first frames do not show this table's print.
        """
        for camera in self.live:
            camera.work()
        if frame.broken:
            own = frame.gap or Gap(float(frame.at_s), float(frame.at_s), "damaged frames", 0.0)
            self._skipped = own if self._skipped is None else self._skipped.then(own)
            return []
        at_s = float(frame.at_s)
        luma = frame.luma
        self._felt.look(luma)
        before_s, skipped_s = self._now_s, self.coverage.skipped_s
        out = self._skip(frame)
        self._now_s = at_s
        out += self._look(frame, shrink(luma), at_s)
        self._before = frame
        self.meters.follow(luma, at_s, self.tracker.round)
        if before_s is not None and self.coverage.skipped_s == skipped_s:
            moving = [_place_name(view.seat) for view in self._views if view.watch.still == 0]
            self.coverage.take(at_s - before_s, moving)
        return out

    def _skip(self, frame: Frame) -> list[ObservedRound]:
        """Pass over what was not seen before a frame; gives back the round that ended in it."""
        at_s, last_s = float(frame.at_s), self._now_s
        known = [gap for gap in (self._skipped, frame.gap) if gap is not None]
        self._skipped = None
        if last_s is None:
            gap = Gap(at_s, at_s, "the watching began here", JUMPED)
        else:
            jumped = any(gap.hidden_s == JUMPED for gap in known)
            cause = max(known, key=lambda gap: gap.hidden_s).cause if known else "no frame came"
            gap = Gap.between(last_s, at_s, cause, jumped=jumped)
            if at_s - last_s > COARSE_STEPS * self.sample_every_s:
                self.tracker.coarse_s = at_s
                if self.tracker.round is not None:
                    self.tracker.round.seldom_s += at_s - last_s
        if gap.hidden_s > LEAST_S and last_s is not None:
            self.coverage.skipped_s += at_s - last_s
        ended = self.tracker.skip(gap) if gap.hidden_s > LEAST_S else None
        return [] if ended is None else [self._observed(ended, gap.from_s, cut_short=False)]

    def _look(self, frame: Frame, small: npt.NDArray[np.int16], at_s: float) -> list[ObservedRound]:
        """Read the views that came to rest."""
        arms = self.arms.look(small, at_s)
        own = self.tracker.round
        if arms and own is not None:
            own.hides = with_hides(own.hides, arms, at_s)
        if arms and own is not None and own.phase is not Phase.BETS:
            seen = arms_over(arms, frame, self.table, self.calibration)
            own.arms = with_arms(own.arms, seen)
        due: list[tuple[View, bool]] = []
        for view in self._views:
            at_rest = view.watch.look(small, at_s)
            for box in view.boxes:
                box.look(small)
            if any(box.brief for box in view.boxes):
                self._glimpse(view)
            if not at_rest:
                continue
            # The shaken image of what is in doubt may read otherwise.
            fresh = view.watch.changed() and (
                view.watch.changed(beyond_shake=True) or not self._is_settled(view.seat)
            )
            if fresh:
                view.lay_until = self._dates.lay_until(view.seat, view.watch)
                for watch in (view.watch, *view.boxes):
                    watch.remember()
                view.reads = 0
                view.since_s = at_s
            view.watch.settle()
            if view.reads < READS_PER_REST:
                due.append((view, fresh))
            elif view.seat == HOUSE:
                self.house.stands(at_s)
            else:
                self.tracker.stands(view.seat, at_s)
        marked = [] if self.marker is None else self.marker.look(small)
        phase = self.tracker.phase
        dealing = self.first_hands is not None and self.first_hands.look(small, at_s, phase)
        if not due and not marked and not dealing:
            if self.marker is not None:
                self.marker.seen(at_s)
            return []
        bgr = frame.bgr()
        if self.first_hands is not None and dealing:
            self.first_hands.read(bgr, at_s, phase, self._backs_at)
        if self.marker is not None:
            self.marker.read(bgr, marked, at_s)
            self.marker.seen(at_s)
        if self.lamps is not None:
            resting = [view.seat for view in self._views if view.watch.still >= STILL_SAMPLES]
            self.lamps.read(bgr, resting, at_s)
        if not due:
            return []
        size = self.networks.detector.size
        joker = self.joker_samples()
        images = [self.calibration.warp_view(bgr, view.place, size) for view, _ in due]
        out: list[ObservedRound] = []
        for (view, fresh), image, found in zip(
            due, images, self.networks.detector.find(images), strict=True
        ):
            view.reads += 1
            kept = by_colour(
                without_false_backs(found, image, view.spots_mm), image, self.table.lammers
            )
            if view.seat is None:
                kept = cards_within(kept, dealers_rows(self.table.dealer), size)
            kept = self._own_cards(view, kept)
            reading = read_view(
                bgr, self.calibration, view.place, view.spots, self.palette, self.chip_size,
                kept, size, self.networks.reader, self.networks.strips,
                at_s, view.reads - 1, self._lammer_wagers,
            )  # fmt: skip
            if joker:
                reading = replace(
                    reading, indices=with_joker(reading.indices, image, joker),
                    plain=reading.plain and with_joker(reading.plain, image, joker),
                )  # fmt: skip
            if view.seat != HOUSE:
                faint = faint_finds(
                    bgr, self.calibration, view.place, image, reading.indices,
                    self.networks.detector, self.networks.reader, view.reads - 1,
                )  # fmt: skip
                if faint is not None:
                    reading = replace(reading, unread_card=faint.shares, joker_marks=faint.marks)
            times = 1
            if not self._doubt.remains(view.seat, reading, fresh=fresh):
                times, view.reads = READS_PER_REST - view.reads + 1, READS_PER_REST
            if view.seat == HOUSE:
                self.house.take(reading, image, fresh=fresh, since_s=view.since_s)
                continue
            if view.seat is not None:
                for camera in self.live:
                    camera.note(self.table.seat(view.seat), reading)
            ended = self.tracker.take(
                view.seat, reading, image, fresh=fresh, since_s=view.since_s, times=times,
                lay_until=view.lay_until,
            )  # fmt: skip
            if ended is not None:
                # Where the next deal has begun, the round ended before the bets for it.
                begun = self.tracker.round
                end_s = at_s if begun is None else min(at_s, begun.start_s)
                out.append(self._observed(ended, end_s, cut_short=False))
        return out

    def _glimpse(self, view: View) -> None:
        """Read the cards of a seat that lay otherwise in the frame before, for less than a rest."""
        before = self._before
        if before is None or not self.tracker.shows_cards(view.seat):
            return
        size = self.networks.detector.size
        bgr = before.bgr()
        image = self.calibration.warp_view(bgr, view.place, size)
        (found,) = self.networks.detector.find([image])
        cards = without_false_backs(found, image, view.spots_mm).of("index", "joker", "back")
        reading = read_view(
            bgr, self.calibration, view.place, {}, self.palette, self.chip_size,
            self._own_cards(view, cards), size, self.networks.reader, self.networks.strips,
            float(before.at_s),
        )  # fmt: skip
        reading = replace(
            reading, indices=view.that_lay(reading.indices),
            plain=reading.plain and view.that_lay(reading.plain),
        )  # fmt: skip
        if reading.indices:
            self.tracker.glimpse(view.seat, reading, image)

    def _backs_at(
        self, bgr: ByteArray, places: Collection[int | None]
    ) -> dict[int | None, tuple[bool, ByteArray]]:
        """Whether cards lie face down at places in a frame, and their views."""
        size = self.networks.detector.size
        views = [view for view in self._views if view.seat in places and view.seat != HOUSE]
        images = [self.calibration.warp_view(bgr, view.place, size) for view in views]
        out = {}
        for view, image, found in zip(
            views, images, self.networks.detector.find(images), strict=True
        ):
            backs = self._own_cards(
                view, without_false_backs(found, image, view.spots_mm).of("back")
            )
            if view.seat is None:
                backs = cards_within(backs, dealers_rows(self.table.dealer), size)
            out[view.seat] = (len(backs) > 0, image)
        return out

    def _own_cards(self, view: View, found: Detections) -> Detections:
        """The detections without cards of other places, where these are known."""
        if view.seat not in self._boxes:
            return found
        others = [b for s, own in self._boxes.items() if s != view.seat for b in own]
        size = self.networks.detector.size
        return cards_of_place(found, view.place, self._boxes[view.seat], others, size)

    def _is_settled(self, seat: int | None) -> bool:
        """Whether the shaken image of what was read at a place last would read the same."""
        if seat != HOUSE:
            return self._doubt.is_settled(seat)
        episodes = self.house.episodes
        last = episodes[-1].readings[-1] if episodes else None
        return last is not None and not (last.stacks or last.unread)

    def finish(self) -> list[ObservedRound]:
        """The stream ended: a round that was being settled comes out as far as it was seen.

        Raises NotThisTableError when too few frames came to know the felt, and it did not match.
        """
        self._felt.end()
        end_s = self._now_s or 0.0
        ended = self.tracker.end()
        if ended is None:
            return []
        cut_short = ended.gap is None
        if cut_short and ended.phase is not Phase.CLEARED:
            ended.gap = Gap(end_s, end_s, "the recording ended", JUMPED)
        return [self._observed(ended, end_s, cut_short=cut_short)]

    def snapshot(self) -> bytes:
        """All that was seen so far, for `restore` in a later run of the same table and models."""
        return dump_state(
            WatcherState(
                round=self.tracker.round,
                latest=self.tracker.latest,
                bare=self.tracker.bare,
                between=self.tracker.between,
                unseen=self.tracker.unseen,
                open_gap=self.tracker.open_gap,
                skipped=self._skipped,
                coarse_s=self.tracker.coarse_s,
                views=[
                    (v.reads, v.since_s, v.watch.state(), [box.state() for box in v.boxes])
                    for v in self._views
                ],
                numbers=self._numbers,
                now_s=self._now_s,
                matches=self._felt.matches,
                felt_known=self._felt.known,
                house=self.house.episodes,
                marker=None if self.marker is None else self.marker.state(),
                coverage=self.coverage,
                arms=self.arms.state(),
                meters=self.meters.memory,
                lamps=None if self.lamps is None else self.lamps.frames,
                first_hands=None if self.first_hands is None else self.first_hands.state(),
                jokers=self.jokers.looks,
                usual=self.usual,
                samples=self.samples,
            )
        )

    def restore(self, snapshot: bytes) -> None:
        """Go on as the watcher that gave the snapshot; raises FeltwatchError for another's."""
        state = load_state(snapshot)
        try:
            for view, (reads, since_s, rest, boxes) in zip(self._views, state.views, strict=True):
                view.reads, view.since_s = reads, since_s
                watches = zip((view.watch, *view.boxes), (rest, *boxes), strict=True)
                for watch, own in watches:
                    watch.set_state(own)
            if (self.marker is None) != (state.marker is None):
                raise ValueError("one has a banker's marker, the other none")
            if len(state.lamps or ()) != (0 if self.lamps is None else len(self.lamps.frames)):
                raise ValueError("one has other lamps than the other")
            if (self.first_hands is None) != (state.first_hands is None):
                raise ValueError("one has dice, the other none")
            if self.first_hands is not None and state.first_hands is not None:
                self.first_hands.set_state(state.first_hands)
            if self.marker is not None and state.marker is not None:
                self.marker.set_state(state.marker)
            if state.arms is not None:
                self.arms.set_state(state.arms)
        except (TypeError, ValueError) as error:
            raise FeltwatchError("the snapshot is of another table or camera") from error
        self.tracker.round, self.tracker.latest = state.round, state.latest
        self.tracker.bare, self.tracker.between = state.bare, state.between
        self.tracker.unseen, self.tracker.open_gap = state.unseen, state.open_gap
        self._skipped, self.tracker.coarse_s = state.skipped, state.coarse_s
        self._numbers, self._now_s = state.numbers, state.now_s
        self._felt.matches, self._felt.known = state.matches, state.felt_known
        self.house.episodes, self.coverage = state.house, state.coverage
        if len(state.meters.images) != len(self.meters.displays):
            raise FeltwatchError("the snapshot is of a table with other displays")
        self.meters.memory = state.meters
        if self.lamps is not None and state.lamps is not None:
            self.lamps.frames = state.lamps
        self.jokers.looks = state.jokers
        self.usual = state.usual or self.usual
        self.samples = state.samples

    def _observed(self, own: Round, end_s: float, *, cut_short: bool) -> ObservedRound:
        self._numbers += 1
        if own.gap is not None:
            end_s = own.gap.from_s
        for camera in self.live:
            camera.settle()
        joined = join_round(own, self.table, [*self.recorded, *self.live])
        own, other = self.samples.better_read(joined.round)
        changes = find_changes(self.table, own)
        if not self._joker:
            learn_joker(self.jokers, self.table, own, changes)
        went = read_procedure(self.table, own, self._place_states)
        if own.seldom_s > SELDOM_SHARE * (end_s - own.start_s):
            # What came about between two frames may be another motion than it seems.
            changes, went = Changes({}, ()), replace(went, breaches=(), reaches=())
        dealt = None if self.first_hands is None else self.first_hands.of_round(own)
        signs = Signs(
            {} if self.lamps is None else self.lamps.frames_of(own, end_s),
            {} if self.marker is None else self.marker.of_round(own.since_s),
            self.meters.of_round(own.start_s),
            () if dealt is None else dealt.rests,
            0 if self.table.dice is None else self.table.dice.count,
        )
        lamps = None if self.lamps is None else self.lamps.of_round(own)
        own = with_overhangs(own, self.table, self.calibration)
        record, own = compile_owned(
            self.table, self._numbers, own, end_s, cut_short=cut_short, changes=changes,
            lamps=lamps, other=other,
        )  # fmt: skip
        record = self.usual.weighed(record)
        house = self.house.of_round(own.start_s)
        record = self.meters.with_meters(record, own.start_s)
        marker = None if self.marker is None else self.marker.of_round(own.start_s)
        record = with_procedure(record, self.table, own, went, house, marker)
        if dealt is not None:
            record = with_dice(record, self.table, own, dealt)
        facts = self.table.declared or Declared()
        record = with_declared(record, facts, players_bank=players_bank(self.table.rules.game))
        pictures = round_pictures(own, changes, went, self.networks.detector.size)
        pictures += joined.pictures
        if dealt is not None:
            pictures += deal_pictures(record, dealt)
        timeline = felt_timeline(
            self.table, record, own, went, house, self._place_states, signs, self.calibration
        )
        return ObservedRound(record, tuple(pictures), timeline)


def _place_name(seat: int | None) -> str:
    return "dealer" if seat is None else "house" if seat == HOUSE else str(seat)
