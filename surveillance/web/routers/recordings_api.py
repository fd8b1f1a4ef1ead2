"""Recordings: their pages, and all they do as JSON."""

from __future__ import annotations

import threading
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import FileResponse, Response

from surveillance.web.access import Reviewer, Role, Viewer, audit, audit_first
from surveillance.web.dependencies import StoreHere
from surveillance.web.room_parts import PartsHere
from surveillance.web.routers.pages import page
from surveillance.web.schemas.recordings import (
    AuditQuestion,
    PreviewForm,
    RecordingForm,
    RecordingPage,
    State,
    TimelineForm,
    VideoList,
)
from surveillance.web.schemas.review import ErrorForm
from surveillance.web.services.errors import NotThereError
from surveillance.web.services.recordings import RecordingsService

_LARGEST_ID = 2**63 - 1
RecordingId = Annotated[int, Path(ge=1, le=_LARGEST_ID, description="Number of the recording.")]
_Answers = dict[int | str, dict[str, Any]]
_NOT_THERE: _Answers = {404: {"model": ErrorForm, "description": "There is no such thing."}}
_REFUSED: _Answers = _NOT_THERE | {
    422: {"model": ErrorForm, "description": "It cannot be done; the detail says why."}
}
_VIDEO: _Answers = _NOT_THERE | {
    200: {"content": {"video/*": {}}},
    206: {"description": "The range that was asked for.", "content": {"video/*": {}}},
}


_making = threading.Lock()


def get_recordings(request: Request, store: StoreHere) -> RecordingsService:
    """Return the service of recordings. Raises NotThereError on a server that audits none."""
    state = request.app.state
    if state.settings.recordings is None:
        raise NotThereError("this server audits no recordings")
    with _making:
        if getattr(state, "recordings_service", None) is None:
            state.recordings_service = RecordingsService(store, state.settings.recordings)
        service: RecordingsService = state.recordings_service
    return service


RecordingsHere = Annotated[RecordingsService, Depends(get_recordings)]

router = APIRouter(tags=["recordings"])


@router.get("/api/recordings/folders", responses=_NOT_THERE)
def folders(_: Reviewer, recordings: RecordingsHere) -> list[str]:
    """The folders that recordings are taken from; those below may be named too."""
    return recordings.folders()


@router.get("/api/recordings/videos", responses=_REFUSED)
def videos(
    _: Reviewer,
    recordings: RecordingsHere,
    request: Request,
    folder: Annotated[str, Query(min_length=1, max_length=1_000)],
) -> VideoList:
    """The videos of a folder, each with the table files that may fit it."""
    audit(request, "folder of recordings seen", folder)
    return recordings.videos(folder)


@router.get("/api/recordings", responses=_NOT_THERE)
def page_of(
    _: Viewer,
    recordings: RecordingsHere,
    cursor: Annotated[str | None, Query(max_length=500)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    state: State | None = None,
) -> RecordingPage:
    """Recordings with their audits, the last added first."""
    return recordings.page(cursor, limit, state)


@router.post("/api/recordings", status_code=201, responses=_REFUSED)
def add(
    account: Reviewer, recordings: RecordingsHere, request: Request, question: AuditQuestion
) -> RecordingForm:
    """Queue the audit of a video, or of the files of one shift as one recording.

    Refused where a recording, in whatever state, has the same files, table file, model and program.
    """
    form = recordings.add(question, account.name)
    audit(request, "audit queued", f"recording {form.id}", question.model_dump())
    return form


@router.get("/api/recordings/{id}", responses=_NOT_THERE)
def one(_: Viewer, recordings: RecordingsHere, id: RecordingId) -> RecordingForm:
    """One recording and how far its audit is."""
    return recordings.get(id)


@router.post("/api/recordings/{id}/stop", responses=_REFUSED)
def stop(
    _: Reviewer, recordings: RecordingsHere, request: Request, id: RecordingId
) -> RecordingForm:
    """Stop the audit; what was decided is kept, and it can go on."""
    form = recordings.stop(id)
    audit(request, "audit stopped", f"recording {id}")
    return form


@router.post("/api/recordings/{id}/resume", responses=_REFUSED)
def resume(
    _: Reviewer, recordings: RecordingsHere, request: Request, id: RecordingId
) -> RecordingForm:
    """Go on with an audit that was stopped, try again one that failed, or repeat one that is done.

    A repeated audit stores no round twice.
    """
    form = recordings.resume(id)
    audit(request, "audit gone on with", f"recording {id}")
    return form


@router.get("/api/recordings/{id}/timeline", response_model=TimelineForm, responses=_NOT_THERE)
def timeline(_: Viewer, recordings: RecordingsHere, id: RecordingId) -> Response:
    """Rounds and alerts of a recording; those decided so far while the audit runs."""
    # Written as it is: checking a night's thousands of marks once more takes as long again.
    form = recordings.timeline(id)
    return Response(form.model_dump_json(), media_type="application/json")


@router.post("/api/recordings/{id}/preview", responses=_REFUSED)
def preview(_: Reviewer, recordings: RecordingsHere, id: RecordingId) -> PreviewForm:
    """Request a copy that every browser plays: 720 lines, H.264."""
    return recordings.make_preview(id)


@router.get("/api/recordings/{id}/video", response_class=Response, responses=_VIDEO)
def video(
    _: Viewer,
    recordings: RecordingsHere,
    parts: PartsHere,
    request: Request,
    id: RecordingId,
    preview: bool = False,
) -> Response:
    """The video or its preview; takes `Range`."""
    path, media_type = recordings.video(id, preview)
    # A player asks for many ranges of one video.
    detail = {"preview": preview}
    audit_first(request, parts.live_views, "recording seen", f"recording {id}", detail)
    return FileResponse(path, media_type=media_type, headers={"cache-control": "private, no-cache"})


@router.get("/recordings", include_in_schema=False)
def recordings_page(account: Viewer, recordings: RecordingsHere, request: Request) -> Response:
    """All recordings."""
    start = {
        "folders": recordings.folders() if account.role.covers(Role.REVIEWER) else [],
        "may_start": account.role.covers(Role.REVIEWER),
        "page": recordings.page(None, 50, None).model_dump(mode="json"),
    }
    return page(request, account, "recordings.html.j2", start=start)


@router.get("/recordings/{id}", include_in_schema=False)
def recording_page(
    account: Viewer, recordings: RecordingsHere, request: Request, id: RecordingId
) -> Response:
    """One recording: its timeline and its video."""
    form = recordings.timeline(id)
    start = {
        "timeline": form.model_dump(mode="json"),
        "may_start": account.role.covers(Role.REVIEWER),
    }
    return page(request, account, "recordings_one.html.j2", start=start, recording=form.recording)
