"""Writing a bundle: the parts into one zip, its hash into the log."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import zlib
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path

from settlement.errors import FeltwatchError
from surveillance.evidence.bundle.archive import Part, check_names, regions
from surveillance.evidence.bundle.canonical import canonical_json
from surveillance.evidence.bundle.chain import Chain
from surveillance.evidence.bundle.contents import BundleContents, BundleRef, FurtherClip
from surveillance.evidence.bundle.manifest import (
    Manifest,
    ManifestClip,
    ManifestPart,
    manifest_part,
)
from surveillance.staging import write_error

PARTIAL = ".partial-"
"""Files of this beginning are not finished; a crash may leave one."""

_CHUNK_BYTES = 1 << 20
_Source = bytes | Path


def write_bundle(folder: Path, contents: BundleContents, chain: Chain) -> BundleRef:
    """Write a bundle into `folder` and its hash into the log, both or neither.

    The file's name begins with the alert's time and ends with the beginning of its hash, so
    that no bundle is ever written over; one that stands there already is given back, without
    another line. `folder` is the log's own or below it.

    Raises FeltwatchError when the clip cannot be read, a name cannot be a part's, or the
    disk takes no more.
    """
    if contents.at.tzinfo is None:
        raise FeltwatchError(f"bundle of alert {contents.alert.alert_id}: its time has no zone")
    if not folder.resolve().is_relative_to(chain.path.parent.resolve()):
        raise FeltwatchError(f"{folder}: bundles lie beside their log {chain.path} or below it")
    sources = dict(_sources(contents))
    check_names(sources)
    parts = [_measure(name, source) for name, source in sources.items()]
    manifest = Manifest(
        alert_id=contents.alert.alert_id,
        table=contents.table,
        camera=contents.camera,
        at=contents.at.astimezone(UTC).isoformat(),
        clip_start_s=None if contents.clip_start_s is None else str(contents.clip_start_s),
        further_clips=tuple(
            ManifestClip(
                camera=one.camera, part=_clip_part(one), start_s=one.start_s, missing=one.missing
            )
            for one in contents.further_clips
        ),
        parts=tuple(
            ManifestPart(name=p.name, size=p.size, crc32=p.crc32, sha256=p.sha256) for p in parts
        ),
    ).to_bytes()
    everything = [manifest_part(manifest), *parts]
    sources = {everything[0].name: manifest, **sources}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(prefix=PARTIAL, dir=folder)
    except OSError as error:
        raise write_error(folder, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), 0o640)
            sha256 = _write(file.fileno(), everything, sources)
    except BaseException as error:
        Path(partial).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise write_error(folder, error) from error
        raise
    path = folder / _file_name(contents, sha256)
    chain.recover()  # a crash may have left this very bundle half published
    if path.exists() and file_sha256(path) == sha256:
        Path(partial).unlink(missing_ok=True)
        return BundleRef(path, sha256)
    detail = {
        "file": path.resolve().relative_to(chain.path.parent.resolve()).as_posix(),
        "sha256": sha256,
        "size": Path(partial).stat().st_size,
        "alert_id": contents.alert.alert_id,
        "code": contents.alert.code,
        "table": contents.table,
        "camera": contents.camera,
    }
    try:
        chain.append("bundle", detail, publish=(Path(partial), path))
    except FeltwatchError:
        # Where the log knows of the file, it will publish it later. Any other is in the way:
        # on a full disk each attempt would leave one more.
        if not chain.is_pending(Path(partial)):
            Path(partial).unlink(missing_ok=True)
        raise
    return BundleRef(path, sha256)


def _sources(contents: BundleContents) -> Iterator[tuple[str, _Source]]:
    yield "alert.json", contents.alert.to_json().encode()
    if contents.record is not None:
        yield "record.json", contents.record.to_json().encode()
    if contents.settlement is not None:
        yield "settlement.json", canonical_json(contents.settlement)
    yield "detections.jsonl", b"".join(canonical_json(d) + b"\n" for d in contents.detections)
    yield "versions.json", canonical_json(contents.versions)
    yield "table.toml", contents.table_file
    missing = [
        *contents.missing,
        *(
            f"the clip of {one.camera}: {one.missing}"
            for one in contents.further_clips
            if one.missing
        ),
    ]
    if missing:
        yield "missing.json", canonical_json({"missing": missing})
    for name in sorted(contents.pictures):
        yield f"pictures/{name}", contents.pictures[name]
    if contents.clip is not None:
        yield f"clip{contents.clip.suffix.lower()}", contents.clip
    for one in contents.further_clips:
        part = _clip_part(one)
        if part is not None and one.path is not None:
            yield part, one.path


def _clip_part(clip: FurtherClip) -> str | None:
    return None if clip.path is None else f"clip-{clip.camera}{clip.path.suffix.lower()}"


def _measure(name: str, source: _Source) -> Part:
    sha256, crc, size = hashlib.sha256(), 0, 0
    for chunk in _chunks(name, source):
        sha256.update(chunk)
        crc = zlib.crc32(chunk, crc)
        size += len(chunk)
    return Part(name, size, crc, sha256.hexdigest())


def _chunks(name: str, source: _Source) -> Iterator[bytes]:
    if isinstance(source, bytes):
        yield source
        return
    try:
        with source.open("rb") as handle:
            while chunk := handle.read(_CHUNK_BYTES):
                yield chunk
    except OSError as error:
        raise FeltwatchError(f"{source}: the {name} cannot be read: {error.strerror}") from error


def _write(file: int, parts: list[Part], sources: dict[str, _Source]) -> str:
    """Write the zip; returns its SHA-256."""
    whole = hashlib.sha256()

    def put(data: bytes) -> None:
        whole.update(data)
        view = memoryview(data)
        while view:
            view = view[os.write(file, view) :]

    for region in regions(parts):
        if region.expected is not None:
            put(region.expected)
            continue
        assert region.part is not None, "only parts have bytes of their own"
        written = hashlib.sha256()
        for chunk in _chunks(region.part.name, sources[region.part.name]):
            written.update(chunk)
            put(chunk)
        if written.hexdigest() != region.part.sha256:
            raise FeltwatchError(
                f"{sources[region.part.name]!s}: changed while it was put into the bundle; "
                "give a finished file"
            )
    os.fsync(file)
    return whole.hexdigest()


def file_sha256(path: Path) -> str:
    """The hash of a whole file; raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _file_name(contents: BundleContents, sha256: str) -> str:
    at = contents.at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    alert = re.sub(r"[^A-Za-z0-9_-]+", "-", contents.alert.alert_id)[:80]
    return f"{at}-{alert}-{sha256[:12]}.zip"
