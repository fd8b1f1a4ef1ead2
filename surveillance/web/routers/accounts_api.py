"""The JSON API of one's own account: log in and out, password, one-time links, tokens."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from starlette.exceptions import HTTPException

from surveillance.accounts import Accounts, Role, devices
from surveillance.accounts.links import LinkKind
from surveillance.accounts.logins import TooManyLoginsError, WrongLoginError
from surveillance.accounts.sessions import LoggedIn
from surveillance.store.rows import TokenRow, User
from surveillance.web.access import (
    SESSION_COOKIE,
    Account,
    Anyone,
    Viewer,
    address_of,
    audit,
    note,
    only_logged_in,
)
from surveillance.web.dependencies import AccountsHere, keep_person
from surveillance.web.schemas.access import (
    AccountForm,
    LinkForm,
    LinkQuestion,
    LinkUse,
    LoginForm,
    NewTokenForm,
    NewTokenQuestion,
    PasswordChange,
    TokenForm,
)
from surveillance.web.schemas.review import ErrorForm, PersonForm
from surveillance.web.services.errors import NotThereError, RefusedError

_Answers = dict[int | str, dict[str, Any]]
_REFUSED: _Answers = {422: {"model": ErrorForm, "description": "What was sent cannot be taken."}}
_LOGIN: _Answers = {
    401: {"model": ErrorForm, "description": "Name or password is wrong."},
    429: {"model": ErrorForm, "description": "Too many failures; try again later."},
    503: {"model": ErrorForm, "description": "Too many log in at once; try again."},
}
_KNOWN: _Answers = {409: {"model": ErrorForm, "description": "The server has accounts."}}
_GONE: _Answers = {410: {"model": ErrorForm, "description": "The link is used or too old."}}

DEVICE_LASTS_S = 365 * 24 * 3600

router = APIRouter(prefix="/api", tags=["account"])


LoggedInHere = Annotated[Account, Depends(only_logged_in)]
TokenId = Annotated[int, Path(ge=1, le=2**63 - 1, description="Number of the token.")]


def set_session(request: Request, response: Response, login: LoggedIn) -> None:
    """Set the cookies of a login, out of reach of scripts and other sites."""
    settings = request.app.state.settings
    accounts: Accounts = request.app.state.accounts
    device = accounts.logins.device(login.user.id, request.cookies.get(devices.COOKIE, ""))
    secure = request.url.scheme == "https" or settings.secure_cookies
    response.set_cookie(
        SESSION_COOKIE, login.secret, path="/", httponly=True, samesite="strict", secure=secure
    )
    response.set_cookie(
        devices.COOKIE, device, max_age=DEVICE_LASTS_S, path="/api", httponly=True,
        samesite="strict", secure=secure,
    )  # fmt: skip


def user_of(accounts: Accounts, account: Account) -> User:
    """The person who is asking, as the store has them."""
    if account.id is None:
        raise NotThereError("this server has no accounts")
    return accounts.people.get(account.id)


def token_form(row: TokenRow) -> TokenForm:
    """A token without its secret."""
    return TokenForm(
        id=row.id,
        name=row.name,
        scope=Role(row.scope),
        created_at=row.created_at,
        expires_at=row.expires_at,
        used_at=row.used_at,
        revoked_at=row.revoked_at,
    )


@router.post("/login", responses=_LOGIN)
def log_in(
    _: Anyone, form: LoginForm, accounts: AccountsHere, request: Request, response: Response
) -> AccountForm:
    """Log in; the answer sets the cookie. A login that there was before is closed."""
    metrics = request.app.state.metrics
    try:
        login = accounts.logins.log_in(
            form.name,
            form.password,
            address_of(request),
            request.headers.get("user-agent", ""),
            instead_of=request.cookies.get(SESSION_COOKIE, ""),
            device=request.cookies.get(devices.COOKIE, ""),
        )
    except WrongLoginError:
        metrics.login("wrong")
        note(request, "", "login refused", form.name[:60])
        raise
    except TooManyLoginsError:
        metrics.login("too_many")
        note(request, "", "login refused", form.name[:60], {"why": "too many failures"})
        raise
    metrics.login("good")
    note(request, login.user.name, "logged in", login.user.name)
    set_session(request, response, login)
    return _session_form(login)


@router.post("/logout", status_code=204)
def log_out(account: Viewer, accounts: AccountsHere, request: Request, response: Response) -> None:
    """Log out; the login is closed on the server too."""
    if account.via == "session":
        accounts.sessions.close(request.cookies[SESSION_COOKIE])
    response.delete_cookie(SESSION_COOKIE, path="/", httponly=True, samesite="strict")
    audit(request, "logged out", account.name)


@router.get("/me")
def me(account: Viewer) -> AccountForm:
    """The account of the request."""
    return AccountForm(name=account.name, role=account.role, via=account.via, scope=account.scope)


@router.put("/me", responses=_KNOWN)
def set_me(account: Viewer, form: PersonForm, response: Response) -> PersonForm:
    """Name the person at a server without accounts; the browser keeps it."""
    if account.via != "open":
        message = f"you are logged in as {account.name}; that name is kept with changes"
        raise HTTPException(409, message)
    keep_person(response, form.name)
    return form


@router.put("/me/password", responses=_REFUSED | _LOGIN)
def change_password(
    account: LoggedInHere,
    form: PasswordChange,
    accounts: AccountsHere,
    request: Request,
    response: Response,
) -> AccountForm:
    """Change one's password. Every login is closed, this one goes on under a new cookie."""
    user = user_of(accounts, account)
    try:
        accounts.logins.confirm(user.id, form.current)
    except WrongLoginError as error:
        audit(request, "password change refused", user.name)
        raise RefusedError(str(error)) from error
    accounts.administration.change_password(user, form.new)
    audit(request, "password changed", user.name)
    agent = request.headers.get("user-agent", "")
    login = accounts.sessions.open(user, address_of(request), agent)
    set_session(request, response, login)
    return _session_form(login)


@router.post("/links/look", responses=_GONE)
def look_at_link(_: Anyone, form: LinkQuestion, accounts: AccountsHere) -> LinkForm:
    """The purpose of a one-time link; it is not used up."""
    found = accounts.links.find(form.secret)
    role = Role.ADMIN if found.user is None else Role(found.user.role)
    name = None if found.user is None else found.user.name
    return LinkForm(kind=found.kind.value, name=name, role=role, expires_at=found.expires_at)


@router.post("/links/use", responses=_GONE | _REFUSED)
def use_link(
    _: Anyone, form: LinkUse, accounts: AccountsHere, request: Request, response: Response
) -> AccountForm:
    """Choose a password by a one-time link, and be logged in. All other logins are closed."""
    kind = accounts.links.find(form.secret).kind
    user = accounts.links.use(form.secret, form.name or "", form.password)
    act = {
        LinkKind.FIRST: "first admin made",
        LinkKind.INVITE: "invitation taken up",
        LinkKind.RESET: "password changed",
    }[kind]
    note(request, user.name, act, user.name, {"link": kind.value})
    agent = request.headers.get("user-agent", "")
    previous = request.cookies.get(SESSION_COOKIE, "")
    login = accounts.sessions.open(user, address_of(request), agent, instead_of=previous)
    set_session(request, response, login)
    return _session_form(login)


@router.get("/tokens")
def tokens(account: Viewer, accounts: AccountsHere) -> list[TokenForm]:
    """One's own tokens, revoked ones too."""
    return [token_form(row) for row in accounts.tokens.of(user_of(accounts, account).id)]


@router.post("/tokens", status_code=201, responses=_REFUSED)
def make_token(
    account: LoggedInHere, form: NewTokenQuestion, accounts: AccountsHere, request: Request
) -> NewTokenForm:
    """Make a token for programs, of one's own role at most. Its secret is returned only here."""
    if form.expires_at is not None and form.expires_at.tzinfo is None:
        raise RefusedError("expires_at: give the time zone too, such as 2027-01-31T00:00:00Z")
    made = accounts.tokens.make(user_of(accounts, account), form.name, form.scope, form.expires_at)
    detail = {"name": form.name, "scope": form.scope.value}
    audit(request, "token made", f"token {made.row.id}", detail)
    return NewTokenForm(token=token_form(made.row), secret=made.secret)


@router.delete("/tokens/{id}", responses={404: {"model": ErrorForm}})
def revoke_token(
    account: LoggedInHere, id: TokenId, accounts: AccountsHere, request: Request
) -> TokenForm:
    """Revoke one of one's own tokens. Refused to a token: it could cut off its owner's others."""
    user = user_of(accounts, account)
    if accounts.tokens.revoke(user.id, id) is None:
        raise NotThereError(f"you have no token {id}")
    audit(request, "token revoked", f"token {id}")
    return next(token_form(row) for row in accounts.tokens.of(user.id) if row.id == id)


def _session_form(login: LoggedIn) -> AccountForm:
    return AccountForm(
        name=login.user.name,
        role=Role(login.user.role),
        via="session",
        scope=None,
        ends_at=login.expires_at,
    )
