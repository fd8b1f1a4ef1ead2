"""Facts of a camera and one run of its stream."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from pydantic import ConfigDict


@dataclass(frozen=True, slots=True)
class CameraFacts:
    """Facts of a camera and this run of its stream that every record needs.

    `source` names the stream, without a password, and the run. `versions`: by kind its
    `name` and `sha256`, as bundles take them.
    """

    __pydantic_config__ = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    camera: str
    table: str
    game: str
    source: str
    table_file: bytes
    versions: dict[str, dict[str, Any]]

    def folder(self, at: datetime) -> PurePosixPath:
        """Folder of that day's images and clips, below the evidence folder."""
        return folder_of(self.camera, self.source, at)


def folder_of(camera: str, source: str, at: datetime) -> PurePosixPath:
    """Folder of the images and clips of a camera's run, below the evidence folder."""
    # The run of the stream keeps images of rounds of the same name apart.
    return PurePosixPath(camera) / at.strftime("%Y-%m-%d") / source.rsplit("#", 1)[-1]
