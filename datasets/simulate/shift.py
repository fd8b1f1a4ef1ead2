"""A simulated shift on disk: the recording, its table file and its truth."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from datasets.render.banker_markers import MarkerKind, MarkerLook
from datasets.render.camera import (
    SyntheticCamera,
    play_area,
    shoulder_camera,
    synthetic_camera,
    table_camera,
)
from datasets.render.cards.deck import Deck, draw_deck
from datasets.render.cards.deck_folder import load_deck
from datasets.render.cards.deck_style import CASINO_DESIGNS
from datasets.render.dice import DiceLook
from datasets.render.scene import SensorItem, ShiftPlan
from datasets.simulate.dice import CUP_KEY, DICE_KEY, DiceSet, with_dice
from datasets.simulate.displays import seen_displays, with_displays
from datasets.simulate.filming.encode import CODECS, check_codec, encode
from datasets.simulate.filming.film import Film, Look
from datasets.simulate.filming.incidents import Planes, Troubles
from datasets.simulate.filming.truth_frames import FrameLog, FrameTruth
from datasets.simulate.filming.truth_stacks import stack_lines
from datasets.simulate.house_tables import NEVADA, Jackpots, rules_for, table_for
from datasets.simulate.lamps import house_sensors, taken_in, with_house_lamps, with_lamps
from datasets.simulate.mistakes.catalogue import FaultPlan
from datasets.simulate.play.behaviour import Manner
from datasets.simulate.play.roundplay import SILENT_S
from datasets.simulate.play.shift_events import EventPlan
from datasets.simulate.play.shift_play import MARKER_KEY, plan_shift
from datasets.simulate.shards import Shard, from_zero, part_of
from settlement.declared import FeedLine
from settlement.errors import FeltwatchError
from settlement.games import JACKPOTS, players_bank, terms_for
from settlement.input_file import read_json
from settlement.record import SeatRecord, read_rounds
from settlement.rules import Commission, TableRules
from vision.geometry.table import FurtherCamera, Rgb, TableFile

SECOND = "shoulder"
"""The name of the second camera: low over the dealer's shoulder."""

MARK_NOISE_PX = 0.4
"""How far off a person points at a mark of the felt."""

_NO_MATTER = {"version", "frames", "codec", "crf", "preset"}
"""Of a recipe: what the truth does not depend on."""

__all__ = ["CODECS", "Scenery", "Wishes", "default_rules", "simulate", "write_table"]


def default_rules() -> TableRules:
    """Emperor's Challenge Exposed, Nevada, with the pay tables of its example layout."""
    return rules_for(NEVADA)


def commission_later(table: TableFile) -> TableFile:
    """The table of a house that pays wins in full and collects the commission afterwards.

    Raises FeltwatchError in a game without a commission.
    """
    if terms_for(table.rules).commission is None:
        raise FeltwatchError(f"--commission: {table.rules.game} takes no commission")
    rules = table.rules.model_copy(update={"commission": Commission(taken="afterwards")})
    return table.model_copy(update={"rules": rules})


def write_table(table: TableFile, path: Path) -> None:
    """Write a table file that `vision.geometry.table.load_table` reads back equal."""
    path.write_text(
        tomli_w.dumps(table.model_dump(mode="json", exclude_none=True)), encoding="utf-8"
    )


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a shift is to be; the same wishes and version give the same truth.

    `table` is a table of one's own in place of a usual one of `game`; its camera is not
    used. `deck` is a folder of card faces or a name of `CASINO_DESIGNS`. `distortion` is the
    lens's k1, about -0.1 for a dome. `pace` 1 waits as long as people do. `camera_seed`
    draws camera, light and felt. With `dice` a usual table has dice in their usual place; a table
    of one's own has those that it declares. With `cameras` 2 a second one films the same shift.
    With `commission_later` a usual table collects its commission once all seats are settled.

    >>> Wishes(seed=7, rounds=5).game
    'emperors_challenge_exposed'
    """

    seed: int
    rounds: int
    faults: FaultPlan = field(default_factory=FaultPlan)
    events: EventPlan = field(default_factory=EventPlan)
    game: str = NEVADA
    jackpots: Jackpots = "none"
    table: TableFile | None = None
    deck: Path | None = None
    pace: float = 0.35
    seats: int | None = None
    dealers: Manner = "any"
    silent_s: float = SILENT_S
    fps: int = 15
    size: tuple[int, int] = (3840, 2160)
    camera_seed: int | None = None
    cameras: int = 1
    distortion: float = 0.0
    banker_marker: MarkerKind | None = None
    commission_later: bool = False
    dice: bool = False
    codec: str = "h264"
    crf: int = 25
    preset: str = "veryfast"

    def recipe(self) -> dict[str, Any]:
        """What is written beside the recording, to make it again."""
        words: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("seed", "rounds", "game", "jackpots", "pace", "seats", "dealers",
                         "silent_s", "fps", "size", "camera_seed", "distortion",
                         "codec", "crf", "preset")
        }  # fmt: skip
        words["faults"], words["events"] = repr(self.faults), repr(self.events)
        words["deck"] = None if self.deck is None else str(self.deck)
        words["table"] = None if self.table is None else self.table.table
        if self.cameras > 1:
            words["cameras"] = self.cameras
        if self.banker_marker is not None:
            words["banker_marker"] = self.banker_marker
        if self.commission_later:
            words["commission_later"] = True
        if self.dice:
            words["dice"] = True
        words["version"] = _version()
        return words

    def table_file(self) -> TableFile:
        """The table that is played at, without a camera."""
        if self.table is None:
            usual = table_for(self.game, seats=self.seats, jackpots=self.jackpots)
            if self.commission_later:
                usual = commission_later(usual)
            if self.dice:
                usual = with_dice(usual)
            return with_house_lamps(usual, self.seed)
        return self.table.model_copy(update={"camera": None, "cameras": (), "banker_marker": None})

    def marker(self) -> MarkerLook | None:
        """The banker's marker of the shift, which its seed draws; None where there is none.

        Raises FeltwatchError in a game in which no player banks.
        """
        if self.banker_marker is None:
            return None
        game = self.game if self.table is None else self.table.rules.game
        if not players_bank(game):
            raise FeltwatchError(f"--banker-marker: no player banks in {game}")
        return MarkerLook.draw(self.banker_marker, np.random.default_rng([self.seed, 79]))

    def dice_set(self, table: TableFile) -> DiceSet | None:
        """The dice of the shift, which its seed draws; None where the table has none."""
        return None if table.dice is None else DiceSet.draw(table.dice, self.seed)

    def sensors(self, table: TableFile) -> SensorItem | None:
        """The jackpots' sensors of the shift's table; None where it declares no lamps."""
        return house_sensors(table, self.seed)

    def plan(self, table: TableFile) -> ShiftPlan:
        """The whole shift at that table."""
        return plan_shift(
            table, seed=self.seed, rounds=self.rounds, faults=self.faults, pace=self.pace,
            dealers=self.dealers, events=self.events, silent_s=self.silent_s,
            players=self.seats if self.table is not None else None, marker=self.marker(),
            dice=self.dice_set(table),
        )  # fmt: skip


def _version() -> str:
    try:
        return version("feltwatch")
    except PackageNotFoundError:
        return "unknown"


def _cards(deck: Path | None) -> Deck:
    """The deck of a folder or of a design's name; the usual one where none is given."""
    if deck is None:
        return draw_deck()
    design = CASINO_DESIGNS.get(str(deck))
    return load_deck(deck) if design is None else draw_deck(design, str(deck))


@dataclass
class Scenery:
    """Everything that is seen of a shift: table, cameras by name, and the first one's film."""

    wishes: Wishes
    table: TableFile = field(init=False)
    cameras: dict[str, SyntheticCamera] = field(init=False)
    second: Callable[[], Film] | None = field(init=False, default=None)
    """Paints the table for the second camera, where there is one."""
    _look: Look = field(init=False)
    _rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        """Hang the cameras."""
        wishes = self.wishes
        seed = wishes.seed if wishes.camera_seed is None else wishes.camera_seed
        rng = np.random.default_rng([seed, 77])
        table = wishes.table_file()
        camera = synthetic_camera(
            table.felt,
            height_mm=float(rng.uniform(2500, 3400)),
            tilt_deg=float(rng.uniform(26, 42)),
            azimuth_deg=float(rng.uniform(-15, 15)),
            width_px=wishes.size[0],
            height_px=wishes.size[1],
            keep_mm=play_area(table),
            margin=0.05,
            jitter=0.5,
            seed=int(rng.integers(2**31)),
            distortion=(wishes.distortion, 0.0),
        )
        marks = table_camera(camera, table, noise_px=MARK_NOISE_PX, seed=int(rng.integers(2**31)))
        picked = seen_displays(table, camera, np.random.default_rng([seed, 79]))
        self.table = table.model_copy(update={"camera": marks, "displays": picked})
        self.cameras = {"": camera}
        self._look, self._rng = Look.draw(rng), rng
        if wishes.cameras > 1:
            self._hang_second(seed, self._look, deepcopy(rng))

    @cached_property
    def cards(self) -> Deck:
        """The deck, read or drawn when it is asked for first."""
        return _cards(self.wishes.deck)

    @cached_property
    def film(self) -> Film:
        """The first camera's film; the felt is painted when it is asked for first."""
        camera = self.cameras[""]
        return Film(
            self.table, camera, self.cards, self._look, self._rng, self._markers(), self._dice()
        )

    def felted(self, felt: Rgb, ink: Rgb) -> None:
        """Lay another felt, RGB, with print in `ink`. ValueError once the film was asked for."""
        if "film" in self.__dict__:
            raise ValueError("the felt is painted already")
        self._look = replace(self._look, felt_rgb=felt, print_rgb=ink)

    def _markers(self) -> dict[str, MarkerLook]:
        """The looks of the banker's marker and of the dice cup, where there are such."""
        own, dice = self.wishes.marker(), self.wishes.dice_set(self.table)
        looks = {} if own is None else {MARKER_KEY: own}
        return looks if dice is None else {**looks, CUP_KEY: dice.cup}

    def _dice(self) -> dict[str, DiceLook]:
        """The look of the dice, where there are some."""
        own = self.wishes.dice_set(self.table)
        return {} if own is None else {DICE_KEY: own.look}

    def _hang_second(self, seed: int, look: Look, rng: np.random.Generator) -> None:
        """A second camera over the same felt and chips, which `rng` draws."""
        luck = np.random.default_rng([seed, 78])
        camera = shoulder_camera(self.table, luck, *self.wishes.size)
        marks = table_camera(
            camera, self.table, noise_px=MARK_NOISE_PX, seed=int(luck.integers(2**31))
        )
        further = FurtherCamera(name=SECOND, **dict(marks))
        self.table = self.table.model_copy(update={"cameras": (further,)})
        self.cameras[SECOND] = camera
        own = Look.draw(luck)
        look = replace(look, faults=own.faults, shake=own.shake, stamp=own.stamp, seed=own.seed)
        self.second = lambda: Film(
            self.table, camera, self.cards, look, rng, self._markers(), self._dice()
        )


def simulate(
    out: Path,
    wishes: Wishes,
    *,
    shard: Shard | None = None,
    frames_truth: bool = False,
    truth_only: bool = False,
    progress: Callable[[float], None] | None = None,
) -> bool:
    """Play and film a shift into `out`: `video.mp4`, `table.toml`, `truth.jsonl` and more.

    `events.jsonl` lists what is no round, `feed.jsonl` what the house would declare,
    `stacks.jsonl` how each stack of a wager is seen (`datasets.simulate.filming.stack_lines`),
    `recipe.json` the wishes; `frames_truth` adds
    `frames.jsonl.gz` (`datasets.simulate.filming.truth_frames`). A second camera films the same
    into `video-shoulder.mp4`; troubles are the first one's. A shard's files carry its number, but
    for the table file. A shard that is there already is not made again; then False is given back.
    With `truth_only` nothing is filmed: where the video is there already, only the files that
    are missing beside it are written, and `stacks.jsonl`.
    Raises FeltwatchError when the folder cannot be written, holds another shift's shard, or
    the deck cannot be read; with `truth_only` also when the video there shows another shift.
    """
    check_codec(wishes.codec)
    if truth_only and frames_truth:
        raise FeltwatchError("--truth-only: frames.jsonl.gz is written while filming alone")
    shard = shard or Shard()
    mark = shard.suffix
    recipe = {**wishes.recipe(), "shard": [shard.number, shard.count], "frames": frames_truth}
    if mark and not truth_only and _finished(out, mark, recipe):
        return False
    scenery = Scenery(wishes)
    # Before the folder is made: the deck may not be readable.
    film = None if truth_only else scenery.film
    # The table file's camera has no part in the play.
    plan = with_displays(wishes.plan(scenery.table), scenery.table)
    plan = with_lamps(plan, scenery.table, wishes.sensors(scenery.table))
    part, t0, _ = part_of(plan, shard, wishes.fps)
    filmed = truth_only and _filmed(out, mark, recipe, part)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FeltwatchError(f"{out}: {error.strerror or error}") from error
    partial = [
        out / f"video{mark}.partial.mp4", out / f"frames{mark}.partial.jsonl.gz",
        out / f"video-{SECOND}{mark}.partial.mp4",
    ]  # fmt: skip
    try:
        if film is not None:
            _film(scenery, part, t0, partial, frames_truth, progress)
            if scenery.second is not None:
                unhurt = replace(part, events=())
                _encode(wishes, scenery.second(), unhurt, t0, partial[2], None, progress)
                partial[2].replace(out / f"video-{SECOND}{mark}.mp4")
            partial[0].replace(out / f"video{mark}.mp4")
            if frames_truth:
                partial[1].replace(out / f"frames{mark}.jsonl.gz")
        _write_truth(out, mark, scenery, part, t0, recipe, keep=filmed)
        if truth_only and progress:
            progress(1.0)
    except OSError as error:
        raise FeltwatchError(f"{out}: {error.strerror or error}") from error
    finally:
        for path in partial:
            with suppress(OSError):
                path.unlink()
    return True


def _filmed(out: Path, mark: str, recipe: dict[str, Any], part: ShiftPlan) -> bool:
    """Whether the part's video is there.

    Raises FeltwatchError when it shows another shift: its recipe or its truth differs, which it
    does too where an earlier version played other rounds.
    """
    if not (out / f"video{mark}.mp4").exists():
        return False
    path = out / f"recipe{mark}.json"
    if path.exists():
        there = read_json(path)
        wanted = json.loads(json.dumps(recipe, default=str))
        differs = [
            key for key in wanted
            if key not in _NO_MATTER and key in there and there[key] != wanted[key]
        ]  # fmt: skip
        if differs:
            raise FeltwatchError(
                f"{path}: the video was filmed with other options ({', '.join(differs)} differ); "
                "give the same, or choose another folder"
            )
    truth = out / f"truth{mark}.jsonl"
    if truth.exists() and read_rounds(truth) != list(part.rounds):
        raise FeltwatchError(
            f"{truth}: this version plays other rounds than those that were filmed; "
            "choose another folder"
        )
    return True


def _write_truth(
    out: Path, mark: str, scenery: Scenery, part: ShiftPlan, t0_s: float, recipe: dict[str, Any],
    *, keep: bool,
) -> None:  # fmt: skip
    """All files but the videos; with `keep` those that are there stay, but for the stacks."""

    def write(path: Path, text: str) -> None:
        if not (keep and path.exists()):
            path.write_text(text, encoding="utf-8")

    table = out / "table.toml"
    if not (keep and table.exists()):
        write_table(scenery.table, table)
    truth = "".join(record.to_json() + "\n" for record in part.rounds)
    write(out / f"truth{mark}.jsonl", truth)
    stacks = stack_lines(part, scenery.table, scenery.cameras)
    lines = "".join(line.model_dump_json(exclude_none=True) + "\n" for line in stacks)
    (out / f"stacks{mark}.jsonl").write_text(lines, encoding="utf-8")
    write(out / f"events{mark}.jsonl", _events(part))
    write(out / f"feed{mark}.jsonl", feed_of(scenery.table, part))
    own = scenery.wishes.marker()
    if own is not None:
        recipe["banker_marker_mm"] = [round(own.diameter_mm, 1), round(own.height_mm, 1)]
    recipe["duration_s"] = round(part.duration_s - t0_s, 3)
    recipe["start_s"] = round(t0_s, 3)
    write(out / f"recipe{mark}.json", json.dumps(recipe, indent=2, default=str) + "\n")


def feed_of(table: TableFile, part: ShiftPlan) -> str:
    """What the felt does not show of each round, as the house would declare it."""
    lines = []
    jackpots = [name for name in table.rules.paytables if name in JACKPOTS]
    taken = taken_in(part)
    for record in part.rounds:
        number = int(record.round_id.rsplit("-", 1)[-1])
        # The sensors' system reports a round's coins once they are taken in.
        last_s = max((at_s for (of, _, _), at_s in taken.items() if of == number), default=None)
        coins = {
            name: tuple(s.seat for s in record.seats if _is_registered(s, name))
            for name in jackpots
        }
        bank = "house" if record.banker is None else record.banker
        line = FeedLine(
            at_s=record.start_s or "0" if last_s is None else f"{last_s:.3f}",
            players={seat.seat: seat.player for seat in record.seats if seat.player is not None},
            banker=bank if players_bank(table.rules.game) else None,
            meters=record.meters,
            dynamic_pays=record.dynamic_pays,
            jackpot_wagers=coins or None,
        )
        lines.append(line.model_dump_json(exclude_none=True) + "\n")
    return "".join(lines)


def _is_registered(seat: SeatRecord, jackpot: str) -> bool:
    """Whether the sensors' system has a coin of the seat registered."""
    for sensor in seat.sensors or ():
        if sensor.wager == jackpot:
            return bool(sensor.registered)
    wager = seat.wager(jackpot)
    return wager is not None and bool(wager.stake_cents)


def _events(part: ShiftPlan) -> str:
    lines = []
    for event in part.events:
        line = {
            "kind": event.kind, "t0_s": f"{event.t0_s:.3f}", "t1_s": f"{event.t1_s:.3f}",
            "note": event.note, "code": event.code, "round_id": event.round_id,
        }  # fmt: skip
        lines.append(json.dumps({key: value for key, value in line.items() if value}) + "\n")
    return "".join(lines)


def _finished(out: Path, mark: str, recipe: dict[str, Any]) -> bool:
    """Whether a shard's files are there; its recipe is written last."""
    path = out / f"recipe{mark}.json"
    try:
        there = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    wanted = json.loads(json.dumps(recipe, default=str))
    differs = [key for key in wanted if there.get(key) != wanted[key]]
    if differs:
        raise FeltwatchError(
            f"{path}: a shard of another shift ({', '.join(differs)} differ); "
            "choose another folder or remove it"
        )
    names = [f"video{mark}.mp4", f"truth{mark}.jsonl"]
    if "cameras" in wanted:
        names.append(f"video-{SECOND}{mark}.mp4")
    return all((out / name).exists() for name in names)


def _film(
    scenery: Scenery, part: ShiftPlan, t0_s: float, partial: list[Path], frames_truth: bool,
    progress: Callable[[float], None] | None,
) -> None:  # fmt: skip
    with ExitStack() as stack:
        log = stack.enter_context(FrameLog(partial[1])) if frames_truth else None
        _encode(scenery.wishes, scenery.film, part, t0_s, partial[0], log, progress)


def _encode(
    wishes: Wishes, film: Film, part: ShiftPlan, t0_s: float, path: Path, log: FrameLog | None,
    progress: Callable[[float], None] | None,
) -> None:  # fmt: skip
    frames = _frames(film, part, t0_s, wishes.fps, log, progress)
    size = (film.camera.width_px, film.camera.height_px)
    encode(path, frames, size, wishes.fps, wishes.codec, wishes.crf, wishes.preset)
    if progress:
        progress(1.0)


def _frames(
    film: Film, part: ShiftPlan, t0_s: float, fps: int, log: FrameLog | None,
    progress: Callable[[float], None] | None,
) -> Iterator[tuple[int, Planes]]:  # fmt: skip
    """The shift's frames with the camera's troubles, numbered through the whole shift."""
    stamp = film.look.stamp
    film.look = replace(film.look, stamp=replace(stamp, start_s=stamp.start_s + t0_s))
    own = from_zero(part, t0_s)
    truth = FrameTruth(film, own) if log is not None else None
    troubles = Troubles(part.events, stamp.print)
    timed = ((t0_s + t, planes) for t, planes in film.frames(own, fps))
    first = round(t0_s * fps)
    for number, (t, planes) in enumerate(troubles.frames(timed)):
        if log is not None and truth is not None:
            trouble = next(
                (e.kind for e in part.events
                 if e.kind.startswith("camera/") and e.t0_s <= t <= e.t1_s), None,
            )  # fmt: skip
            log.write(first + number, t, truth.objects(t - t0_s), trouble)
        yield first + number, planes
        if progress and number % fps == 0:
            progress(min(1.0, (t - t0_s) / max(own.duration_s, 1e-9)))
