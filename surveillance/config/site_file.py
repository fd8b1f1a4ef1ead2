"""The site file: the cameras of each table, where records are stored, who is notified.

A TOML file; paths in it are taken from its own folder. It never holds a password: it names
the environment variables that do.
"""

from __future__ import annotations

import contextlib
import os
import re
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    Field,
    IPvAnyNetwork,
    StringConstraints,
    ValidationError,
    model_validator,
)

from settlement.errors import FeltwatchError
from settlement.input_file import Keys, file_fault, form_of_toml, read_toml
from surveillance.config.camera_part import CameraPart, FurtherPart, StreamPart
from surveillance.config.part import CameraName, EnvName, OptionalPath, Part, numbered, path_from
from vision.sources.url import Address

_SQLITE = "sqlite:///"

ClockTime = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]


def _host(name: str) -> str:
    bare = name.strip("[]")
    with contextlib.suppress(ValueError):
        return str(ip_address(bare))
    if not _HOST.fullmatch(name):
        raise ValueError(
            "write a name or address alone, such as pit1.example, without http:// and port"
        )
    return name


_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")
HostName = Annotated[str, AfterValidator(_host)]


class SitePart(Part):
    """The place."""

    name: str = Field("feltwatch", min_length=1, max_length=80, description="Shown on pages.")
    data_dir: Path = Field(
        Path("feltwatch-data"), description="Holds the database, evidence and clips."
    )
    weights: OptionalPath = Field(
        None, description="Folder of the networks; without it the shipped ones are used."
    )
    shifts: tuple[ClockTime, ...] = Field(
        ("06:00", "14:00", "22:00"),
        max_length=12,
        description="When shifts begin, HH:MM, one after the other; each lasts until the next.",
    )
    day_starts: ClockTime = Field("06:00", description="When the day of a report begins, HH:MM.")

    @model_validator(mode="after")
    def _shifts_follow(self) -> Self:
        # Around the clock: only once may a time be before the one that it follows.
        back = sum(a >= b for a, b in zip(self.shifts, self.shifts[1:], strict=False))
        twice = len(set(self.shifts)) < len(self.shifts)
        if twice or back > 1 or (back and self.shifts[-1] > self.shifts[0]):
            raise ValueError(
                "shifts: each begins after the one before it, once around the clock, such as "
                '["06:00", "14:00", "22:00"]'
            )
        return self


class StorePart(Part):
    """Storage of records and evidence, and how long they are kept."""

    url: str = Field(
        "",
        description="sqlite:///file or postgresql+psycopg://...; empty: SQLite in the data_dir.",
    )
    url_env: EnvName = Field(
        "", description="Environment variable that holds the URL, for one with a password."
    )
    share_cameras: bool = Field(
        False,
        description="Servers with the same cameras over one PostgreSQL database share them: each "
        "camera is watched by one, and by another when that one dies.",
    )
    keep_days: int = Field(30, ge=1, le=3650, description="Older rounds and evidence go.")
    keep_gb: float = Field(200.0, gt=0, description="Evidence beyond this goes, oldest first.")
    keep_log_days: int = Field(
        400, ge=1, le=36500, description="Older lines of the audit log go; never a younger one."
    )


class WebPart(Part):
    """Address and TLS of the web server."""

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8471, ge=0, le=65535, description="Port; 0 takes a free one.")
    names: tuple[HostName, ...] = Field(
        ("localhost",), description="Names under which browsers may ask, beside the address."
    )
    tls_cert: OptionalPath = Field(None, description="Certificate chain, PEM.")
    tls_key: OptionalPath = Field(None, description="Its key, PEM.")
    behind_tls: bool = Field(
        False, description="Browsers come over TLS that ends at a proxy before this server."
    )
    trusted_proxies: tuple[IPvAnyNetwork, ...] = Field(
        (),
        description="Addresses or networks of proxies before this server. Their X-Forwarded-For "
        "gives the client for the log and the login limit; anybody else's is ignored.",
    )

    @model_validator(mode="after")
    def _both_or_none(self) -> Self:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("tls_cert and tls_key go together; give both or none")
        return self


class EvidencePart(Part):
    """Evidence that is kept of an alert."""

    before_s: float = Field(8.0, ge=0, le=60, description="Clip before its first image.")
    after_s: float = Field(4.0, ge=0, le=60, description="Clip after its last image.")
    longest_s: float = Field(
        60.0, gt=0, le=600, description="A clip's length; of a longer span the end is kept."
    )
    ring_s: float = Field(150.0, gt=0, le=900, description="Video held in memory, a camera.")
    ring_mb: int = Field(256, ge=16, le=4096, description="Its limit, whatever the bit rate.")
    key_file: OptionalPath = Field(
        None,
        description="Private key that signs the evidence's log, made at the first start; its "
        "public key lies beside it. Without it evidence-key.pem in the data_dir; better a file "
        "that is not on the same disk.",
    )
    pkcs11_module: OptionalPath = Field(
        None,
        description="Library (.so) of a PKCS#11 token whose Ed25519 key signs in place of "
        "key_file, beside which its public key lies; the key never leaves the token.",
    )
    pkcs11_token: str = Field("", description="The token's label.")
    pkcs11_label: str = Field("feltwatch", min_length=1, description="The key's label in it.")
    pkcs11_pin_env: EnvName = Field("", description="Environment variable with the token's PIN.")
    other_folders: tuple[Path, ...] = Field(
        (),
        description="Evidence folders of other servers on the database, as mounted here: pages "
        "show what lies there too.",
    )
    checkpoint_dir: OptionalPath = Field(
        None,
        description="Folder for signed checkpoints of the log, best on another machine: "
        "'feltwatch verify' compares them.",
    )
    checkpoint_s: float = Field(
        60.0, gt=0, le=86_400, description="How often a checkpoint is taken, where the log grew."
    )
    timestamp_url: str = Field(
        "", description="RFC 3161 authority (http:// or https://) that stamps checkpoints."
    )
    timestamp_ca: OptionalPath = Field(
        None, description="Root certificate (PEM) of that authority."
    )
    timestamp_s: float = Field(
        3600.0, gt=0, le=7 * 86_400, description="How often a checkpoint is stamped at most."
    )
    keep_candidates: int = Field(
        5_000,
        ge=1,
        description="Views of rejected alerts kept for labelling; beyond it those already in a "
        "dataset go, then the oldest.",
    )

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        if self.pkcs11_module is not None and not (self.pkcs11_token and self.pkcs11_pin_env):
            raise ValueError("pkcs11_module needs pkcs11_token and pkcs11_pin_env")
        if self.timestamp_url:
            if not self.timestamp_url.startswith(("http://", "https://")):
                raise ValueError("timestamp_url: expected http://... or https://...")
            if self.timestamp_ca is None or self.checkpoint_dir is None:
                raise ValueError("timestamp_url needs timestamp_ca and checkpoint_dir")
        return self


class WebhookPart(Part):
    """An address that alerts are sent to."""

    url: str = Field(description="https://...")
    secret_env: EnvName = Field(min_length=1, description="Variable with the signing secret.")
    codes: tuple[str, ...] = Field((), description="Alert codes to send; empty: all.")
    ca_file: OptionalPath = Field(
        None,
        description="Certificate (PEM) of the authority that vouches for it; without it those "
        "whom the system trusts.",
    )
    checkpoints: bool = Field(
        False, description="It is sent the checkpoints of the evidence's log too."
    )


class FoldersPart(Part):
    """Folders that are opened to the pages."""

    folders: tuple[Path, ...] = ()


class LimitsPart(Part):
    """When a camera's process is taken to be broken, and how long the server may take to end."""

    heartbeat_s: float = Field(
        20.0, gt=0, description="Without a sign for so long, it is ended; after 2 s it is stale."
    )
    start_s: float = Field(120.0, gt=0, description="The same, until its first frame.")
    memory_mb: int = Field(3000, ge=300, description="Above this it is started again.")
    restarts: int = Field(5, ge=1, description="So many within restart_minutes, and it rests.")
    restart_minutes: float = Field(10.0, gt=0, description="See restarts.")
    rest_s: float = Field(300.0, gt=0, description="How long it rests before another attempt.")
    leave_out_first: tuple[CameraName, ...] = Field(
        (),
        description="Cameras that are not watched when this machine cannot keep up with all, in "
        "this order; after them the others, the last of the file first.",
    )
    stop_s: float = Field(
        20.0,
        ge=5,
        le=3600,
        description="The server ends within so long; evidence not written by then is written "
        "after the next start.",
    )


class SiteConfig(Part):
    """A site file, whole; see `load_site`."""

    site: SitePart = Field(default_factory=SitePart)
    store: StorePart = Field(default_factory=StorePart)
    web: WebPart = Field(default_factory=WebPart)
    cameras: tuple[CameraPart, ...] = Field((), alias="camera", description="[[camera]] parts.")
    evidence: EvidencePart = Field(default_factory=EvidencePart)
    webhooks: tuple[WebhookPart, ...] = Field((), alias="webhook")
    recordings: FoldersPart = Field(default_factory=FoldersPart)
    datasets: FoldersPart = Field(default_factory=FoldersPart)
    limits: LimitsPart = Field(default_factory=LimitsPart)

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [camera.name for camera in self.cameras]
        twice = next((n for n in names if names.count(n) > 1), None)
        if twice is not None:
            raise ValueError(f"two cameras are named {twice!r}; each needs a name of its own")
        first = self.limits.leave_out_first
        unknown = next((name for name in first if name not in names), None)
        if unknown is not None:
            raise ValueError(
                f"limits.leave_out_first: {unknown!r} is no camera of this file; its cameras are "
                f"{', '.join(names) or 'none'}"
            )
        if len(set(first)) < len(first):
            raise ValueError("limits.leave_out_first: a camera is named twice")
        return self

    @property
    def evidence_dir(self) -> Path:
        """Folder of bundles, images and clips."""
        return self.site.data_dir / "evidence"

    @property
    def key_file(self) -> Path:
        """The private key that signs the evidence's log; it lies outside of `evidence_dir`."""
        return self.evidence.key_file or self.site.data_dir / "evidence-key.pem"

    @property
    def store_url(self) -> str:
        """The database's URL; it may hold a password."""
        if self.store.url_env:
            return os.environ.get(self.store.url_env, "")
        return self.store.url or f"{_SQLITE}{self.site.data_dir.absolute()}/feltwatch.sqlite"

    def address(self, camera: StreamPart) -> Address:
        """A camera's address with its password from the environment."""
        password = os.environ.get(camera.password_env, "") if camera.password_env else ""
        return Address.parse(camera.source, camera.username, password, camera.ca_file)


def load_site(path: Path) -> SiteConfig:
    """Read and check a site file; its paths come back taken from its own folder.

    Raises FeltwatchError with file, key and what would be right.
    """
    if not path.exists():
        raise FeltwatchError(
            f"{path}: No such file or directory; 'feltwatch serve --example' prints an example"
        )
    data = read_toml(path)
    try:
        site = form_of_toml(SiteConfig, data)
    except ValidationError as error:
        raise file_fault(path, error, words_of=lambda keys: _words_of(data, keys)) from None
    return _from_folder(site, path.absolute().parent)


def _words_of(data: Any, keys: Keys) -> str:
    """The way to a value of a site file as people read it; "" for the whole.

    >>> _words_of({"camera": [{"name": "t3"}]}, ("camera", 0, "source"))
    'camera 1 (t3).source'
    >>> _words_of({}, ("web", "names", 1)), _words_of({}, ())
    ('web.names 2', '')
    """
    words: list[str] = []
    for key in keys:
        try:
            data = data[key]
        except (KeyError, IndexError, TypeError):
            data = None
        if isinstance(key, int) and words:
            name = data.get("name") if isinstance(data, dict) else None
            words[-1] = numbered(words[-1], key, name if isinstance(name, str) else None)
        else:
            words.append(str(key))
    return ".".join(words)


def _from_folder(site: SiteConfig, folder: Path) -> SiteConfig:
    def at(path: Path | None) -> Path | None:
        return None if path is None else path_from(folder, path)

    def change(part: Any, **values: Any) -> Any:
        return part.model_copy(update=values)

    def further(own: FurtherPart) -> Any:
        return change(own, source=own.source_at(folder), ca_file=at(own.ca_file))

    cameras = tuple(
        change(
            camera, table_file=at(camera.table_file), source=camera.source_at(folder),
            ca_file=at(camera.ca_file), further=tuple(further(one) for one in camera.further),
        )
        for camera in site.cameras
    )  # fmt: skip
    url = site.store.url
    if url.startswith(_SQLITE) and not url.startswith(_SQLITE + "/"):
        url = f"{_SQLITE}{path_from(folder, Path(url.removeprefix(_SQLITE)))}"
    moved: SiteConfig = change(
        site,
        site=change(site.site, data_dir=at(site.site.data_dir), weights=at(site.site.weights)),
        store=change(site.store, url=url),
        web=change(site.web, tls_cert=at(site.web.tls_cert), tls_key=at(site.web.tls_key)),
        cameras=cameras,
        webhooks=tuple(change(hook, ca_file=at(hook.ca_file)) for hook in site.webhooks),
        evidence=change(
            site.evidence,
            key_file=at(site.evidence.key_file),
            other_folders=tuple(path_from(folder, f) for f in site.evidence.other_folders),
            pkcs11_module=at(site.evidence.pkcs11_module),
            checkpoint_dir=at(site.evidence.checkpoint_dir),
            timestamp_ca=at(site.evidence.timestamp_ca),
        ),
        recordings=FoldersPart(
            folders=tuple(path_from(folder, f) for f in site.recordings.folders)
        ),
        datasets=FoldersPart(folders=tuple(path_from(folder, f) for f in site.datasets.folders)),
    )
    return moved
