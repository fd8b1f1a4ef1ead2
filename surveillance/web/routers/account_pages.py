"""The pages of accounts: login, one-time links, people, one's own account, the log."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from surveillance.accounts import Role
from surveillance.accounts.passwords import MIN_LETTERS
from surveillance.web.access import Admin, Anyone, Viewer
from surveillance.web.dependencies import AccountsHere, StoreHere
from surveillance.web.routers.accounts_api import token_form, user_of
from surveillance.web.routers.log_api import Cursor, PageFilter, log_page
from surveillance.web.routers.pages import page
from surveillance.web.routers.people_api import user_form

LOG_LINES = 100

router = APIRouter(include_in_schema=False)


@router.get("/login")
def login(
    account: Anyone,
    request: Request,
    next: Annotated[str | None, Query(max_length=2_000)] = None,
) -> Response:
    """The login; whoever is logged in is led on."""
    wanted = own_path(next)
    if account is not None:
        return RedirectResponse(wanted, 303)
    # A page of another site that leads here has the browser leave out the cookie.
    elsewhere = request.headers.get("sec-fetch-site") == "cross-site"
    return page(request, None, "login.html.j2", start={"next": wanted, "ask": elsewhere})


@router.get("/welcome")
def welcome(_: Anyone, __: AccountsHere, request: Request) -> Response:
    """The page of one-time links: choose a password, and the first admin a name."""
    return page(request, None, "welcome.html.j2", start={"min_letters": MIN_LETTERS})


@router.get("/people")
def people(account: Admin, accounts: AccountsHere, request: Request) -> Response:
    """Everybody with an account: invite, change roles, shut out, make links."""
    users = [user_form(accounts, user) for user in accounts.administration.all()]
    start = {
        "users": [user.model_dump(mode="json") for user in users],
        "roles": [role.value for role in Role],
        "me": account.id,
    }
    return page(request, account, "people.html.j2", start=start)


@router.get("/me")
def me(account: Viewer, accounts: AccountsHere, request: Request) -> Response:
    """One's own account: password and API tokens."""
    tokens = [token_form(row) for row in accounts.tokens.of(user_of(accounts, account).id)]
    start = {
        "tokens": [token.model_dump(mode="json") for token in tokens],
        "roles": [role.value for role in Role if account.role.covers(role)],
        "min_letters": MIN_LETTERS,
    }
    return page(request, account, "me.html.j2", start=start)


@router.get("/log")
def log(
    account: Admin, store: StoreHere, wanted: PageFilter, request: Request, cursor: Cursor = None
) -> Response:
    """The log of every look and act, with filters."""
    found = log_page(store, wanted, cursor or None, LOG_LINES)
    return page(request, account, "log.html.j2", found=found, wanted=wanted, is_first=not cursor)


def own_path(path: str | None) -> str:
    r"""A path of this server to go on to, "/" for all that could lead elsewhere.

    >>> own_path("/alerts?code=7"), own_path("//evil.example"), own_path("/\\evil.example")
    ('/alerts?code=7', '/', '/')
    """
    if not path or not path.startswith("/") or path.startswith(("//", "/login")):
        return "/"
    # Browsers take a backslash for a slash, and leave out tabs and line ends.
    strange = any(letter == "\\" or ord(letter) < 0x20 or ord(letter) == 0x7F for letter in path)
    return "/" if strange else path
