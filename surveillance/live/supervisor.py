"""Starts a process for each camera, watches it, starts it again, and ends all in good order."""

from __future__ import annotations

import dataclasses
import threading
import time
from pathlib import Path

from settlement.errors import FeltwatchError
from surveillance.config.camera_part import CameraPart, StreamPart
from surveillance.config.site_check import check_site, check_weights
from surveillance.config.site_file import SiteConfig
from surveillance.evidence.versions import versions_of
from surveillance.live.camera.overload import LeaveOut, leave_out_order
from surveillance.live.entries import CameraEntry
from surveillance.live.event_bus import EventBus
from surveillance.live.message_router import MessageRouter, NotWatched
from surveillance.live.messages import FurtherSetup, WorkerSetup
from surveillance.live.open_alert import CameraFacts
from surveillance.live.process_supervisor import ProcessLimits, ProcessSupervisor
from surveillance.live.recorder import Recorder
from surveillance.live.states import TableState
from surveillance.store.sharing.assignments import Taken
from vision.geometry.table import TableFile
from vision.sources.camera_backends import LivePlace

SPOOL = "spool"
STOP_WITHIN_S = 15.0
LOADS_EVERY_S = 1.0


class Supervisor:
    """The cameras of a site. `start` after construction, `stop` in the end; each once."""

    def __init__(
        self,
        site: SiteConfig,
        bus: EventBus,
        recorder: Recorder,
        *,
        site_file: Path = Path("site.toml"),
        watcher: str | None = None,
    ) -> None:
        """Check everything that can be checked; raises FeltwatchError naming file and key.

        `site_file` is named in errors; `watcher` ('module:function') replaces the reading.
        """
        self._site, self._recorder = site, recorder
        self._watcher = watcher
        tables = check_site(site, site_file)
        self._weights = check_weights(site, site_file) if site.cameras else Path()
        limits = ProcessLimits(
            heartbeat_s=site.limits.heartbeat_s,
            start_s=site.limits.start_s,
            memory_bytes=site.limits.memory_mb * 2**20,
            restarts=site.limits.restarts,
            window_s=site.limits.restart_minutes * 60,
            rest_s=site.limits.rest_s,
        )
        self._limits, self._bus = limits, bus
        self._table_files = tables
        self._cameras = {camera.name: camera for camera in site.cameras}
        self._processes: dict[str, ProcessSupervisor] = {}
        self._tables = {name: table.table for name, table in tables.items()}
        self._lock = threading.Lock()
        self._rounds_before: dict[str, int] = {}
        """Last rounds of cameras that were assigned to this server, when they were."""
        self._left: dict[str, float | None] = {}
        """Until when all was taken of the cameras that are not watched here any more."""
        recorder.unwatch_others(self._cameras)
        if not site.store.share_cameras:
            for camera in site.cameras:
                self._processes[camera.name] = self._supervisor_of(camera, 0, None)
        self._stopping = threading.Event()
        self._loads = threading.Thread(target=self._balance, name="loads", daemon=True)

    def start(self) -> None:
        """Start every camera's process."""
        for process_supervisor in self._processes.values():
            process_supervisor.start()
        if len(self._cameras) > 1:
            self._loads.start()

    def _supervisor_of(
        self, camera: CameraPart, term: int, gap: NotWatched | None
    ) -> ProcessSupervisor:
        table = self._table_files[camera.name]
        state = TableState(camera=camera.name, table=table.table, game=table.rules.game)
        address = self._site.address(camera)
        router = MessageRouter(state, address, self._bus, self._recorder, term, gap)
        self._recorder.add_camera(camera.name, table.table)
        return ProcessSupervisor(camera.name, _SetUp(self, camera, table), router, self._limits)

    def watch(self, own: Taken) -> None:
        """Watch a camera that this server was assigned."""
        gap = None if own.since is None else NotWatched(own.since, own.why, own.planned)
        camera, term = own.camera, own.term
        self._rounds_before[camera] = own.last_round
        with self._lock:
            process_supervisor = self._supervisor_of(self._cameras[camera], term, gap)
            self._processes[camera] = process_supervisor
        process_supervisor.start()

    def unwatch(self, camera: str, *, is_lost: bool) -> None:
        """Watch a camera no more, or (`is_lost`) leave it to the server that watches it already.

        Returns when its process is gone.
        """
        own = self._processes.get(camera)
        if own is None:
            return
        if is_lost:
            own.hand_over()
        own.ask_to_stop()
        own.join(STOP_WITHIN_S)
        with self._lock:
            self._left[camera] = own.watched_until
            # It may have been assigned to this server again meanwhile.
            if self._processes.get(camera) is own:
                del self._processes[camera]
                self._recorder.set_watched(camera, None)

    def watching(self) -> tuple[str, ...]:
        """The cameras that are watched here."""
        with self._lock:
            return tuple(self._processes)

    def watched_until(self) -> dict[str, tuple[float | None, int]]:
        """Until when all was taken of each camera that is, or was last, watched here (None:
        nobody is to watch it), and the number of its last round."""
        with self._lock:
            known = dict(self._left)
            known.update((name, own.watched_until) for name, own in self._processes.items())
        return {
            name: (
                until,
                max(self._rounds_before.get(name, 0), self._recorder.last_journaled(name)),
            )
            for name, until in known.items()
        }

    def stop(self, timeout_s: float = STOP_WITHIN_S) -> None:
        """End every process: asked first, then made to, together within `timeout_s`."""
        self._stopping.set()
        own = list(self._processes.values())
        for process_supervisor in own:
            process_supervisor.ask_to_stop()
        until = time.monotonic() + timeout_s
        for process_supervisor in own:
            process_supervisor.join(max(0.0, until - time.monotonic()))

    def declare(self, table: str) -> None:
        """Send the cameras of a table what the store holds as declared of it now."""
        lines = self._recorder.declared(table)
        for camera, own in list(self._processes.items()):
            if self._tables[camera] == table:
                own.declare(lines)

    def restart(self, camera: str) -> None:
        """Restart a camera's process, whatever it is doing. Raises FeltwatchError."""
        process_supervisor = self._processes.get(camera)
        if process_supervisor is None and camera in self._cameras:
            raise FeltwatchError(f"camera {camera!r} is watched by another server: ask that one")
        if process_supervisor is None:
            raise FeltwatchError(f"there is no camera {camera!r} at this site")
        process_supervisor.restart()

    def process_ids(self) -> dict[str, int | None]:
        """The process of each camera; None where none runs just now."""
        return {
            name: process_supervisor.process_id
            for name, process_supervisor in list(self._processes.items())
        }

    def _balance(self) -> None:
        """Leave tables out while this machine cannot keep up with all."""
        first = self._site.limits.leave_out_first
        plan = LeaveOut(leave_out_order(list(self._cameras), first))
        while not self._stopping.wait(LOADS_EVERY_S):
            own = dict(self._processes)
            known = {name: process_supervisor.load for name, process_supervisor in own.items()}
            loads = {name: load for name, load in known.items() if load is not None}
            out = plan.look(time.monotonic(), loads)
            for name, process_supervisor in own.items():
                process_supervisor.leave_out(name in out)

    def _place(self, stream: StreamPart, size_px: tuple[int, int] | None) -> LivePlace:
        return LivePlace(self._site.address(stream), stream.transport, stream.loop, size_px)

    def set_up(
        self, camera: CameraPart, table: TableFile, run: str
    ) -> tuple[WorkerSetup, CameraFacts]:
        """Return the setup of a camera's next process, and its facts; raises FeltwatchError."""
        address = self._site.address(camera)
        table_file = camera.table_file.read_bytes()
        versions = versions_of(table, table_file, self._weights)
        facts = CameraFacts(
            camera=camera.name,
            table=table.table,
            game=table.rules.game,
            source=f"{address.shown}#{run}",
            table_file=table_file,
            versions=versions,
        )
        self._recorder.take(
            CameraEntry(
                camera=camera.name,
                table=table.table,
                source=address.shown,
                table_file_sha256=str(versions["table_file"]["sha256"]),
            )
        )
        own = table.camera
        size = None if own is None else (own.width_px, own.height_px)
        sizes = {one.name: (one.width_px, one.height_px) for one in table.cameras}
        setup = WorkerSetup(
            camera=camera.name,
            place=self._place(camera, size),
            table_file=camera.table_file,
            weights=self._weights,
            spool=self._site.site.data_dir / SPOOL / camera.name,
            evidence=self._site.evidence,
            silent_s=camera.silent_minutes * 60,
            run=run,
            rounds_before=max(
                self._rounds_before.get(camera.name, 0), self._recorder.last_round(camera.name)
            ),
            declared=self._recorder.declared(table.table),
            further=tuple(
                FurtherSetup(one.name, self._place(one, sizes.get(one.name)), one.offset_s)
                for one in camera.further
            ),
        )
        if self._watcher is not None:
            setup = dataclasses.replace(setup, watcher=self._watcher)
        return setup, facts


@dataclasses.dataclass(frozen=True, slots=True)
class _SetUp:
    supervisor: Supervisor
    camera: CameraPart
    table: TableFile

    def __call__(self, run: str) -> tuple[WorkerSetup, CameraFacts]:
        return self.supervisor.set_up(self.camera, self.table, run)
