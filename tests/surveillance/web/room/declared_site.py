"""A site of one camera with a table file, so that facts of its table can be declared."""

from __future__ import annotations

from pathlib import Path

import tomli_w

from tests.surveillance.live.live_room import write_table
from tests.surveillance.web.room_made import CAMERA
from vision.geometry.table import TableFile


def site_file(folder: Path, table: TableFile) -> Path:
    path = write_table(folder / "table.toml", table)
    camera = {"name": CAMERA, "table_file": path.name, "source": "rtsp://10.0.0.7/stream"}
    site = folder / "site.toml"
    site.write_text(tomli_w.dumps({"camera": [camera]}))
    return site
