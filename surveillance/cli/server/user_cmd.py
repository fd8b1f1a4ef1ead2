"""`feltwatch user`: accounts by command line, also for an admin who is locked out.

Whoever can read the site file and write the store may do all of this; no password is asked
and none is shown. Each change stands in the log as done by "command line".
"""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from settlement.errors import FeltwatchError

if TYPE_CHECKING:
    from surveillance.accounts import Accounts, Role
    from surveillance.accounts.links import Link
    from surveillance.config.site_file import SiteConfig
    from surveillance.store import Store, User

BY = "command line"

user_app = typer.Typer(
    name="user",
    no_args_is_help=True,
    help="""Add people, make links, shut people out.

Passwords are chosen by their owners, by a link that works once.

Examples:

  feltwatch user add ann --role reviewer --config site.toml

  feltwatch user list --config site.toml --json

  feltwatch user reset ann --config site.toml
""",
)

Config = Annotated[Path, typer.Option("--config", help="The site file.")]
Name = Annotated[str, typer.Argument(help="The person's name.")]
RoleText = Annotated[str, typer.Option("--role", help="viewer, reviewer or admin.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@user_app.command("list")
def list_command(config: Config, as_json: AsJson = False) -> None:
    """Everybody with an account.

    Examples:

      feltwatch user list --config site.toml
    """
    with _opened(config) as (_, __, accounts):
        lines = [_line(accounts, user) for user in accounts.administration.all()]
    if as_json:
        typer.echo(json.dumps(lines))
        return
    if not lines:
        typer.echo("nobody has an account yet; feltwatch user link makes the first admin's link")
    for line in lines:
        typer.echo(f"{line['name']:<20} {line['role']:<9} {line['state']:<9} {line['since']}")


@user_app.command("add")
def add_command(
    name: Name, config: Config, role: RoleText = "viewer", as_json: AsJson = False
) -> None:
    """Add a person; prints the link by which they choose their password.

    Examples:

      feltwatch user add ann --role admin --config site.toml
    """
    with _opened(config) as (site, store, accounts):
        user, link = accounts.administration.invite(name, _role(role))
        _note(store, "person invited", user.name, {"role": user.role})
        _print_link(site, link, user.name, as_json)


@user_app.command("link")
def link_command(
    config: Config,
    name: Annotated[
        str | None, typer.Argument(help="The person's name; without one, the first admin's.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print a link for a new password; the old password counts until the link is used.

    Examples:

      feltwatch user link ann --config site.toml

      feltwatch user link --config site.toml
    """
    with _opened(config) as (site, store, accounts):
        if name is None:
            first = accounts.links.first()
            if first is None:
                raise FeltwatchError(
                    f"{config}: there are people already; name one: feltwatch user link NAME"
                )
            _note(store, "link made", "first admin", {})
            _print_link(site, first, None, as_json)
            return
        user = _user(accounts, name)
        link = accounts.administration.reset(user)
        _note(store, "link made", user.name, {})
        _print_link(site, link, user.name, as_json)


@user_app.command("reset")
def reset_command(name: Name, config: Config, as_json: AsJson = False) -> None:
    """Take away a person's password, log them out everywhere, and print a link for a new one.

    Examples:

      feltwatch user reset ann --config site.toml
    """
    with _opened(config) as (site, store, accounts):
        user = _user(accounts, name)
        link = accounts.administration.reset(user)
        accounts.people.set_password(user.id, None)
        accounts.sessions.close_all(user.id)
        _note(store, "password reset", user.name, {})
        _print_link(site, link, user.name, as_json)


@user_app.command("role")
def role_command(name: Name, role: Annotated[str, typer.Argument()], config: Config) -> None:
    """Give a person another role: viewer, reviewer or admin.

    Examples:

      feltwatch user role ann admin --config site.toml
    """
    with _opened(config) as (_, store, accounts):
        user = _user(accounts, name)
        changed = accounts.administration.set_role(user, _role(role))
        _note(store, "role changed", user.name, {"from": user.role, "to": changed.role})
        typer.echo(f"{user.name} is {changed.role} now")


@user_app.command("disable")
def disable_command(name: Name, config: Config) -> None:
    """Shut a person out at once; their API tokens are revoked.

    Examples:

      feltwatch user disable ann --config site.toml
    """
    typer.echo(f"{_set_disabled(name, config, True)} is shut out")


@user_app.command("enable")
def enable_command(name: Name, config: Config) -> None:
    """Let a person who was shut out in again.

    Examples:

      feltwatch user enable ann --config site.toml
    """
    typer.echo(f"{_set_disabled(name, config, False)} may come in again")


def _set_disabled(name: str, config: Path, disabled: bool) -> str:
    """The person's name as it is stored."""
    with _opened(config) as (_, store, accounts):
        user = accounts.administration.set_disabled(_user(accounts, name), disabled)
        _note(store, "person disabled" if disabled else "person enabled", user.name, {})
        return user.name


@contextmanager
def _opened(config: Path) -> Iterator[tuple[SiteConfig, Store, Accounts]]:
    """The site file with its store and accounts."""
    from surveillance.accounts import Accounts
    from surveillance.config.site_file import load_site
    from surveillance.store import Store

    site = load_site(config)
    site.site.data_dir.mkdir(parents=True, exist_ok=True)
    with Store.open(site.store_url) as store:
        yield site, store, Accounts(store)


def _user(accounts: Accounts, name: str) -> User:
    user = accounts.people.by_name(name)
    if user is None:
        raise FeltwatchError(f"nobody here is called {name!r}; see: feltwatch user list")
    return user


def _role(text: str) -> Role:
    from surveillance.accounts import Role

    try:
        return Role(text.lower())
    except ValueError:
        raise FeltwatchError(f"the role {text!r}: give viewer, reviewer or admin") from None


def _line(accounts: Accounts, user: User) -> dict[str, str]:
    if user.disabled:
        state = "disabled"
    else:
        state = "active" if accounts.people.password_hash(user.id) else "invited"
    since = user.created_at.date().isoformat()
    return {"name": user.name, "role": user.role, "state": state, "since": since}


def _note(store: Store, act: str, target: str, detail: dict[str, object]) -> None:
    try:
        login = getpass.getuser()
    except (OSError, KeyError):
        login = ""
    store.audit.write(BY, act, target, {**detail, "login": login})


def _print_link(site: SiteConfig, link: Link, name: str | None, as_json: bool) -> None:
    web = site.web
    scheme = "https" if web.tls_cert or web.behind_tls else "http"
    host = web.names[0] if web.names else web.host
    port = "" if web.behind_tls else f":{web.port}"
    address = f"{scheme}://{f'[{host}]' if ':' in host else host}{port}{link.path}"
    until = link.expires_at.isoformat(timespec="minutes")
    if as_json:
        typer.echo(json.dumps({"name": name, "link": address, "expires_at": until}))
    else:
        typer.echo(f"{name or 'the first admin'} opens this link, which works once, until {until}:")
        typer.echo(address)
