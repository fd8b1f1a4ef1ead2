"""A watcher's snapshot: everything it has read so far, as bytes, so that a later run can go on.

The form is a NumPy `.npz` file: `state`, one JSON document, and the arrays that it points to.
Objects are named by the short names of `_KINDS` and listed once each, so that those that share
a part still share it afterwards. Nothing in it depends on where a class is defined, and nothing
in it is executed. A snapshot of another version, or of classes with other fields, is refused.
"""

from __future__ import annotations

import dataclasses
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, ValidationError

from settlement.errors import FeltwatchError
from settlement.procedures import Phase
from vision.cards.joker_match import Sample
from vision.cards.joker_memory import JokerLook
from vision.cards.view import ViewIndex
from vision.chips.reading import ReadStack
from vision.chips.side_posterior import Posterior, Sum
from vision.detect.arms import ArmState
from vision.detect.detections import Detections
from vision.detect.motion import RestState
from vision.dice.throw import DieRead
from vision.meters.reading import MeterReading
from vision.rounds.coverage import Coverage
from vision.rounds.jackpots.lamp_watch import LampFrame
from vision.rounds.jackpots.meter_watch import MeterMemory
from vision.rounds.procedure.deal_watch import PlaceDeal
from vision.rounds.procedure.dice_watch import DiceRest
from vision.rounds.procedure.first_hands import FirstHandState
from vision.rounds.procedure.marker_bank import MarkerRest
from vision.rounds.round_state import ArmHides, ArmOver, Episode, Round, Shot, ViewTrack
from vision.rounds.tracker import OpenGap
from vision.rounds.two_readings import SamplesUse
from vision.rounds.usual_stakes import UsualStakes
from vision.rounds.view_reader import ViewReading
from vision.sensors.lamp_reading import LampReading
from vision.sources.gaps import Gap

FORM = "feltwatch watcher"
VERSION = 16


@dataclass
class WatcherState:
    """What a `TableWatcher` goes on from; `views` are (reads, since_s, rest, rests
    of the boxes of its hand) for each view."""

    round: Round | None
    latest: dict[int | None, Episode]
    bare: dict[int | None, bytes]
    between: dict[int | None, list[Episode]]
    unseen: dict[int | None, Gap]
    open_gap: OpenGap | None
    skipped: Gap | None
    coarse_s: float
    views: list[tuple[int, float, RestState, list[RestState]]]
    numbers: int
    now_s: float | None
    matches: list[float]
    felt_known: bool
    house: list[Episode]
    coverage: Coverage
    meters: MeterMemory
    arms: ArmState | None
    marker: list[tuple[RestState, list[MarkerRest]]] | None = None
    lamps: list[list[LampFrame]] | None = None
    first_hands: FirstHandState | None = None
    jokers: list[JokerLook] = field(default_factory=list)
    usual: UsualStakes | None = None
    samples: SamplesUse = field(default_factory=SamplesUse)


_KINDS: dict[str, type[Any]] = {
    "watcher": WatcherState,
    "round": Round,
    "track": ViewTrack,
    "episode": Episode,
    "shot": Shot,
    "arm": ArmOver,
    "arm hides": ArmHides,
    "reading": ViewReading,
    "index": ViewIndex,
    "stack": ReadStack,
    "posterior": Posterior,
    "sum": Sum,
    "detections": Detections,
    "gap": Gap,
    "open gap": OpenGap,
    "coverage": Coverage,
    "meters": MeterMemory,
    "meter reading": MeterReading,
    "marker rest": MarkerRest,
    "dice rest": DiceRest,
    "die": DieRead,
    "place deal": PlaceDeal,
    "lamp frame": LampFrame,
    "lamp reading": LampReading,
    "joker look": JokerLook,
    "joker sample": Sample,
    "usual stakes": UsualStakes,
    "samples": SamplesUse,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_SEQUENCES: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}


class _Object(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    kind: str
    values: list[Any]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    form: str
    version: int
    fields: dict[str, list[str]]
    objects: list[_Object]


def _fields() -> dict[str, list[str]]:
    return {name: [f.name for f in dataclasses.fields(kind)] for name, kind in _KINDS.items()}


def dump_state(state: WatcherState) -> bytes:
    """Return the bytes of a state. Raises TypeError for a value that has no form."""
    writer = _Writer()
    writer.value(state)
    document = _Document(form=FORM, version=VERSION, fields=_fields(), objects=writer.objects)
    text = json.dumps(document.model_dump(), separators=(",", ":")).encode()
    out = io.BytesIO()
    arrays = {f"a{number}": array for number, array in enumerate(writer.arrays)}
    np.savez(out, allow_pickle=False, state=np.frombuffer(text, np.uint8), **arrays)
    return out.getvalue()


def load_state(data: bytes) -> WatcherState:
    """Return the state of such bytes.

    Raises FeltwatchError when they are damaged, or of another version of feltwatch.

    >>> load_state(b"PK and nothing else")
    Traceback (most recent call last):
    ...
    settlement.errors.FeltwatchError: the snapshot cannot be read: it is not an .npz file
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            held = {name: file[name] for name in file.files}
        text = held["state"].tobytes()
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise FeltwatchError("the snapshot cannot be read: it is not an .npz file") from error
    _check_version(text)
    try:
        document = _Document.model_validate_json(text)
        if document.fields != _fields():
            raise FeltwatchError(
                "the snapshot cannot be used: another version of feltwatch with other fields "
                "wrote it; start the run from its beginning"
            )
        state = _Reader(document.objects, held).state()
    except (ValidationError, ValueError, TypeError, LookupError, RecursionError) as error:
        raise FeltwatchError(f"the snapshot cannot be read: it is damaged ({error})") from error
    return state


def _check_version(text: bytes) -> None:
    try:
        head = json.loads(text)
        form, version = head["form"], head["version"]
    except (ValueError, KeyError, TypeError) as error:
        raise FeltwatchError("the snapshot cannot be read: it names no form and version") from error
    if form != FORM or version != VERSION:
        raise FeltwatchError(
            f"the snapshot cannot be used: it is {form!r} version {version!r}, expected {FORM!r} "
            f"version {VERSION}; start the run from its beginning"
        )


class _Writer:
    """Collects the objects and arrays of a state, each once."""

    def __init__(self) -> None:
        self.objects: list[_Object] = []
        self.arrays: list[npt.NDArray[Any]] = []
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []

    def value(self, value: Any) -> Any:
        """Return the JSON form of a value: scalars as they are, the rest as `[tag, content]`."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        if isinstance(value, Phase):
            return ["phase", value.value]
        if isinstance(value, bytes):
            return ["bytes", self._array(value, np.frombuffer(value, np.uint8))]
        if isinstance(value, np.generic):
            return ["scalar", self._array(value, np.asarray(value))]
        if isinstance(value, np.ndarray):
            return ["array", self._array(value, value)]
        if isinstance(value, dict):
            return ["dict", [[self.value(k), self.value(v)] for k, v in value.items()]]
        if type(value).__name__ in _SEQUENCES and type(value) in (list, tuple, set, frozenset):
            own = value
            if isinstance(value, (set, frozenset)):
                # Seats are numbers, the dealer's place is None.
                own = sorted(value, key=lambda one: (one is not None, one))
            return [type(value).__name__, [self.value(v) for v in own]]
        return ["object", self._object(value)]

    def _array(self, owner: Any, array: npt.NDArray[Any]) -> int:
        if id(owner) not in self._numbers:
            self._numbers[id(owner)] = len(self.arrays)
            self._kept.append(owner)
            self.arrays.append(array)
        return self._numbers[id(owner)]

    def _object(self, value: Any) -> int:
        name = _NAMES.get(type(value))
        if name is None:
            raise TypeError(f"{type(value).__name__} has no form in a snapshot")
        if id(value) not in self._numbers:
            number = len(self.objects)
            self._numbers[id(value)] = number
            self._kept.append(value)
            own = _Object(kind=name, values=[])
            self.objects.append(own)
            own.values = [self.value(getattr(value, f.name)) for f in dataclasses.fields(value)]
        return self._numbers[id(value)]


class _Reader:
    """Makes the objects of a document again, each once."""

    def __init__(self, objects: list[_Object], arrays: dict[str, npt.NDArray[Any]]) -> None:
        self._objects = objects
        self._arrays = arrays
        self._made: dict[int, Any] = {}

    def state(self) -> WatcherState:
        """Return the first object. Raises TypeError when it is no watcher's state."""
        state = self._object(0)
        if not isinstance(state, WatcherState):
            raise TypeError("no watcher in it")
        return state

    def _value(self, form: Any) -> Any:
        if not isinstance(form, list):
            return form
        tag, content = form
        if tag == "object":
            return self._object(content)
        if tag == "dict":
            return {self._value(key): self._value(value) for key, value in content}
        if tag in _SEQUENCES:
            return _SEQUENCES[tag]([self._value(value) for value in content])
        if tag == "phase":
            return Phase(content)
        array = self._arrays[f"a{content}"]
        if tag == "bytes":
            return array.tobytes()
        if tag in ("array", "scalar"):
            return array if tag == "array" else array[()]
        raise ValueError(f"unknown tag {tag!r}")

    def _object(self, number: int) -> Any:
        if number not in self._made:
            own = self._objects[number]
            kind = _KINDS[own.kind]
            names = [f.name for f in dataclasses.fields(kind)]
            values = [self._value(value) for value in own.values]
            self._made[number] = kind(**dict(zip(names, values, strict=True)))
        return self._made[number]
