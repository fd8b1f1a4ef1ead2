"""Checks of a site before anything starts; each error names the file, the key and the fix."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from settlement.errors import FeltwatchError
from settlement.games import terms_for
from surveillance.alerts.catalogue import CATALOGUE
from surveillance.alerts.webhooks import Webhooks
from surveillance.config.camera_part import CameraPart, StreamPart
from surveillance.config.part import numbered
from surveillance.config.site_file import SiteConfig
from vision.geometry.calibration import Calibration
from vision.geometry.table import TableFile, load_table
from vision.rounds.followed import check_followed
from vision.sources.file import FileSource
from vision.sources.url import Address, Kind

_CODES = tuple(one.code for one in CATALOGUE)


def check_site(site: SiteConfig, path: Path) -> dict[str, TableFile]:
    """The tables by camera; raises FeltwatchError for the first thing that is not right."""
    if site.store.url_env and not os.environ.get(site.store.url_env):
        raise FeltwatchError(
            f"{path}: store.url_env: the environment variable {site.store.url_env} is not set"
        )
    for number, hook in enumerate(site.webhooks):
        own = f"{path}: {numbered('webhook', number)}"
        if not os.environ.get(hook.secret_env):
            raise FeltwatchError(
                f"{own}.secret_env: the environment variable "
                f"{hook.secret_env} is not set; it holds the secret that signs"
            )
        unknown = next((code for code in hook.codes if code not in _CODES), None)
        if unknown is not None:
            raise FeltwatchError(
                f"{own}.codes: there is no alert code {unknown!r}; the codes "
                f"are {', '.join(_CODES)}"
            )
    try:
        # Certificates are looked at by `check_tls`, which says what is wrong with them.
        Webhooks.of([hook.model_copy(update={"ca_file": None}) for hook in site.webhooks])
    except FeltwatchError as error:
        raise FeltwatchError(f"{path}: {error}") from error
    for key in ("tls_cert", "tls_key"):
        file = getattr(site.web, key)
        if file is not None and not file.is_file():
            raise FeltwatchError(f"{path}: web.{key}: {file}: no such file")
    _check_key(site, path)
    _check_evidence(site, path)
    for key, folders in (("recordings", site.recordings), ("datasets", site.datasets)):
        for folder in folders.folders:
            if not folder.is_dir():
                raise FeltwatchError(f"{path}: {key}.folders: {folder}: no such folder")
    tables = {
        camera.name: _check_camera(
            site, camera, f"{path}: {numbered('camera', number, camera.name)}"
        )
        for number, camera in enumerate(site.cameras)
    }
    _check_writable(site, path)
    if site.cameras:
        folder = check_weights(site, path)
        _check_samples(tables, folder, path)
    return tables


def _check_samples(tables: Mapping[str, TableFile], weights: Path, path: Path) -> None:
    """Raise FeltwatchError for a table with samples of its deck that nothing compares with."""
    from vision.cards.table_deck import NO_COMPARER
    from vision.detect.openvino_runtime import LIKENESS, load_card

    sampled = [name for name, table in tables.items() if table.deck_jpeg is not None]
    if sampled and LIKENESS not in load_card(weights)["models"]:
        raise FeltwatchError(f"{path}: site.weights: {NO_COMPARER} (camera {sampled[0]})")


def _check_key(site: SiteConfig, path: Path) -> None:
    from surveillance.evidence.bundle.keys import SigningKey
    from surveillance.evidence.bundle.site_key import check_key_place

    try:
        check_key_place(site.key_file, site.evidence_dir)
        if site.key_file.exists():
            SigningKey.load(site.key_file)
    except FeltwatchError as error:
        raise FeltwatchError(f"{path}: evidence.key_file: {error}") from error


def _check_evidence(site: SiteConfig, path: Path) -> None:
    own = site.evidence
    for key in ("pkcs11_module", "timestamp_ca"):
        file = getattr(own, key)
        if file is not None and not file.is_file():
            raise FeltwatchError(f"{path}: evidence.{key}: {file}: no such file")
    if own.pkcs11_pin_env and not os.environ.get(own.pkcs11_pin_env):
        raise FeltwatchError(
            f"{path}: evidence.pkcs11_pin_env: the environment variable {own.pkcs11_pin_env} is "
            "not set; it holds the token's PIN"
        )
    folder = own.checkpoint_dir
    if folder is not None and folder.resolve().is_relative_to(site.site.data_dir.resolve()):
        raise FeltwatchError(
            f"{path}: evidence.checkpoint_dir: {folder} lies in the data_dir, where who changes "
            "the evidence may write: name a folder elsewhere, best on another machine"
        )


def check_weights(site: SiteConfig, path: Path) -> Path:
    """The folder of the networks; raises FeltwatchError when they are missing or altered."""
    from models.weights.folder import default_weights
    from vision.detect.openvino_runtime import load_card

    folder = site.site.weights or default_weights()
    try:
        load_card(folder)
    except FeltwatchError as error:
        raise FeltwatchError(f"{path}: site.weights: {error}") from error
    return folder


def _check_camera(site: SiteConfig, camera: CameraPart, place: str) -> TableFile:
    try:
        table = load_table(camera.table_file)
        terms_for(table.rules)
        check_followed(table, camera.table_file)
    except FeltwatchError as error:
        text = str(error)
        message = text if str(camera.table_file) in text else f"{camera.table_file}: {text}"
        raise FeltwatchError(f"{place}.table_file: {message}") from error
    if table.camera is None:
        raise FeltwatchError(
            f"{place}.table_file: {camera.table_file} has no [camera]: it is not calibrated; "
            "run 'feltwatch calibrate' with an image of this camera"
        )
    try:
        Calibration.fit(table.camera)
    except FeltwatchError as error:
        raise FeltwatchError(
            f"{place}.table_file: {camera.table_file}: {error}; run 'feltwatch calibrate' again"
        ) from error
    _check_stream(site, camera, place)
    for number, further in enumerate(camera.further):
        own = f"{place}.{numbered('further', number, further.name)}"
        _check_further(table, further.name, camera.table_file, own)
        _check_stream(site, further, own)
    return table


def _check_further(table: TableFile, name: str, table_file: Path, place: str) -> None:
    known = {camera.name: camera for camera in table.cameras}
    if name not in known:
        raise FeltwatchError(
            f"{place}.name: {table_file} has no camera {name!r} under [[cameras]]; it has "
            f"{', '.join(known) or 'none'}. 'feltwatch calibrate ... --camera {name}' adds it"
        )
    try:
        Calibration.fit(known[name])
    except FeltwatchError as error:
        raise FeltwatchError(
            f"{place}.name: {table_file}: cameras: {name}: {error}; run 'feltwatch calibrate' again"
        ) from error


def _check_stream(site: SiteConfig, stream: StreamPart, place: str) -> None:
    if stream.password_env and not os.environ.get(stream.password_env):
        raise FeltwatchError(
            f"{place}.password_env: the environment variable {stream.password_env} is not set; "
            "it holds the camera's password"
        )
    address = site.address(stream)
    if address.kind is Kind.FILE and not Path(address.where).is_file():
        raise FeltwatchError(f"{place}.source: {address.shown}: no such video file")


def _check_writable(site: SiteConfig, path: Path) -> None:
    # Their parents are those of the data folder, which a server closes to others.
    for folder in (site.site.data_dir, site.evidence_dir):
        _probe(folder, f"{path}: site.data_dir")


def check_works(site: SiteConfig, path: Path) -> None:
    """Open the video files and write where checkpoints go; raises FeltwatchError.

    Not done at the start of a server, which watches on where one camera or that folder fails.
    """
    for number, camera in enumerate(site.cameras):
        own = f"{path}: {numbered('camera', number, camera.name)}"
        _check_video(camera, own)
        for at, further in enumerate(camera.further):
            _check_video(further, f"{own}.{numbered('further', at, further.name)}")
    folder = site.evidence.checkpoint_dir
    if folder is not None:
        _probe(folder, f"{path}: evidence.checkpoint_dir")


def _check_video(stream: StreamPart, place: str) -> None:
    address = Address.parse(stream.source)
    if address.kind is not Kind.FILE:
        return
    try:
        with FileSource(Path(address.where)):
            pass
    except FeltwatchError as error:
        raise FeltwatchError(f"{place}.source: {error}") from error


def _probe(folder: Path, place: str) -> None:
    probe = folder / f".write-test-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise FeltwatchError(
            f"{place}: {folder} cannot be written ({error.strerror or error}); choose another or "
            "give this user the right"
        ) from error
