"""The JSON forms of recordings: videos in folders, audits, timelines."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from vision.geometry.table import CAMERA_NAME

PathText = Annotated[
    str, StringConstraints(min_length=1, max_length=1_000, pattern=r"^[^\x00-\x1f\x7f]+$")
]
MOST_FILES = 200
"""Files of one recording."""
MOST_CAMERAS = 8
"""Further cameras of one recording."""
State = Literal["queued", "running", "stopped", "done", "failed"]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TableChoice(_Form):
    """A table file that a recording may be audited with."""

    path: str
    name: str = Field(description="Its file name, with the folder where that is another.")
    cameras: list[str] = Field(description="Names of its further cameras.")


class VideoLine(_Form):
    """A video in a folder."""

    file: str = Field(description="Path within the folder.")
    size: int = Field(description="Bytes.")
    written_at: datetime
    table_files: list[TableChoice] = Field(description="Those that may fit, the likeliest first.")
    recording: int | None = Field(description="The last audit of it, if there is one.")
    state: State | None


class VideoList(_Form):
    """The videos of a folder."""

    folder: str
    videos: list[VideoLine]


class CameraFileForm(_Form):
    """The file of a further camera, or its files of one shift."""

    name: Annotated[str, StringConstraints(pattern=CAMERA_NAME)] = Field(
        description="As under [[cameras]] of the table file."
    )
    file: PathText = Field(description="Of several files, in an answer, the first.")
    offset_s: float = Field(
        0.0, ge=-86_400, le=86_400, allow_inf_nan=False,
        description="So many seconds later than the first recording it began; below 0: earlier. "
        "Of several files it is that of the first.",
    )  # fmt: skip
    more_files: list[PathText] = Field(
        default=[], max_length=MOST_FILES - 1,
        description="Further files of the same camera and shift, in any order; their times put "
        "them in order.",
    )  # fmt: skip


class AuditQuestion(_Form):
    """A video to be audited, or the files of one shift of one camera."""

    folder: PathText
    file: PathText
    table_file: PathText
    more_files: list[PathText] = Field(
        default=[], max_length=MOST_FILES - 1,
        description="Further files of the same shift, in any order; their times put them in order.",
    )  # fmt: skip
    cameras: list[CameraFileForm] = Field(
        default=[], max_length=MOST_CAMERAS,
        description="Recordings of the table file's further cameras; they read its chips too.",
    )  # fmt: skip


class PreviewForm(_Form):
    """The copy that every browser plays."""

    state: Literal["none", "making", "ready", "failed"]
    share: float = Field(description="How much of it is made, 0 to 1.")
    message: str = ""


class RecordingForm(_Form):
    """A recording and how far its audit is; times in seconds of the recording."""

    id: int
    folder: str
    file: str = Field(description="Of several files the first.")
    files: list[str] = Field(description="All files, by start time.")
    table_file: str
    cameras: list[CameraFileForm] = Field(description="Those of further cameras.")
    state: State
    at_s: float
    duration_s: float | None
    speed: float = Field(description="Seconds of the recording a second.")
    rounds: int
    alerts: int
    message: str
    created_at: datetime
    updated_at: datetime
    by: str


class RecordingPage(_Form):
    """Recordings, the last added first."""

    recordings: list[RecordingForm]
    next: str | None


class TimelineRound(_Form):
    """A round on the timeline; `id` is its number in the store once the audit is done."""

    id: int | None
    round_id: str
    start_s: float
    end_s: float
    alerts: int
    undecided: int


class TimelineAlert(_Form):
    """An alert on the timeline."""

    id: int | None
    alert_id: str
    round_id: str | None
    code: str
    severity: str
    seat: int | None
    wager: str | None
    at_s: float
    end_s: float
    message: str
    state: str = Field(description="open, confirmed, rejected or corrected.")


class TimelineForm(_Form):
    """A recording's rounds and alerts; times in seconds from the first image."""

    recording: RecordingForm
    begun_at: datetime = Field(description="When the recording began, by its file's time.")
    rounds: list[TimelineRound]
    alerts: list[TimelineAlert]
    playable: bool = Field(description="Whether browsers play the file as it is.")
    light: bool = Field(description="Whether they play it without labour.")
    width_px: int
    height_px: int
    preview: PreviewForm
    problem: str | None = Field(description="Why the video cannot be shown, if it cannot.")
