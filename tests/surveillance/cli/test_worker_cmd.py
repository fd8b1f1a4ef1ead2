"""`feltwatch worker`: only over a database that several share."""

from __future__ import annotations

from pathlib import Path

import pytest

from surveillance.cli import main
from tests.surveillance.live.live_room import write_site


def test_a_site_that_keeps_its_record_in_sqlite_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = write_site(tmp_path, "film.mp4")
    assert main(["worker", "--config", str(site)]) == 2
    error = capsys.readouterr().err
    assert "site.toml: store.url: workers share a PostgreSQL database" in error
