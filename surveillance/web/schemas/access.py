"""The JSON forms of accounts: login, people, links, tokens, the log, webhooks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StrictBool, StringConstraints

from surveillance.accounts.roles import Role
from surveillance.web.schemas.review import PersonName

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Password = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
Secret = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class LoginForm(_Form):
    """Name and password."""

    name: Name
    password: Password


class AccountForm(_Form):
    """The account of the request."""

    name: str
    role: Role = Field(description="What counts here: the person's role, or less by a token.")
    via: Literal["session", "token", "open"] = Field(
        description='"open": a server without accounts, where everybody may do everything.'
    )
    scope: Role | None = Field(description="The token's scope; null without a token.")
    ends_at: datetime | None = Field(default=None, description="When this login ends, UTC.")


class PasswordChange(_Form):
    """A new password; all other logins of the person are closed."""

    current: Password
    new: Password


class LinkQuestion(_Form):
    """The secret of a one-time link: what stands behind the `#` of its address."""

    secret: Secret


class LinkForm(_Form):
    """Purpose of a one-time link."""

    kind: Literal["first", "invite", "reset"]
    name: str | None = Field(description="Whose; null for the first admin, who chooses a name.")
    role: Role
    expires_at: datetime


class LinkUse(_Form):
    """A link used up. The name is needed for the first admin only."""

    secret: Secret
    name: Name | None = None
    password: Password


class UserForm(_Form):
    """A person."""

    id: int
    name: str
    role: Role
    disabled: bool
    has_password: bool = Field(description="False until the invitation was taken up.")
    created_at: datetime


class UserPage(_Form):
    """People in a list, newest first."""

    rows: list[UserForm]
    next: str | None = Field(description="The cursor of the next page; null: this is the last.")


class NewUser(_Form):
    """A person to be invited."""

    name: Name
    role: Role = Role.VIEWER


class UserChange(_Form):
    """Changes of a person; null leaves a value as it is."""

    role: Role | None = None
    disabled: StrictBool | None = None


class NewLinkForm(_Form):
    """A one-time link, returned only once: `path` goes behind the server's address."""

    path: str
    expires_at: datetime


class InvitedForm(_Form):
    """A person who was invited, and their link."""

    user: UserForm
    link: NewLinkForm


class NewTokenQuestion(_Form):
    """A token to be made."""

    name: PersonName = Field(description="What it is for.")
    scope: Role = Role.VIEWER
    expires_at: datetime | None = Field(
        default=None, description="With its time zone; null: until it is revoked."
    )


class TokenForm(_Form):
    """A token without its secret."""

    id: int
    name: str
    scope: Role
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    revoked_at: datetime | None


class NewTokenForm(_Form):
    """A token just made; `secret` is returned only once."""

    token: TokenForm
    secret: str


class LogLine(_Form):
    """One look or act."""

    id: int
    at: datetime
    by: str
    act: str
    target: str
    detail: dict[str, JsonValue]
    address: str


class LogPage(_Form):
    """The log, newest first."""

    rows: list[LogLine]
    next: str | None


class DeliveryForm(_Form):
    """One delivery of an event to a webhook."""

    id: str
    kind: str
    code: str | None
    at: datetime
    state: Literal["waiting", "delivered", "failed", "dropped"]
    tries: int
    status: int | None = Field(description="The last answer's status; null: no answer.")
    message: str


class WebhookForm(_Form):
    """A webhook of the site file; without its secret, and of its address only the server."""

    number: int
    url: str
    codes: list[str] = Field(description="Alert codes that are sent to it; empty: all.")
    waiting: int
    delivered: int
    failed: int
    dropped: int
    last: list[DeliveryForm] = Field(description="Newest first.")
