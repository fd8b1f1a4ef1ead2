"""`feltwatch serve`: watch the tables of a site, with pages, record and alerts."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from settlement.errors import FeltwatchError
from surveillance.stopped import ended_by_sigterm

if TYPE_CHECKING:
    from surveillance.config.site_file import SiteConfig
    from surveillance.serve import ServeStack

EXAMPLE = Path(__file__).parents[2] / "config" / "site_example.toml"
END_WITHIN_S = 3
_BACKLOG = 128


def serve_command(
    config: Annotated[
        Path | None, typer.Option("--config", help="The site file.", show_default=False)
    ] = None,
    example: Annotated[
        bool, typer.Option("--example", help="Print a site file to begin with, and end.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Check the site file and what it names, and end.")
    ] = False,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="In place of the file's.")
    ] = None,
) -> None:
    """Watch the tables of a site: live images, rounds and alerts in the browser.

    One process watches each camera; what they see goes to the record and to the pages. The
    first start prints a link by which the first admin chooses a name and a password. Ctrl-C
    ends everything in good order.

    Examples:

      feltwatch serve --example > site.toml

      feltwatch serve --config site.toml --check

      feltwatch serve --config site.toml
    """
    if example:
        typer.echo(EXAMPLE.read_text(encoding="utf-8"), nl=False)
        return
    if config is None:
        raise FeltwatchError(
            "--config is missing; 'feltwatch serve --example > site.toml' makes a site file"
        )
    from surveillance.config.site_check import check_site, check_works
    from surveillance.config.site_file import load_site
    from surveillance.config.site_tls import check_tls
    from surveillance.store.site_store import check_store

    site = load_site(config)
    if port is not None:
        site = site.model_copy(update={"web": site.web.model_copy(update={"port": port})})
    check_site(site, config)
    check_store(site, config, asked=check)
    check_tls(site, config)
    _check_web(site, config)
    if check:
        check_works(site, config)
        many = len(site.cameras)
        if many:
            typer.echo(f"{config}: right; {many} {'camera' if many == 1 else 'cameras'}")
        else:
            typer.echo(f"{config}: right, but without a [[camera]]: no table is watched")
        return
    _serve(site, config)


def _check_web(site: SiteConfig, config: Path) -> None:
    from surveillance.cli.datasets.review_cmd import is_loopback

    web = site.web
    if not is_loopback(web.host) and web.tls_cert is None and not web.behind_tls:
        raise FeltwatchError(
            f"{config}: web.host: {web.host} is reached by other machines, and passwords would "
            "go there unencrypted; give tls_cert and tls_key, or behind_tls = true where TLS "
            "ends at a proxy"
        )


def _serve(site: SiteConfig, config: Path) -> None:
    import ssl

    import uvicorn

    from surveillance.live.data_lock import data_lock
    from surveillance.serve import serve_stack, settle_memory

    # All that it writes, here and in the processes of its cameras, is for its own user alone.
    os.umask(0o077)
    logging.basicConfig(level=logging.WARNING, format="feltwatch: %(levelname)s: %(message)s")
    web = site.web
    with (
        data_lock(site.site.data_dir),
        listening(web.host, web.port, config) as listener,
        ended_by_sigterm(),
        serve_stack(site, config) as stack,
    ):
        scheme = "https" if web.tls_cert else "http"
        _greet(site, stack, address(scheme, web.host, listener.getsockname()[1]))
        server = uvicorn.Server(
            uvicorn.Config(
                stack.app,
                log_level="warning",
                access_log=False,
                server_header=False,
                ssl_certfile=web.tls_cert,
                ssl_keyfile=web.tls_key,
                timeout_graceful_shutdown=END_WITHIN_S,
                # By itself uvicorn believes whoever asks from this machine.
                proxy_headers=bool(web.trusted_proxies),
                forwarded_allow_ips=[str(network) for network in web.trusted_proxies],
            )
        )
        settle_memory()
        # Ctrl-C and SIGTERM are how it is meant to end; uvicorn sends them on at the end.
        try:
            with contextlib.suppress(KeyboardInterrupt):
                server.run(sockets=[listener])
        except ssl.SSLError as error:
            raise FeltwatchError(
                f"{config}: web.tls_cert: not a certificate with its key "
                f"({error.reason or 'unreadable'})"
            ) from error


def _greet(site: SiteConfig, stack: ServeStack, where: str) -> None:
    from rich.console import Console
    from rich.markup import escape

    from surveillance.accounts import first_link

    console = Console(soft_wrap=True)
    many = len(site.cameras)
    watched = f"{many} {'camera' if many == 1 else 'cameras'}"
    console.print(f"{escape(site.site.name)}: {watched}, at [bold]{escape(where)}[/] (Ctrl-C ends)")
    link = first_link(stack.store)
    if link is not None:
        console.print(
            "nobody has an account yet; the first admin opens, once and within a day: "
            f"[bold]{escape(where.rstrip('/') + link)}[/]"
        )


@contextlib.contextmanager
def listening(host: str, port: int, config: Path) -> Iterator[socket.socket]:
    """A socket that listens already, so that the address printed is the one that answers."""
    try:
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise _cannot_listen(host, port, config, error) from error
    with listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(place)
            listener.listen(_BACKLOG)
        except OSError as error:
            raise _cannot_listen(host, port, config, error) from error
        yield listener


def _cannot_listen(host: str, port: int, config: Path, error: OSError) -> FeltwatchError:
    return FeltwatchError(
        f"{config}: web.port: {host} port {port} cannot be listened on "
        f"({error.strerror or error}); choose another port, or end what holds it"
    )


def address(scheme: str, host: str, port: int) -> str:
    """The address to open.

    >>> address("http", "0.0.0.0", 8471), address("https", "::1", 443)
    ('http://127.0.0.1:8471/', 'https://[::1]:443/')
    """
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"{scheme}://{f'[{shown}]' if ':' in shown else shown}:{port}/"
