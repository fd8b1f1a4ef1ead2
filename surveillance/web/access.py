"""Authentication and authorisation of requests, and the log of acts.

Every route says what it needs by one of these parameters; one that says nothing is refused:

    @router.get("/api/alerts")
    def alerts(account: Viewer) -> ...:

    @router.post("/api/alerts/{id}/verdict")
    def judge(id: int, account: Reviewer, request: Request) -> ...:
        ...
        audit(request, "alert judged", f"alert {id}", {"verdict": "confirmed"})

A whole router may say it too: `APIRouter(dependencies=[Depends(needs(Role.VIEWER))])`; of
several roles the highest counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from urllib.parse import unquote

from fastapi import Depends, Request
from pydantic import TypeAdapter, ValidationError
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from surveillance.accounts import Accounts, Role
from surveillance.store import StoreDownError
from surveillance.web.schemas.review import PersonName
from surveillance.web.services.live_view_log import LiveViewLog

__all__ = [
    "Account",
    "Admin",
    "Anyone",
    "Reviewer",
    "Role",
    "Viewer",
    "admitted",
    "audit",
    "audit_first",
    "in_one_step",
    "needs",
    "role_of",
    "still_admitted",
]

SESSION_COOKIE = "feltwatch_session"
PERSON_COOKIE = "feltwatch_person"
ANYONE = "anyone"
_NAMES = TypeAdapter(PersonName)
_LONGEST_TARGET = 500


@dataclass(frozen=True, slots=True)
class Account:
    """The account of a request.

    `role` is what counts here: that of the person, or less when their token's `scope` is
    less. `via` "open" is the server without accounts. `id` is the person's number in the
    store; `key` identifies one session or token of the person.
    """

    name: str
    role: Role
    via: Literal["session", "token", "open"]
    scope: Role | None = None
    id: int | None = None
    key: str = ""


class NotLoggedIn(HTTPException):
    """Nobody is logged in: pages lead to the login, the API answers 401."""

    def __init__(self) -> None:
        super().__init__(
            401, "log in, or send an API token that counts", {"www-authenticate": "Bearer"}
        )


class Needs:
    """The dependency that lets through whoever has the role, and gives their `Account`."""

    def __init__(self, role: Role) -> None:
        """Let through those whose role covers `role`."""
        self.role = role

    def __call__(self, request: Request) -> Account:
        """Return the account. Raises NotLoggedIn, or HTTPException 403."""
        account = asking(request)
        if account is None:
            raise NotLoggedIn
        if not account.role.covers(self.role):
            raise HTTPException(403, f"this needs the role {self.role}; yours is {account.role}")
        return account


class _NeedsNothing:
    def __call__(self, request: Request) -> Account | None:
        return asking(request)


_NEEDS = {role: Needs(role) for role in Role}
_NEEDS_NOTHING = _NeedsNothing()


def needs(role: Role) -> Needs:
    """Return the dependency of a route that needs `role`."""
    return _NEEDS[role]


Viewer = Annotated[Account, Depends(needs(Role.VIEWER))]
Reviewer = Annotated[Account, Depends(needs(Role.REVIEWER))]
Admin = Annotated[Account, Depends(needs(Role.ADMIN))]
Anyone = Annotated[Account | None, Depends(_NEEDS_NOTHING)]
"""For the few routes that are there before the login; None when nobody is logged in."""


def only_logged_in(account: Viewer) -> Account:
    """Return the account, logged in by password: a token creates no further access."""
    if account.via != "session":
        raise HTTPException(403, "this is done logged in by name and password, not with a token")
    return account


def role_of(route: BaseRoute | Any) -> str | None:
    """The role that a route needs, "anyone" when it says so, None when it says nothing."""
    found = _calls(route)
    roles = [needed.role for needed in found if isinstance(needed, Needs)]
    if roles:
        return max(roles, key=lambda role: role.rank)
    return ANYONE if _NEEDS_NOTHING in found else None


def depends_on(route: BaseRoute | Any, call: object) -> bool:
    """Return whether a route depends on `call`, by itself or by what it depends on."""
    return call in _calls(route)


def _calls(route: BaseRoute | Any) -> set[Any]:
    found: set[Any] = set()
    waiting = [dependant] if (dependant := getattr(route, "dependant", None)) else []
    while waiting:
        dependant = waiting.pop()
        found.add(dependant.call)
        waiting.extend(dependant.dependencies)
    return found


def admitted(request: Request) -> None:
    """Refuse before anything else of a route is looked at; the application's own dependency.

    Without it a route's other dependencies could answer first and reveal to a stranger what
    there is. A route that names no role is refused: it was forgotten.
    """
    route = request.scope.get("route")
    role = role_of(route)
    if role is None:
        raise HTTPException(403, f"{request.url.path}: nobody has said who may do this")
    if role != ANYONE:
        needs(Role(role))(request)


def asking(request: Request) -> Account | None:
    """Return the account of the request, looked up once; None when nobody is logged in."""
    state = request.scope.setdefault("state", {})
    if "account" not in state:
        state["account"] = _found(request)
    account: Account | None = state["account"]
    return account


def still_admitted(request: Request, role: Role = Role.VIEWER) -> bool:
    """Whether who opened a long answer (a stream of events) would still be let in now."""
    account = _found(request)
    return account is not None and account.role.covers(role)


def _found(request: Request) -> Account | None:
    accounts: Accounts | None = request.app.state.accounts
    if accounts is None:
        return Account(_given_name(request), Role.ADMIN, "open")
    sent = request.headers.get("authorization")
    if sent is not None:
        # Whoever sends a token is judged by it alone: the Gate asks no header of them.
        kind, _, secret = sent.partition(" ")
        token = accounts.tokens.find(secret.strip()) if kind.lower() == "bearer" else None
        if token is None:
            return None
        user, scope = token.user, Role(token.scope)
        role = Role(user.role).at_most(scope)
        return Account(user.name, role, "token", scope, user.id, f"token {token.id}")
    secret = request.cookies.get(SESSION_COOKIE, "")
    found = accounts.sessions.find(secret) if secret else None
    if found is None:
        return None
    return Account(found.name, Role(found.role), "session", None, found.id, "session")


def _given_name(request: Request) -> str:
    default: str = request.app.state.settings.person
    try:
        return _NAMES.validate_python(unquote(request.cookies[PERSON_COOKIE], errors="strict"))
    except (KeyError, ValidationError, UnicodeDecodeError):
        return default


def address_of(request: Request) -> str:
    """The address from which a request came."""
    return request.client.host if request.client else ""


def audit(
    request: Request, act: str, target: str, detail: Mapping[str, object] | None = None
) -> None:
    """Write to the log that who is asking did `act` to `target`, or looked at it.

    `act` is a few words in the past ("alert judged", "clip seen"), the same each time so that
    one can filter by it; `target` names one thing ("alert 7"). Call it before a look is
    answered and after an act is done. Does nothing on a server without accounts.
    """
    account = asking(request)
    entry = dict(detail or {})
    if account is not None and account.via == "token":
        entry["by"] = account.key
    note(request, account.name if account else "", act, target, entry)


def audit_first(
    request: Request,
    views: LiveViewLog,
    act: str,
    target: str,
    detail: Mapping[str, object] | None = None,
    *,
    thing: str = "",
) -> None:
    """`audit` for what is asked for in many requests: one line for each quarter of an hour.

    It is one for each person, login or token, address and `thing`; without `thing` that is what
    the line would say.
    """
    request.scope.setdefault("state", {})["audited"] = True
    account = asking(request)
    name, key = (account.name, account.key) if account is not None else ("", "")
    who = f"{name}\n{key}\n{address_of(request)}"
    what = f"{act}\n{thing or target}\n{'' if thing else dict(detail or {})}"
    if not views.is_new(who, what):
        return
    try:
        audit(request, act, target, detail)
    except Exception:
        views.forget(who, what)
        raise


@contextmanager
def in_one_step(request: Request) -> Iterator[None]:
    """Keep an act and its line in the log, written within, both or neither."""
    store = request.app.state.settings.store
    if store is None:
        yield
        return
    with store.database.together():
        yield


def note(
    request: Request, by: str, act: str, target: str, detail: Mapping[str, object] | None = None
) -> None:
    """`audit` under another name: of who logs in, say."""
    request.scope.setdefault("state", {})["audited"] = True
    store = request.app.state.settings.store
    if store is not None:
        now = datetime.now(UTC)
        line = (by, act, _plain(target), dict(detail or {}), address_of(request))
        try:
            store.audit.write(*line, now)
        except StoreDownError:
            recorder = request.app.state.settings.recorder
            # Within one transaction with the act, the act is not done either.
            if recorder is None or store.database.is_together:
                raise
            recorder.log(*line, now)


def _plain(text: str) -> str:
    """A text that every database takes: no lone surrogates, no NUL, not endless."""
    return text[:_LONGEST_TARGET].encode("utf-8", "replace").decode().replace("\0", "?")
