"""`feltwatch calibrate`: drag felt points onto an image of the table, in the browser."""

from __future__ import annotations

import contextlib
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from settlement.errors import FeltwatchError
from surveillance.cli.datasets.review_cmd import (
    DEFAULT_PORT,
    checked_name,
    listening_on,
    login_name,
    open_when_up,
    page_address,
)

if TYPE_CHECKING:
    from surveillance.web.services.tablefiles import TableShelf


def calibrate_command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="VIDEO|IMAGE|URL",
            help="A recording, an image, a device such as /dev/video0, or rtsp://...",
        ),
    ],
    table: Annotated[
        Path,
        typer.Option("--table", help="The table file (TOML); one that is not there is made."),
    ] = Path("table.toml"),
    game: Annotated[
        str, typer.Option("--game", help="The game of a table file that is made.")
    ] = "emperors_challenge_exposed",
    camera: Annotated[
        str | None,
        typer.Option(
            "--camera",
            help="A further camera of the table by name, such as shoulder; else the first.",
        ),
    ] = None,
    at_s: Annotated[
        float, typer.Option("--at", min=0, help="Use the frame at so many seconds of a video.")
    ] = 0.0,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")
    ] = DEFAULT_PORT,
    open_browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in the browser.")
    ] = True,
) -> None:
    """Open a page that maps the camera's image to the felt, and saves it to the table file.

    The page shows the layout drawn over the image and how far each point misses, in px and
    mm. The server listens on this machine only; Ctrl-C ends it.

    Examples:

      feltwatch calibrate shift.mp4 --table tables/t3.toml

      feltwatch calibrate rtsp://10.0.0.7/stream --table tables/t3.toml

      feltwatch calibrate frame.png --table new.toml --game pai_gow_poker

      feltwatch calibrate low.mp4 --table tables/t3.toml --camera shoulder
    """
    import uvicorn

    from surveillance.config.calibration_image import jpeg, picture_of, picture_of_video
    from surveillance.web.app import create_app
    from surveillance.web.repositories.calibration_pictures import CalibrationPictures
    from surveillance.web.services.tablefiles import TableShelf
    from surveillance.web.settings import WebSettings
    from vision.sources.url import Address

    path = table.resolve()
    if path.suffix != ".toml":
        raise FeltwatchError(f"--table {table}: a table file ends in .toml")
    if not path.parent.is_dir():
        raise FeltwatchError(f"--table {table}: there is no folder {path.parent}")
    image = picture_of_video(Path(source), at_s) if at_s else picture_of(source)
    shelf = TableShelf(files=[path])
    if camera is not None:
        shelf = _further(path, camera)
    elif not path.exists():
        shelf.add(path.stem, game)
    shelved = shelf.of_path(path)
    if shelved is None:
        raise FeltwatchError(f"--table {table}: is no table file")
    app = create_app(WebSettings(person=checked_name(login_name())))
    app.state.table_shelf = shelf
    pictures = app.state.calibration_pictures = CalibrationPictures()
    height, width = image.shape[:2]
    # A camera's address may hold a password; the page shows where the image came from.
    name = Path(source).name if Path(source).exists() else Address.parse(source).shown
    pictures.add(jpeg(image), width, height, name)
    with listening_on("127.0.0.1", port) as listening:
        address = (
            f"{page_address('127.0.0.1', listening.getsockname()[1])}tables/calibrate/{shelved.id}"
        )
        console = Console()
        console.print(
            f"calibrating [bold]{escape(str(table))}[/] at [bold]{escape(address)}[/] "
            "(Ctrl-C ends)",
            soft_wrap=True,
        )
        # A script that started it waits for the address.
        console.file.flush()
        server = uvicorn.Server(
            uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
        )
        if open_browser:
            threading.Thread(target=open_when_up, args=(server, address), daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])


def _further(path: Path, camera: str) -> TableShelf:
    """The table file with a further camera to calibrate; raises FeltwatchError."""
    from surveillance.web.services.camera_shelf import CameraShelf
    from vision.geometry.table import CAMERA_NAME, load_table

    if not re.fullmatch(CAMERA_NAME, camera):
        raise FeltwatchError(
            f"--camera {camera}: write a name in small letters, digits, - and _, such as shoulder"
        )
    if not path.exists() or load_table(path).camera is None:
        raise FeltwatchError(
            f"--camera {camera}: {path} has no [camera] yet; calibrate the first one without it"
        )
    return CameraShelf(path, camera)
