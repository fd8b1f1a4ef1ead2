"""A table file as the calibration page shows it for one of its further cameras."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from surveillance.web.repositories.tablefiles import StoredTable
from surveillance.web.services.errors import RefusedError
from surveillance.web.services.tablefiles import ShelvedTable, TableShelf
from vision.geometry.table import TableFile


class CameraShelf(TableShelf):
    """One table file with a further camera in the first one's place; it may not be there yet."""

    def __init__(self, path: Path, camera: str) -> None:
        """`camera` is the name of the further camera that is calibrated."""
        super().__init__(files=[path])
        self._camera = camera

    def read(self, id: str) -> tuple[ShelvedTable, StoredTable]:
        """The data with the further camera as `camera`, and no others."""
        shelved, stored = super().read(id)
        shown = {k: v for k, v in stored.data.items() if k not in ("camera", "cameras")}
        own = next((c for c in _further(stored.data) if c.get("name") == self._camera), None)
        if own is not None:
            shown["camera"] = {k: v for k, v in own.items() if k != "name"}
        return shelved, replace(stored, data=shown)

    def table(self, id: str) -> TableFile:
        """The table file, checked, with the further camera as `camera`."""
        table = super().table(id)
        own = next((c for c in table.cameras if c.name == self._camera), None)
        return table.model_copy(update={"camera": own, "cameras": ()})

    def write(self, id: str, data: Mapping[str, JsonValue], revision: str) -> str:
        """Put `data` back, its `camera` as the further one. Raises RefusedError."""
        _, stored = super().read(id)
        camera = data.get("camera")
        if not isinstance(camera, dict):
            raise RefusedError("camera: missing; mark four felt points or more")
        others = [c for c in _further(stored.data) if c.get("name") != self._camera]
        whole: dict[str, Any] = {**data, "cameras": [*others, {"name": self._camera, **camera}]}
        whole["camera"] = stored.data["camera"]
        return super().write(id, whole, revision)


def _further(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(data.get("cameras", ()))
