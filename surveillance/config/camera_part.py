"""The cameras of a site file: the one that watches a table, and further ones over the same felt."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from surveillance.config.part import CameraName, EnvName, OptionalPath, Part, path_from
from vision.sources.url import Address, AddressError, Kind, Transport


def _address(text: str) -> str:
    try:
        Address.parse(text)
    except AddressError as error:
        raise ValueError(str(error)) from None
    return text


class StreamPart(Part):
    """Address and options of a camera's stream."""

    source: Annotated[str, AfterValidator(_address)] = Field(
        description="rtsp://host/path, v4l2:/dev/video0, or a video file played as if live."
    )
    username: str = Field("", description="For the camera.")
    password_env: EnvName = Field("", description="Environment variable with the password.")
    ca_file: OptionalPath = Field(
        None,
        description="For rtsps://: certificate (PEM) of the authority that vouches for the "
        "camera, or the camera's own; without it those whom the system trusts.",
    )
    transport: Transport = Field("tcp", description="tcp, or udp where a camera knows no other.")
    loop: bool = Field(False, description="Play a file again and again.")

    @model_validator(mode="after")
    def _no_password_in_url(self) -> Self:
        address = Address.parse(self.source)
        if address.password:
            raise ValueError(
                "source holds a password; put it into an environment variable and name that "
                "in password_env"
            )
        if self.loop and address.kind is not Kind.FILE:
            raise ValueError("loop is for video files only")
        if self.ca_file is not None and not address.over_tls:
            raise ValueError("ca_file is for cameras over TLS only, rtsps://...")
        if self.password_env and not self.username and not address.username:
            raise ValueError("password_env is given without username")
        return self

    def source_at(self, folder: Path) -> str:
        """The source, that of a file taken from a folder."""
        address = Address.parse(self.source)
        if address.kind is not Kind.FILE:
            return self.source
        return str(path_from(folder, Path(address.where)))


class FurtherPart(StreamPart):
    """A further camera over a table: it reads the chips too."""

    name: CameraName = Field(description="As under [[cameras]] of the table file.")
    offset_s: float = Field(
        0.0,
        ge=-10,
        le=10,
        allow_inf_nan=False,
        description="So many seconds later than the first camera this one shows the same motion; "
        "below 0: earlier. Times agree by themselves where both cameras send theirs.",
    )


class CameraPart(StreamPart):
    """A camera over a table."""

    name: CameraName = Field(description="Names its files and pages; letters, digits, . _ -")
    table_file: Path = Field(description="The table file, calibrated for this camera.")
    silent_minutes: float = Field(
        10.0,
        gt=0,
        description="A busy table without a decided round for so long raises SILENT at the "
        "latest; sooner, after twice the table's own round length once that is measured and "
        "after 4 minutes before that.",
    )
    further: tuple[FurtherPart, ...] = Field(
        (), description="[[camera.further]] parts: further cameras over this table."
    )

    @model_validator(mode="after")
    def _further_differ(self) -> Self:
        names = [one.name for one in self.further]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"further: two cameras are named {twice!r}")
        return self
