"""`feltwatch bench dataset`: each step in a process of its own, whose end is reported."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from benchmarks.labelled import _import, _measured
from settlement.errors import FeltwatchError


def test_a_step_that_is_killed_is_named_with_its_signal() -> None:
    with pytest.raises(FeltwatchError, match="raise_signal: its process was killed by SIGKILL"):
        _measured(signal.raise_signal, signal.SIGKILL)
    with pytest.raises(FeltwatchError, match=r"its process was killed by SIGTERM$"):
        _measured(signal.raise_signal, signal.SIGTERM)
    with pytest.raises(FeltwatchError, match=r"_?exit: its process ended with exit code 3"):
        _measured(os._exit, 3)


def test_the_error_of_a_step_is_the_error_of_the_command(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match=r"bench dataset: import: .*coco: is not there"):
        _measured(_import, tmp_path)
