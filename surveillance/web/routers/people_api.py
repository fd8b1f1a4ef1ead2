"""The JSON API of everybody's accounts, for admins."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from surveillance.accounts import Accounts, Role
from surveillance.accounts.links import Link
from surveillance.store.rows import User
from surveillance.web.access import Admin, audit
from surveillance.web.dependencies import AccountsHere
from surveillance.web.routers.accounts_api import TokenId, token_form
from surveillance.web.schemas.access import (
    InvitedForm,
    NewLinkForm,
    NewUser,
    TokenForm,
    UserChange,
    UserForm,
    UserPage,
)
from surveillance.web.schemas.review import ErrorForm
from surveillance.web.services.errors import NotThereError

_Answers = dict[int | str, dict[str, Any]]
_NOT_THERE: _Answers = {404: {"model": ErrorForm, "description": "There is no such person."}}
_CHANGES: _Answers = _NOT_THERE | {
    409: {"model": ErrorForm, "description": "The name is taken, or it is the last admin."},
    422: {"model": ErrorForm, "description": "What was sent cannot be taken."},
}

router = APIRouter(prefix="/api", tags=["people"])
UserId = Annotated[int, Path(ge=1, le=2**63 - 1, description="Number of the person.")]


@router.get("/users")
def users(
    _: Admin,
    accounts: AccountsHere,
    cursor: Annotated[str | None, Query(max_length=300)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> UserPage:
    """Everybody, newest first."""
    page = accounts.people.page(cursor=cursor, limit=limit)
    return UserPage(rows=[user_form(accounts, user) for user in page.rows], next=page.next)


@router.post("/users", status_code=201, responses=_CHANGES)
def invite(_: Admin, form: NewUser, accounts: AccountsHere, request: Request) -> InvitedForm:
    """Add a person. They choose a password by the link, which is returned only here."""
    user, link = accounts.administration.invite(form.name, form.role)
    audit(request, "person invited", user.name, {"role": form.role.value})
    return InvitedForm(user=user_form(accounts, user), link=_link_form(link))


@router.get("/users/{id}", responses=_NOT_THERE)
def user(_: Admin, id: UserId, accounts: AccountsHere) -> UserForm:
    """One person."""
    return user_form(accounts, _user(accounts, id))


@router.patch("/users/{id}", responses=_CHANGES)
def change_user(
    _: Admin, id: UserId, form: UserChange, accounts: AccountsHere, request: Request
) -> UserForm:
    """Give a person another role, shut them out or let them in again.

    They are logged out; of who is shut out the tokens are revoked.
    """
    user = _user(accounts, id)
    if form.role is not None and form.role != user.role:
        detail = {"from": user.role, "to": form.role.value}
        user = accounts.administration.set_role(user, form.role)
        audit(request, "role changed", user.name, detail)
    if form.disabled is not None and form.disabled != user.disabled:
        user = accounts.administration.set_disabled(user, form.disabled)
        audit(request, "person disabled" if form.disabled else "person enabled", user.name)
    return user_form(accounts, user)


@router.post("/users/{id}/link", status_code=201, responses=_CHANGES)
def make_link(_: Admin, id: UserId, accounts: AccountsHere, request: Request) -> NewLinkForm:
    """A one-time link for a new password, returned only here."""
    user = _user(accounts, id)
    link = accounts.administration.reset(user)
    audit(request, "link made", user.name)
    return _link_form(link)


@router.delete("/users/{id}/sessions", status_code=204, responses=_NOT_THERE)
def log_out_everywhere(_: Admin, id: UserId, accounts: AccountsHere, request: Request) -> None:
    """Close every login of a person."""
    user = _user(accounts, id)
    accounts.sessions.close_all(user.id)
    audit(request, "logged out everywhere", user.name)


@router.get("/users/{id}/tokens", responses=_NOT_THERE)
def tokens_of(_: Admin, id: UserId, accounts: AccountsHere) -> list[TokenForm]:
    """A person's tokens."""
    return [token_form(row) for row in accounts.tokens.of(_user(accounts, id).id)]


@router.delete("/users/{id}/tokens/{token}", status_code=204, responses=_NOT_THERE)
def revoke_token_of(
    _: Admin, id: UserId, token: TokenId, accounts: AccountsHere, request: Request
) -> None:
    """Revoke a token of a person."""
    user = _user(accounts, id)
    if accounts.tokens.revoke(user.id, token) is None:
        raise NotThereError(f"{user.name} has no token {token}")
    audit(request, "token revoked", f"token {token}", {"of": user.name})


def user_form(accounts: Accounts, user: User) -> UserForm:
    """A person in the form of the API."""
    return UserForm(
        id=user.id,
        name=user.name,
        role=Role(user.role),
        disabled=user.disabled,
        has_password=accounts.people.password_hash(user.id) is not None,
        created_at=user.created_at,
    )


def _user(accounts: Accounts, id: int) -> User:
    return accounts.people.get(id)


def _link_form(link: Link) -> NewLinkForm:
    return NewLinkForm(path=link.path, expires_at=link.expires_at)
