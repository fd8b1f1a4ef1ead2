"""The table files that a server may show and change, each with an id."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue, TypeAdapter, ValidationError

from datasets.simulate.house_tables import GAME_IDS, table_for
from settlement.errors import FeltwatchError
from settlement.games import terms_for
from settlement.input_file import form_of_toml
from surveillance.config.site_file import SiteConfig
from surveillance.web.repositories.tablefiles import (
    StoredTable,
    backups_of,
    distinct,
    parse_table_data,
    read_table_data,
    tables_in,
    write_table_data,
)
from surveillance.web.services.errors import NotThereError, RefusedError
from surveillance.web.services.plain_faults import Fault, fault_of_rules, faults_of
from vision.geometry.calibration import Calibration, CalibrationError
from vision.geometry.table import TableFile, load_table, table_faults

_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")
_PLAIN = TypeAdapter(dict[str, Any])


@dataclass(frozen=True, slots=True)
class ShelvedTable:
    """A table file with the id under which it is asked for, and the cameras that use it."""

    id: str
    path: Path
    cameras: tuple[str, ...]


class TableShelf:
    """The table files named by cameras, lying beside those, or in folders of recordings.

    Looked up again each time: files come and go.
    """

    def __init__(
        self,
        named: Mapping[str, Path] | None = None,
        folders: Iterable[Path] = (),
        files: Iterable[Path] = (),
    ) -> None:
        """`named` are the files of cameras by the camera's name; `folders` hold further ones."""
        self._named = dict(named or {})
        self._folders = tuple(folders)
        self._files = tuple(files)

    @classmethod
    def of_site(cls, site: SiteConfig | None) -> TableShelf:
        """The table files of a site file's cameras and folders of recordings."""
        if site is None:
            return cls()
        named = {camera.name: Path(camera.table_file) for camera in site.cameras}
        return cls(named, [Path(folder) for folder in site.recordings.folders])

    @property
    def home(self) -> Path | None:
        """Folder of new table files."""
        known = [*self._named.values(), *self._files]
        return known[0].resolve().parent if known else next(iter(self._folders), None)

    def all(self) -> tuple[ShelvedTable, ...]:
        """All table files, those of cameras first."""
        named = distinct([*self._named.values(), *self._files])
        folders = distinct([*(path.parent for path in named), *self._folders])
        beside = (path for folder in folders for path in tables_in(folder))
        return tuple(self._shelved(path) for path in distinct([*named, *beside]))

    def get(self, id: str) -> ShelvedTable:
        """The table file of an id. Raises NotThereError."""
        found = next((one for one in self.all() if one.id == id), None)
        if found is None:
            raise NotThereError(f"there is no table file {id!r} here")
        return found

    def of_path(self, path: Path) -> ShelvedTable | None:
        """The entry of a file, None when it is not among them."""
        return next((one for one in self.all() if one.path == path.resolve()), None)

    def _shelved(self, path: Path) -> ShelvedTable:
        cameras = [name for name, own in self._named.items() if own.resolve() == path]
        mark = hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:8]
        stem = re.sub(r"[^A-Za-z0-9_-]", "_", path.stem)[:40]
        return ShelvedTable(f"{stem}-{mark}", path, tuple(cameras))

    def read(self, id: str) -> tuple[ShelvedTable, StoredTable]:
        """A table file's data as it stands, right or wrong."""
        shelved = self.get(id)
        return shelved, read_table_data(shelved.path)

    def table(self, id: str) -> TableFile:
        """A table file, checked. Raises FeltwatchError naming file, key and fix."""
        return load_table(self.get(id).path)

    def write(self, id: str, data: Mapping[str, JsonValue], revision: str) -> str:
        """Put `data` in place of a revision; gives back the new one.

        Raises RefusedError with the first fault when it is no sound table file.
        """
        shelved = self.get(id)
        found = faults(data, shelved.path.parent)
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            first = found[0]
            raise RefusedError(f"{first.place or 'table file'}: {first.message}{more}")
        return write_table_data(shelved.path, _plain_data(data), revision)

    def add(self, name: str, game: str) -> ShelvedTable:
        """Make a table file of the usual table of a game. Raises RefusedError."""
        if self.home is None:
            raise RefusedError("there is no folder for table files: name one with a camera")
        if not _FILE_NAME.fullmatch(name):
            raise RefusedError("name it with letters, digits, - and _, such as pit1-t4")
        if game not in GAME_IDS:
            raise RefusedError(f"no game {game!r}; known are: {', '.join(GAME_IDS)}")
        path = self.home / f"{name}.toml"
        if path.exists():
            raise RefusedError(f"there is a table file {path.name} already")
        table = table_for(game).model_copy(update={"table": name})
        write_table_data(path, table.model_dump(mode="json", exclude_none=True), None)
        return self._shelved(path.resolve())

    def backups(self, id: str) -> int:
        """How many former states of a file are kept."""
        return len(backups_of(self.get(id).path))


def faults(data: Mapping[str, JsonValue], folder: Path) -> tuple[Fault, ...]:
    """Return the faults of a table file's data; `folder` is the file's."""
    try:
        table = form_of_toml(TableFile, data)
    except ValidationError as error:
        return faults_of(error)
    found: list[Fault] = []
    rules = table.rules.beside(folder / "table.toml")
    try:
        terms = terms_for(rules)
    except FeltwatchError as error:
        found.append(fault_of_rules(error))
    else:
        offered = {"main", *terms.tables} - {"envy"}
        for place, seat in enumerate(table.seats):
            found += [
                Fault(f"seats.{place}.spots", f"seat {seat.seat} has no spot for {wager}")
                for wager in sorted(offered - set(seat.spots))
            ]
        if terms.game.players_bank and table.dealer.house is None:
            found.append(Fault("dealer.house", "players bank here: the house wager needs a spot"))
    found += [Fault(place, message) for place, message in table_faults(table)]
    if table.camera is not None:
        try:
            Calibration.fit(table.camera)
        except CalibrationError as error:
            found.append(Fault("camera", str(error).removeprefix("camera: ")))
    for place, camera in enumerate(table.cameras):
        try:
            Calibration.fit(camera)
        except CalibrationError as error:
            why = str(error).removeprefix("camera: ")
            found.append(Fault(f"cameras.{place}", f"{camera.name}: {why}"))
    return tuple(found)


def table_of_text(text: str) -> TableFile:
    """A table file from its text, as somebody sends it. Raises RefusedError."""
    data = parse_table_data(text, "the table file")
    try:
        table = form_of_toml(TableFile, data)
    except ValidationError as error:
        first = faults_of(error)[0]
        raise RefusedError(f"the table file: {first.place}: {first.message}") from error
    if table.rules.paytable_folder is not None:
        raise RefusedError(
            "the table file: rules.paytable_folder: the house's own pay tables are read on the "
            "server only; choose a table file from the list"
        )
    return table


def _plain_data(data: Mapping[str, JsonValue]) -> dict[str, Any]:
    """Data as TOML takes it: without keys that are null, floats where the form has floats."""
    table = TableFile.model_validate(data).model_dump(mode="json")
    return _PLAIN.validate_python(_like(dict(data), table))


def _like(sent: Any, checked: Any) -> Any:
    if isinstance(sent, dict) and isinstance(checked, dict):
        return {
            key: _like(value, checked.get(key)) for key, value in sent.items() if value is not None
        }
    if isinstance(sent, list) and isinstance(checked, list) and len(sent) == len(checked):
        return [_like(one, other) for one, other in zip(sent, checked, strict=True)]
    return sent if checked is None else checked
