"""Recordings: the videos of a folder, their audits, and the timeline of one."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from settlement.errors import FeltwatchError
from surveillance.recordings import AuditManager
from surveillance.recordings.folders import further_cameras
from surveillance.recordings.preview import VideoFacts
from surveillance.recordings.results import begun_at
from surveillance.store import CameraFile, RecordingFilter, RecordingRow, Store
from surveillance.web.schemas.recordings import (
    AuditQuestion,
    CameraFileForm,
    PreviewForm,
    RecordingForm,
    RecordingPage,
    TableChoice,
    TimelineForm,
    VideoLine,
    VideoList,
)
from surveillance.web.services.errors import NotThereError
from surveillance.web.services.timeline import SoFar, alert_mark, round_mark

_PAGE = 200
MOST = 20_000
"""Rounds or alerts on one timeline: a month of a table."""


class RecordingsService:
    """Service of the pages and the API of recordings."""

    def __init__(self, store: Store, manager: AuditManager) -> None:
        self._store, self._manager = store, manager
        self._so_far = SoFar()

    def folders(self) -> list[str]:
        """The folders that recordings are taken from."""
        return [str(root) for root in self._manager.folders.roots]

    def videos(self, folder: str) -> VideoList:
        """The videos of a folder. Raises FeltwatchError when it is none, or not allowed."""
        path = self._manager.folders.folder(folder)
        last = self._last_of(str(path))
        lines = []
        for video in self._manager.folders.videos(path):
            row = last.get(video.file)
            lines.append(
                VideoLine(
                    file=video.file,
                    size=video.size,
                    written_at=datetime.fromtimestamp(video.mtime, UTC),
                    table_files=[_choice(table, path / video.file) for table in video.table_files],
                    recording=None if row is None else row.id,
                    state=None if row is None else row.state,
                )
            )
        return VideoList(folder=str(path), videos=lines)

    def page(self, cursor: str | None, limit: int, state: str | None) -> RecordingPage:
        """A page of audits."""
        found = self._store.recordings.page(RecordingFilter(state=state), cursor, limit)
        return RecordingPage(recordings=[form_of(row) for row in found.rows], next=found.next)

    def add(self, question: AuditQuestion, by: str) -> RecordingForm:
        """Queue an audit."""
        own = question
        cameras = [
            CameraFile(one.name, one.file, one.offset_s, tuple(one.more_files))
            for one in own.cameras
        ]
        row = self._manager.add(own.folder, own.file, own.table_file, by, own.more_files, cameras)
        return form_of(row)

    def get(self, id: int) -> RecordingForm:
        """One recording."""
        return form_of(self._store.recordings.get(id))

    def stop(self, id: int) -> RecordingForm:
        """Stop its audit."""
        return form_of(self._manager.request_stop(id))

    def resume(self, id: int) -> RecordingForm:
        """Go on with its audit, or repeat it."""
        return form_of(self._manager.resume(id))

    def make_preview(self, id: int) -> PreviewForm:
        """Request a preview unless there is one."""
        row = self._store.recordings.get(id)
        self._manager.videos(row)
        if self._manager.preview(row) is None:
            self._manager.want_preview(id)
        return self._preview(row)

    def video(self, id: int, preview: bool) -> tuple[Path, str]:
        """The file to play and its media type. Raises NotThereError."""
        row = self._store.recordings.get(id)
        if preview:
            path = self._manager.preview(row)
            if path is None:
                raise NotThereError(f"recording {id} has no preview yet")
            return path, "video/mp4"
        try:
            videos = self._manager.videos(row)
        except FeltwatchError as error:
            raise NotThereError(str(error)) from error
        if len(videos) > 1:
            raise NotThereError(f"recording {id} is {len(videos)} files; its preview plays them")
        return videos[0], self._manager.facts(videos).media_type

    def timeline(self, id: int) -> TimelineForm:
        """Rounds and alerts of a recording, those decided so far while it runs."""
        row = self._store.recordings.get(id)
        facts, problem = self._facts(row)
        first_s = facts.first_s if facts else 0.0
        if row.state == "done":
            found = self._store.rounds.of_recording(id, MOST)
            raised = self._store.alerts.of_recording(id, MOST)
            rounds = [round_mark(one, first_s) for one in found]
            alerts = [alert_mark(one, first_s) for one in raised]
        else:
            work, out = self._manager.work_dir(row), self._manager.out_dir(row)
            rounds, alerts = self._so_far.of_audit(work, out, first_s)
        return TimelineForm(
            recording=form_of(row),
            begun_at=begun_at(row),
            rounds=sorted(rounds, key=lambda one: one.start_s),
            alerts=sorted(alerts, key=lambda one: (one.at_s, one.alert_id)),
            playable=facts is not None and facts.playable,
            light=facts is not None and facts.light,
            width_px=facts.width_px if facts else 16,
            height_px=facts.height_px if facts else 9,
            preview=self._preview(row),
            problem=problem,
        )

    def _facts(self, row: RecordingRow) -> tuple[VideoFacts | None, str | None]:
        try:
            return self._manager.facts(self._manager.videos(row)), None
        except (FeltwatchError, OSError) as error:
            return None, str(error)

    def _preview(self, row: RecordingRow) -> PreviewForm:
        # First how far it is: it may be done between the two questions.
        report = self._manager.preview_progress(row.id)
        if self._manager.preview(row) is not None:
            return PreviewForm(state="ready", share=1.0)
        if report is None:
            return PreviewForm(state="none", share=0.0)
        if report.kind == "failed":
            return PreviewForm(state="failed", share=0.0, message=report.message)
        share = report.at_s / report.duration_s if report.duration_s else 0.0
        return PreviewForm(state="making", share=min(1.0, share))

    def _last_of(self, folder: str) -> dict[str, RecordingRow]:
        last: dict[str, RecordingRow] = {}
        cursor: str | None = None
        while True:
            page = self._store.recordings.page(RecordingFilter(folder=folder), cursor, _PAGE)
            for row in page.rows:
                for file in row.files:
                    last.setdefault(file, row)
            cursor = page.next
            if cursor is None or len(last) > MOST:
                return last


def form_of(row: RecordingRow) -> RecordingForm:
    """A recording's row as its form."""
    return RecordingForm(
        id=row.id,
        folder=row.folder,
        file=row.file,
        files=list(row.files),
        table_file=Path(row.table_file).name,
        cameras=[CameraFileForm(**asdict(camera)) for camera in row.cameras],
        state=row.state,
        at_s=row.at_s,
        duration_s=row.duration_s,
        speed=row.speed,
        rounds=row.rounds,
        alerts=row.alerts,
        message=row.message,
        created_at=row.created_at,
        updated_at=row.updated_at,
        by=row.by,
    )


def _choice(table: Path, video: Path) -> TableChoice:
    where = "" if table.parent == video.parent else f"{table.parent.name}/"
    cameras = list(further_cameras(table) or ())
    return TableChoice(path=str(table), name=f"{where}{table.name}", cameras=cameras)
