"""What a watcher has seen, as bytes and back, so that a later run can go on with it.

The bytes are a pickle that is read with a fixed list of classes: a file that was tampered
with can make wrong readings, but runs nothing.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from settlement.errors import FeltwatchError

_CLASSES = frozenset(
    {
        ("vision.tracker", "Round"),
        ("vision.tracker", "Phase"),
        ("vision.tracker", "Episode"),
        ("vision.tracker", "ViewTrack"),
        ("vision.tracker", "Shot"),
        ("vision.seat_reader", "ViewReading"),
        ("vision.hands", "IndexSight"),
        ("vision.stacks", "StackSight"),
        ("vision.detections", "Detections"),
        ("builtins", "frozenset"),
        ("builtins", "set"),
        ("numpy", "ndarray"),
        ("numpy", "dtype"),
        # Where numpy keeps its own three, before version 2 and since.
        *(
            (f"numpy.{core}.{module}", name)
            for core in ("core", "_core")
            for module, name in (
                ("multiarray", "_reconstruct"),
                ("multiarray", "scalar"),
                ("numeric", "_frombuffer"),
            )
        ),
    }
)


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """A class of the list; raises UnpicklingError for any other."""
        if (module, name) not in _CLASSES:
            raise pickle.UnpicklingError(f"{module}.{name} has no place in a snapshot")
        return super().find_class(module, name)


def dump_state(state: dict[str, Any]) -> bytes:
    """The bytes of a watcher's state, whose parts are of the listed classes.

    >>> load_state(dump_state({"numbers": 3}))
    {'numbers': 3}
    """
    return pickle.dumps(state, protocol=pickle.HIGHEST_PROTOCOL)


def load_state(data: bytes) -> dict[str, Any]:
    """The state of such bytes. Raises FeltwatchError when they are damaged or hold more.

    >>> load_state(pickle.dumps(print))
    Traceback (most recent call last):
    ...
    settlement.errors.FeltwatchError: the snapshot cannot be read: builtins.print has no place \
in a snapshot
    """
    try:
        state = _Reader(io.BytesIO(data)).load()
    except Exception as error:
        # A damaged pickle may fail in any way.
        raise FeltwatchError(f"the snapshot cannot be read: {error}") from error
    if not isinstance(state, dict):
        raise FeltwatchError("the snapshot cannot be read: it is of another kind")
    return state
