"""`feltwatch dataset review`: look through a labelled dataset in the browser."""

from __future__ import annotations

import contextlib
import getpass
import ipaddress
import socket
import threading
import time
import webbrowser
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from settlement.errors import FeltwatchError
from surveillance.cli.options import Folder

DEFAULT_PORT = 8471
_STARTS_WITHIN_S = 30.0
_BACKLOG = 128


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server bound to `host`.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def review_command(
    folder: Folder,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")
    ] = DEFAULT_PORT,
    name: Annotated[
        str | None,
        typer.Option("--name", help="Your name, kept with each change; the page asks for it."),
    ] = None,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser.")
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="A further name under which browsers ask. Repeatable."),
    ] = None,
    no_login: Annotated[
        bool,
        typer.Option(
            "--i-know-there-is-no-login",
            help="Let others reach it: whoever can, may change the dataset under any name.",
        ),
    ] = False,
) -> None:
    """Serve a page to look through a dataset's images and correct their boxes.

    Every step is saved at once; Ctrl-C ends it. With suggestions ('dataset diff --suggest') the
    page shows where a model disagrees, the images that differ most first.

    Examples:

      feltwatch dataset review cards --open

      feltwatch dataset review cards --name ann --port 9000
    """
    if not is_loopback(host) and not no_login:
        raise FeltwatchError(
            f"--host {host}: others could reach it and there is no login; listen on 127.0.0.1, "
            "or give --i-know-there-is-no-login"
        )
    try:
        import uvicorn

        from surveillance.web.app import create_app
        from surveillance.web.security import LOOPBACK_HOSTS
        from surveillance.web.settings import WebSettings
    except ModuleNotFoundError as error:
        raise FeltwatchError(
            f"review cannot start: {error.name} is not installed; try: pip install feltwatch"
        ) from error

    hosts = LOOPBACK_HOSTS | {host.lower(), *(h.lower() for h in allow_host or [])}
    person = checked_name(name or login_name())
    app = create_app(
        WebSettings(datasets=(folder,), hosts=hosts, person=person, ask_person=name is None)
    )
    with listening_on(host, port) as listening:
        address = page_address(host, listening.getsockname()[1])
        Console().print(
            f"reviewing [bold]{escape(str(folder))}[/] at [bold]{escape(address)}[/] (Ctrl-C ends)",
            soft_wrap=True,
        )
        server = uvicorn.Server(
            uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
        )
        if open_browser:
            threading.Thread(target=open_when_up, args=(server, address), daemon=True).start()
        # Ctrl-C is how it is meant to end.
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])


def checked_name(name: str) -> str:
    """A name as it is kept; raises FeltwatchError when it is none."""
    from pydantic import TypeAdapter, ValidationError

    from surveillance.web.schemas.review import PersonName

    try:
        checked: str = TypeAdapter(PersonName).validate_python(name)
    except ValidationError as error:
        raise FeltwatchError(
            f"--name {name!r}: give one line of at most 60 characters, such as --name ann"
        ) from error
    return checked


def login_name() -> str:
    """The name of whoever started the command, as the system knows it."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "reviewer"


def listening_on(host: str, port: int) -> socket.socket:
    """A socket that listens already, so that the address printed is the one that answers."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(_BACKLOG)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        raise FeltwatchError(
            f"--host {host} --port {port}: cannot be listened on ({error.strerror or error}); "
            "choose another with --port"
        ) from error
    return listening


def page_address(host: str, port: int) -> str:
    """The address to open in a browser of this machine."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/"


def open_when_up(server: object, address: str) -> None:
    """Open the page once the server answers."""
    deadline = time.monotonic() + _STARTS_WITHIN_S
    while time.monotonic() < deadline:
        if getattr(server, "started", False):
            webbrowser.open(address)
            return
        time.sleep(0.05)
