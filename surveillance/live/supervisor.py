"""Starts a process for each camera, watches it, starts it again, and ends all in good order."""

from __future__ import annotations

import dataclasses
import threading
import time
from pathlib import Path

from settlement.errors import FeltwatchError
from surveillance.config.site_check import check_site, check_weights
from surveillance.config.site_file import CameraPart, SiteConfig
from surveillance.evidence.versions import versions_of
from surveillance.live.camera.overload import LeaveOut, leave_out_order
from surveillance.live.entries import CameraEntry
from surveillance.live.event_bus import EventBus
from surveillance.live.message_router import MessageRouter
from surveillance.live.messages import WorkerSetup
from surveillance.live.open_alert import CameraFacts
from surveillance.live.process_supervisor import ProcessLimits, ProcessSupervisor
from surveillance.live.recorder import Recorder
from surveillance.live.states import TableState
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
        self._processes: dict[str, ProcessSupervisor] = {}
        self._tables = {name: table.table for name, table in tables.items()}
        for camera in site.cameras:
            table = tables[camera.name]
            state = TableState(camera=camera.name, table=table.table, game=table.rules.game)
            router = MessageRouter(state, site.address(camera), bus, recorder)
            set_up = _SetUp(self, camera, table)
            recorder.add_camera(camera.name, table.table)
            self._processes[camera.name] = ProcessSupervisor(camera.name, set_up, router, limits)
        self._stopping = threading.Event()
        self._loads = threading.Thread(target=self._balance, name="loads", daemon=True)

    def start(self) -> None:
        """Start every camera's process."""
        for process_supervisor in self._processes.values():
            process_supervisor.start()
        if len(self._processes) > 1:
            self._loads.start()

    def stop(self, timeout_s: float = STOP_WITHIN_S) -> None:
        """End every process: asked first, then made to, together within `timeout_s`."""
        self._stopping.set()
        for process_supervisor in self._processes.values():
            process_supervisor.ask_to_stop()
        until = time.monotonic() + timeout_s
        for process_supervisor in self._processes.values():
            process_supervisor.join(max(0.0, until - time.monotonic()))

    def declare(self, table: str) -> None:
        """Have the cameras of a table judge by what is declared of it in the store now."""
        lines = self._recorder.declared(table)
        for camera, name in self._tables.items():
            if name == table:
                self._processes[camera].declare(lines)

    def restart(self, camera: str) -> None:
        """Start a camera's process anew, whatever it is doing. Raises FeltwatchError."""
        process_supervisor = self._processes.get(camera)
        if process_supervisor is None:
            raise FeltwatchError(f"there is no camera {camera!r} at this site")
        process_supervisor.restart()

    def process_ids(self) -> dict[str, int | None]:
        """The process of each camera; None where none runs just now."""
        return {
            name: process_supervisor.process_id
            for name, process_supervisor in self._processes.items()
        }

    def _balance(self) -> None:
        """Leave tables out while this machine cannot keep up with all."""
        first = self._site.limits.leave_out_first
        plan = LeaveOut(leave_out_order(list(self._processes), first))
        while not self._stopping.wait(LOADS_EVERY_S):
            known = {
                name: process_supervisor.load
                for name, process_supervisor in self._processes.items()
            }
            loads = {name: load for name, load in known.items() if load is not None}
            out = plan.look(time.monotonic(), loads)
            for name, process_supervisor in self._processes.items():
                process_supervisor.leave_out(name in out)

    def set_up(
        self, camera: CameraPart, table: TableFile, run: str
    ) -> tuple[WorkerSetup, CameraFacts]:
        """What a camera's next process and the record of it need; raises FeltwatchError."""
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
        setup = WorkerSetup(
            camera=camera.name,
            place=LivePlace(address, camera.transport, camera.loop, size),
            table_file=camera.table_file,
            weights=self._weights,
            spool=self._site.site.data_dir / SPOOL / camera.name,
            evidence=self._site.evidence,
            silent_s=camera.silent_minutes * 60,
            run=run,
            rounds_before=self._recorder.last_round(camera.name),
            declared=self._recorder.declared(table.table),
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
