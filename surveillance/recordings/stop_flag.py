"""The request that a process stop where it can resume later."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
from multiprocessing.sharedctypes import RawValue


class StopFlag:
    """One byte that two processes share; goes to a spawned process as its argument.

    It has no lock. The lock of a `multiprocessing.Event` stays taken for good when the process
    that asks `is_set` is killed in that moment, and whoever then sets it waits for ever.
    """

    def __init__(self) -> None:
        self._byte = RawValue(ctypes.c_ubyte)

    def set(self) -> None:
        """Ask the process to stop."""
        self._byte.value = 1

    def is_set(self) -> bool:
        """Whether it is to stop."""
        return bool(self._byte.value)


def is_left_alone() -> bool:
    """Whether the process that spawned this one is gone.

    Asked by its number as it was at the spawning: where it was killed before this process could
    ask who its parent is, that is another one already.
    """
    parent = multiprocessing.parent_process()
    return parent is not None and os.getppid() != parent.pid
