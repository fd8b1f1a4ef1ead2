"""Accounts over a new store."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from surveillance.accounts import Accounts
from surveillance.accounts.passwords import Passwords
from surveillance.store import Store
from tests.surveillance.accounts.accounts_harness import AccountsHarness, Clock


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a store without rows: to make its tables takes longer than most tests."""
    path = tmp_path_factory.mktemp("store") / "empty.sqlite"
    Store.open(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def harness(tmp_path: Path, empty_store: Path) -> Iterator[AccountsHarness]:
    shutil.copy(empty_store, tmp_path / "accounts.sqlite")
    quick = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    clock = Clock(datetime.now(UTC))
    with Store.open(f"sqlite:///{tmp_path}/accounts.sqlite") as store:
        yield AccountsHarness(Accounts(store, quick, clock), store, clock, quick)
