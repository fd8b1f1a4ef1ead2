"""The whole room in one server: store, cameras, recordings, webhooks and pages."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from fastapi import FastAPI

from settlement.errors import FeltwatchError
from surveillance.alerts.webhooks import Webhooks
from surveillance.config.site_check import check_site
from surveillance.config.site_file import SiteConfig
from surveillance.evidence.bundle import SigningKey, site_key
from surveillance.evidence.bundle.keys import public_path
from surveillance.evidence.bundle.site_key import token_key
from surveillance.live.camera_lock import camera_lock
from surveillance.live.checkpoints import Checkpoints
from surveillance.live.event_bus import EventBus
from surveillance.live.recorder import Recorder
from surveillance.live.sharing.table_share import TableShare, sharing_name
from surveillance.live.sharing.wall_share import WallShare
from surveillance.live.shutdown import CAMERAS_SHARE, Shutdown
from surveillance.live.supervisor import Supervisor
from surveillance.recordings import AuditManager
from surveillance.store import Store
from surveillance.store.site_store import check_store
from surveillance.web.app import create_app
from surveillance.web.security import LOOPBACK_HOSTS
from surveillance.web.settings import WebSettings

SWEEP_EVERY_S = 3600.0
_GB = 10**9

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServeStack:
    """What a server consists of; made by `serve_stack`."""

    store: Store
    bus: EventBus
    recorder: Recorder
    supervisor: Supervisor
    webhooks: Webhooks
    app: FastAPI


@contextlib.contextmanager
def serve_stack(
    site: SiteConfig, site_file: Path, *, watcher: str | None = None
) -> Iterator[ServeStack]:
    """Everything a site file asks for, started; in the end all is stopped in good order.

    Raises FeltwatchError naming file and key before anything is started. `watcher`
    ('module:function') replaces the reading, for measurements without networks.
    """
    check_site(site, site_file)
    check_store(site, site_file)
    with contextlib.ExitStack() as ends:
        webhooks = Webhooks.of(site.webhooks)
        key = evidence_key(site)
        store = ends.enter_context(Store.open(site.store_url))
        shares = site.store.share_cameras
        names = [camera.name for camera in site.cameras]
        ends.enter_context(camera_lock(store.database, names, _end_server, shared=shares))
        server = sharing_name(site)
        store.work_as(server)
        # After the recorder: the next server numbers its rounds after those stored here.
        leaving = ends.enter_context(contextlib.ExitStack())
        bus = EventBus()
        recorder = Recorder(store, bus, site.evidence_dir, webhooks, key)
        shutdown = Shutdown(site.limits.stop_s)
        ends.callback(lambda: recorder.close(max(1.0, shutdown.left_s())))
        supervisor = Supervisor(site, bus, recorder, site_file=site_file, watcher=watcher)
        recordings = AuditManager.of_site(site, store, key)
        app = create_app(
            WebSettings(
                datasets=site.datasets.folders,
                hosts=LOOPBACK_HOSTS | {n.lower() for n in (site.web.host, *site.web.names)},
                store=store,
                bus=bus,
                recorder=recorder,
                site=site,
                evidence_dir=site.evidence_dir,
                webhooks=webhooks,
                supervisor=supervisor,
                recordings=recordings,
                secure_cookies=site.web.behind_tls,
            )
        )
        webhooks.start()
        ends.callback(lambda: shutdown.run("webhooks", webhooks.stop))
        recordings.start()
        ends.callback(lambda: shutdown.run("recordings", recordings.stop))
        checkpoints = Checkpoints(site.evidence_dir, key, site.evidence, store, webhooks, server)
        checkpoints.start()
        ends.callback(lambda: shutdown.run("checkpoints", checkpoints.stop))
        ends.enter_context(_swept(site, store, key, shutdown))
        ends.callback(lambda: supervisor.stop(shutdown.left_s(CAMERAS_SHARE)))
        # Pages that listen would hold the server's end.
        ends.callback(bus.close)
        supervisor.start()
        if shares:
            share = TableShare(store.assignments, server, names, supervisor)
            wall = WallShare(store.live_tables, server, bus, supervisor)
            leaving.callback(lambda: shutdown.run("the cameras' assignment", share.leave))
            ends.callback(wall.stop)
            ends.callback(share.stop)
            share.start()
            wall.start()
        # The first of all: what the parts take counts from here on.
        ends.callback(shutdown.begin)
        yield ServeStack(store, bus, recorder, supervisor, webhooks, app)


def evidence_key(site: SiteConfig) -> SigningKey:
    """The key that signs the site's evidence: of a file, or of a PKCS#11 token.

    Raises FeltwatchError when it cannot be had.
    """
    own = site.evidence
    if own.pkcs11_module is None:
        return site_key(site.key_file, site.evidence_dir)
    try:
        from surveillance.evidence.bundle.pkcs11_key import TokenPlace, TokenSigner
    except ImportError:
        raise FeltwatchError(
            "evidence.pkcs11_module: python-pkcs11 is missing: pip install 'feltwatch[pkcs11]'"
        ) from None

    pin = os.environ.get(own.pkcs11_pin_env, "")
    place = TokenPlace(own.pkcs11_module, own.pkcs11_token, own.pkcs11_label, pin)
    return token_key(TokenSigner(place), public_path(site.key_file), site.evidence_dir)


def _end_server(why: str) -> None:
    """End as by SIGTERM: two servers must not write under one camera name."""
    log.critical("%s; this server ends", why)
    os.kill(os.getpid(), signal.SIGTERM)


@contextlib.contextmanager
def _swept(site: SiteConfig, store: Store, key: SigningKey, shutdown: Shutdown) -> Iterator[None]:
    """Keep record and evidence within the site's limits meanwhile."""
    stop = threading.Event()
    arguments = (site, store, key, stop)
    thread = threading.Thread(target=_sweep, args=arguments, name="sweep", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(shutdown.left_s())


def _sweep(site: SiteConfig, store: Store, key: SigningKey, stop: threading.Event) -> None:
    while True:
        try:
            swept = store.retention.sweep(
                datetime.now(UTC), site.store.keep_days, round(site.store.keep_gb * _GB),
                site.evidence_dir, site.store.keep_log_days, key,
            )  # fmt: skip
            for left in swept.left:
                log.warning("retention: %s", left)
        except (FeltwatchError, OSError) as error:
            log.error("retention: %s", error)
        if stop.wait(SWEEP_EVERY_S):
            return


def settle_memory() -> None:
    """Take what is loaded by now out of the garbage collector's rounds.

    Libraries leave some hundred thousand objects that live as long as the server; looking
    through them all over again holds up an answer by 0.2 s now and then.
    """
    gc.collect()
    gc.freeze()
