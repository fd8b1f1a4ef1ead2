from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from surveillance.evidence.bundle.archive import check_names
from surveillance.live.camera.incident_reporter import THINNED, IncidentReporter
from surveillance.live.messages import IncidentMessage
from vision.sources.base import SourceState

KEEPS_UP: Any = SimpleNamespace(state=SourceState.RUNNING, picture_age_s=0.1, message="")


@pytest.mark.parametrize(
    "table", ["t1", "Table 3", "Pit 1/3", "Große Säle", "../../up", "<b>x</b>"]
)
def test_the_image_of_an_incident_can_be_stored_whatever_the_table_is_called(
    table: str, tmp_path: Path
) -> None:
    sent: list[IncidentMessage] = []
    sender: Any = SimpleNamespace(send=sent.append)
    clips: Any = SimpleNamespace(ask=lambda alerts: None)
    setup: Any = SimpleNamespace(camera="c1", silent_s=600.0)
    reporter = IncidentReporter(setup, table, sender, clips)
    reporter.camera(KEEPS_UP, None, 3.0, b"image", (THINNED, "too slow"))
    (message,) = sent
    assert message.alert.message == "c1: at first: too slow."
    (name,) = message.pictures
    check_names([f"pictures/{name}"])
    (tmp_path / name).write_bytes(b"image")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert message.alert.pictures == (f"evidence/{name}",)
    assert message.alert.alert_id.startswith(f"{table}-overload-")
