"""Calibrating: its page, the images for it, and the fit as JSON."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from settlement.errors import FeltwatchError
from surveillance.config.calibration_image import (
    jpeg,
    picture_of_bytes,
    picture_of_camera,
    picture_of_video,
)
from surveillance.web.access import Admin, audit
from surveillance.web.dependencies import TableShelfHere
from surveillance.web.repositories.calibration_pictures import CalibrationPictures, KeptPicture
from surveillance.web.routers.answers import tagged_file
from surveillance.web.routers.pages import page
from surveillance.web.routers.tablefiles_api import table_form
from surveillance.web.schemas.review import ErrorForm
from surveillance.web.schemas.tablefiles import (
    FitAnswer,
    FitQuestion,
    PictureForm,
    RecordingPicture,
    TableFileForm,
)
from surveillance.web.services.calibration import fit
from surveillance.web.services.errors import NotThereError
from vision.sources.base import ByteArray
from vision.sources.camera_backends import LivePlace

_Answers = dict[int | str, dict[str, Any]]
_NOT_THERE: _Answers = {404: {"model": ErrorForm, "description": "There is no such thing."}}
_REFUSED: _Answers = {422: {"model": ErrorForm, "description": "It is not an image of a table."}}
_PICTURES: _Answers = _NOT_THERE | {200: {"content": {"image/jpeg": {}}}}
_UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"image/*": {"schema": {"type": "string", "format": "binary"}}},
    }
}


def get_pictures(request: Request) -> CalibrationPictures:
    """The images of this server."""
    state = request.app.state
    if not hasattr(state, "calibration_pictures"):
        state.calibration_pictures = CalibrationPictures()
    pictures: CalibrationPictures = state.calibration_pictures
    return pictures


PicturesHere = Annotated[CalibrationPictures, Depends(get_pictures)]

router = APIRouter(tags=["calibration"])


@router.post(
    "/api/calibration/pictures",
    status_code=201,
    response_model=PictureForm,
    responses=_REFUSED,
    openapi_extra=_UPLOAD,
)
async def upload(_: Admin, pictures: PicturesHere, request: Request) -> PictureForm:
    """Send an image of the table, as the body: JPEG, PNG, WebP, BMP or TIFF."""
    data = await request.body()
    kept = await run_in_threadpool(lambda: _keep(pictures, picture_of_bytes(data), "sent"))
    await run_in_threadpool(lambda: audit(request, "picture to calibrate on sent", kept.id))
    return _picture(kept)


@router.post(
    "/api/calibration/pictures/camera/{camera}",
    status_code=201,
    responses=_NOT_THERE
    | _REFUSED
    | {409: {"model": ErrorForm, "description": "The camera gives no image now."}},
)
def of_camera(_: Admin, pictures: PicturesHere, request: Request, camera: str) -> PictureForm:
    """Take an image of a camera in its full size, or the last one seen where it gives none."""
    settings = request.app.state.settings
    site = settings.site
    part = next((c for c in site.cameras if c.name == camera), None) if site else None
    if part is None:
        raise NotThereError(f"there is no camera {camera!r} here")
    audit(request, "picture to calibrate on taken", f"camera {camera}")
    try:
        taken = picture_of_camera(LivePlace(site.address(part), part.transport))
        return _picture(_keep(pictures, taken, f"camera {camera}"))
    except FeltwatchError as error:
        data = settings.bus.picture(camera, overlay=False) if settings.bus else None
        if data is None:
            raise HTTPException(409, str(error)) from error
    return _picture(_keep(pictures, picture_of_bytes(data), f"camera {camera}, as seen last"))


@router.post(
    "/api/calibration/pictures/recording", status_code=201, responses=_NOT_THERE | _REFUSED
)
def of_recording(
    _: Admin, pictures: PicturesHere, request: Request, wanted: RecordingPicture
) -> PictureForm:
    """Take an image of a recording."""
    manager = request.app.state.settings.recordings
    if manager is None:
        raise NotThereError("this server has no recordings")
    path = manager.folders.video(wanted.folder, wanted.file)
    audit(request, "picture to calibrate on taken", f"recording {wanted.file}")
    return _picture(_keep(pictures, picture_of_video(path, wanted.at_s), path.name))


@router.get("/api/calibration/pictures/{id}", response_class=Response, responses=_PICTURES)
def picture(_: Admin, pictures: PicturesHere, request: Request, id: str) -> Response:
    """An image, JPEG."""
    kept = kept_picture(pictures, id)
    return tagged_file(request, kept.path, kept.id)


@router.post("/api/calibration/fit", responses=_REFUSED)
def fit_points(_: Admin, question: FitQuestion) -> FitAnswer:
    """Fit the points: each one's error in px and mm, the lens, and the layout in the image."""
    return fit(question.camera, question.data, question.fit_lens)


@router.get("/tables/calibrate/{id}", include_in_schema=False)
def calibrate_page(
    account: Admin, shelf: TableShelfHere, pictures: PicturesHere, request: Request, id: str
) -> Response:
    """The page to drag felt points onto an image."""
    form = table_form(shelf, id)
    start = picture_start(request, pictures, form)
    return page(request, account, "calibration.html.j2", start=start, file=form)


def picture_start(
    request: Request, pictures: CalibrationPictures, form: TableFileForm
) -> dict[str, Any]:
    """Return the start data of a page that works on an image of a table: its file and images."""
    settings = request.app.state.settings
    # Where cameras are watched the last image may be of another table.
    latest = pictures.latest(form.cameras if settings.supervisor is not None else ())
    manager = settings.recordings
    return {
        "file": form.model_dump(mode="json"),
        "picture": None if latest is None else _picture(latest).model_dump(mode="json"),
        "cameras": [camera.name for camera in settings.site.cameras] if settings.site else [],
        "folders": [str(root) for root in manager.folders.roots] if manager else [],
        "live": settings.supervisor is not None,
    }


def kept_picture(pictures: CalibrationPictures, id: str) -> KeptPicture:
    """An image that was taken in a page before. Raises NotThereError."""
    kept = pictures.get(id)
    if kept is None:
        raise NotThereError("this image is not kept any more; take it again")
    return kept


def _keep(pictures: CalibrationPictures, taken: ByteArray, name: str) -> KeptPicture:
    height, width = taken.shape[:2]
    return pictures.add(jpeg(taken), width, height, name)


def _picture(kept: KeptPicture) -> PictureForm:
    return PictureForm(
        id=kept.id,
        url=f"/api/calibration/pictures/{kept.id}",
        width_px=kept.width_px,
        height_px=kept.height_px,
        name=kept.name,
    )
