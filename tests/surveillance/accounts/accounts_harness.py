"""A store, a clock that can be set, and passwords that cost little to check."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from surveillance.accounts import Accounts, Role
from surveillance.accounts.passwords import Passwords
from surveillance.store import Store, User

PASSWORD = "seven red chips"


@dataclass
class Clock:
    """A clock that stands until it is moved."""

    at: datetime

    def __call__(self) -> datetime:
        return self.at

    def move(self, **by: float) -> None:
        self.at += timedelta(**by)


@dataclass
class AccountsHarness:
    """Accounts over a store of their own."""

    accounts: Accounts
    store: Store
    clock: Clock
    passwords: Passwords

    def add(self, name: str = "ann", role: Role = Role.VIEWER) -> User:
        return self.store.people.add(name, str(role), self.passwords.hashed(PASSWORD))
