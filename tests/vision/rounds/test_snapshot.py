"""The watcher's snapshot: what was read comes back, and nothing else is taken for it."""

from __future__ import annotations

import dataclasses
import io
import json
import pickle
from typing import Any

import numpy as np
import pytest

from settlement.errors import FeltwatchError
from settlement.procedures import Phase
from vision.cards.joker_match import Sample
from vision.cards.joker_memory import JokerLook
from vision.cards.view import ViewIndex
from vision.chips.reading import ReadStack
from vision.chips.side_posterior import Posterior, Sum
from vision.detect.detections import Detections
from vision.dice.throw import DieRead
from vision.meters.reading import MeterReading
from vision.rounds.coverage import Coverage
from vision.rounds.jackpots.meter_watch import MeterMemory
from vision.rounds.procedure.deal_watch import PlaceDeal
from vision.rounds.procedure.dice_watch import DiceRest
from vision.rounds.procedure.marker_bank import MarkerRest
from vision.rounds.round_state import ArmOver, Episode, Round, Shot, ViewTrack
from vision.rounds.snapshot import WatcherState, dump_state, load_state
from vision.rounds.two_readings import SamplesUse
from vision.rounds.usual_stakes import UsualStakes
from vision.rounds.view_reader import ViewReading
from vision.sources.gaps import Gap


def seen_so_far() -> WatcherState:
    random = np.random.default_rng(7)
    index = ViewIndex(
        np.array([1.5, -0.1]), 180.0, 17.0, random.random(53).astype(np.float32), 0.1 + 0.2,
        (1.0, 2.0, 3.0, 4.0), card=np.array([2.0, 1 / 3]),
    )  # fmt: skip
    posterior = Posterior((Sum(1000, (1, 1), 0.7), Sum(500, (1,), 0.25)), 0.05, 24)
    stack = ReadStack((3.25, 4.5), ("red", "red"), (0.0, 1.0, 2.0, 3.0), posterior)
    found = Detections(
        random.random((2, 4)).astype(np.float32), np.array([0.5, 0.25], np.float32),
        np.array([0, 1]), ("index", "back"),
    )  # fmt: skip
    reading = ViewReading(
        12.2, (index,), 1, {"main": (stack,)}, {}, frozenset({"envy", "commission"}), found,
        joker_marks=(index,), plain=(index,),
    )  # fmt: skip
    episode = Episode(12.0, [reading], 12.4, b"\xff\xd8 a picture")
    track = ViewTrack([episode], {"cards": Shot(np.arange(12, dtype=np.uint8), reading)}, b"bare")
    rest = np.arange(6, dtype=np.int16).reshape(2, 3)
    still = rest.astype(np.uint8)
    die = DieRead((780.5, 215.0), 0.998, (0.01, 0.0, 0.99, 0.0, 0.0, 0.0))
    sample = Sample(random.integers(0, 255, (86, 26, 3)).astype(np.uint8), (0, 3, 18, 39))
    return WatcherState(
        round=Round(
            11.0,
            {None: ViewTrack(), 2: track},
            Phase.SETTLING,
            None,
            arms=[ArmOver(1, 2, 0.5, 12.2, b"\xff\xd8 both")],
        ),
        latest={2: episode},
        bare={None: b"", 2: b"bare"},
        between={None: [episode]},
        unseen={2: Gap.between(3.0, 4.5, "dropped")},
        open_gap=None,
        skipped=Gap.between(5.0, 9.0, "jump", jumped=True),
        coarse_s=float("-inf"),
        views=[
            (0, 0.0, (0, False, None, None, []), []),
            (3, 12.0, (4, True, rest, rest, [(12.2, rest)]), [(0, True, rest, None, [])]),
        ],
        numbers=41,
        now_s=12.6,
        matches=[0.9],
        felt_known=True,
        house=[episode],
        coverage=Coverage(20.0, 1.5, {"dealer": 4.0}),
        meters=MeterMemory(
            [[(11.0, np.arange(6, dtype=np.uint8).reshape(2, 3))]],
            {11.0: [MeterReading(1234, 0.998, "1234", None, (1.0, 0.99), ((0.5, 1.0),))]},
        ),
        arms=(still, still, still, still, still, still, still, 12.6, 3.0),
        first_hands=(
            ((3, False, rest, rest, []), [DiceRest(2.0, 8.0, [(die, die)], b"jpeg")]),
            (2.0, True, 8.0, {None: PlaceDeal(7.8), 2: PlaceDeal(3.0, [4.0, 4.2], True, 2)}, []),
        ),
        marker=[((4, False, rest, None, []), [MarkerRest(3.0, 9.5, [0.99, 0.97], (812.5, 433.0))])],
        jokers=[JokerLook((sample, sample), 2, rounds=3, misses=1)],
        usual=UsualStakes([12.0, 0.9, 0.1]),
        samples=SamplesUse(5, 2),
    )


def plain(value: Any) -> Any:
    """A value in a form that `==` compares whole."""
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.shape, value.tobytes())
    if dataclasses.is_dataclass(value):
        return (type(value), *(plain(getattr(value, f.name)) for f in dataclasses.fields(value)))
    if isinstance(value, dict):
        return {key: plain(own) for key, own in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(plain(own) for own in value)
    return (type(value), value)


def with_document(data: bytes, **changed: object) -> bytes:
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        held = {name: file[name] for name in file.files}
    document = json.loads(held.pop("state").tobytes()) | changed
    out = io.BytesIO()
    text = np.frombuffer(json.dumps(document).encode(), np.uint8)
    np.savez(out, allow_pickle=False, state=text, **held)
    return out.getvalue()


def test_all_comes_back_and_is_written_alike_again() -> None:
    state = seen_so_far()
    again = load_state(dump_state(state))
    assert plain(again) == plain(state)
    assert plain(load_state(dump_state(again))) == plain(state)


def test_what_was_shared_still_is() -> None:
    again = load_state(dump_state(seen_so_far()))
    assert again.round is not None
    track = again.round.tracks[2]
    assert track.episodes[0] is again.latest[2]
    assert track.shots["cards"].reading is again.latest[2].readings[0]


def test_no_class_is_named_by_its_module() -> None:
    data = dump_state(seen_so_far())
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        text = file["state"].tobytes().decode()
    assert "vision." not in text
    assert "seat_reader" not in text


def test_scalars_of_numpy_keep_their_type() -> None:
    state = dataclasses.replace(seen_so_far(), now_s=np.float32(0.1))  # type: ignore[arg-type]
    assert isinstance(load_state(dump_state(state)).now_s, np.float32)


@pytest.mark.parametrize("version", [0, 14, "15", None])
def test_another_version_is_refused_and_named(version: object) -> None:
    data = with_document(dump_state(seen_so_far()), version=version)
    with pytest.raises(FeltwatchError, match=rf"version {version!r}, expected .* version 16;"):
        load_state(data)


def test_other_fields_are_refused() -> None:
    fields = {"watcher": ["round"]}
    with pytest.raises(FeltwatchError, match="with other fields wrote it; start the run from"):
        load_state(with_document(dump_state(seen_so_far()), fields=fields))


@pytest.mark.parametrize(
    "objects",
    [
        [],
        [{"kind": "os.system", "values": ["true"]}],
        [{"kind": "round", "values": [1.0, ["dict", []], ["phase", "bets"], None]}],
        [{"kind": "watcher", "values": [["eval", "1"], None, None, None, 0, 0.0, None, True]}],
        [{"kind": "watcher", "values": [["object", 0], *7 * [None]]}],
        [{"kind": "watcher", "values": [["array", 99], *7 * [None]]}],
    ],
)
def test_a_changed_document_is_refused(objects: object) -> None:
    with pytest.raises(FeltwatchError, match="cannot be read: it is damaged"):
        load_state(with_document(dump_state(seen_so_far()), objects=objects))


def test_a_pickle_is_never_run() -> None:
    for data in (pickle.dumps(print), pickle.dumps({"numbers": 3}), b"", b"\x93NUMPY"):
        with pytest.raises(FeltwatchError, match="it is not an"):
            load_state(data)


def test_a_cut_snapshot_is_refused() -> None:
    data = dump_state(seen_so_far())
    for length in range(0, len(data), 97):
        with pytest.raises(FeltwatchError, match="the snapshot cannot be read"):
            load_state(data[:length])


def test_a_value_without_a_form_is_not_written() -> None:
    state = dataclasses.replace(seen_so_far(), matches=object())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="object has no form in a snapshot"):
        dump_state(state)
