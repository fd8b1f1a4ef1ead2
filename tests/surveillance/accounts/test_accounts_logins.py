"""Logging in, staying logged in, and not getting in by guessing."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
import sqlalchemy as sa
from accounts_harness import PASSWORD, AccountsHarness
from argon2 import PasswordHasher

from surveillance.accounts import Role
from surveillance.accounts.logins import (
    MAX_PER_ADDRESS,
    MAX_PER_NAME,
    WINDOW,
    TooManyLoginsError,
    WrongLoginError,
)
from surveillance.accounts.secret import digest
from surveillance.accounts.sessions import IDLE, LASTS
from surveillance.store import tables


def log_in(
    harness: AccountsHarness, name: str = "ann", password: str = PASSWORD, address: str = "a"
) -> str:
    return harness.accounts.logins.log_in(name, password, address, "test").secret


def test_a_login_is_found_by_its_secret_and_kept_as_a_hash(harness: AccountsHarness) -> None:
    user = harness.add()
    secret = log_in(harness)
    assert len(secret) >= 43
    assert harness.accounts.sessions.find(secret) == user
    assert harness.accounts.sessions.find(secret + "x") is None
    assert harness.accounts.sessions.find(digest(secret)) is None
    with harness.store.database.read() as connection:
        [row] = connection.execute(sa.select(tables.sessions)).all()
    assert row.token_sha256 == digest(secret)
    assert secret not in repr(row)


@pytest.mark.parametrize("name", [" ann ", "ANN", "Ann"])
def test_large_letters_and_spaces_in_a_name_do_not_matter(
    harness: AccountsHarness, name: str
) -> None:
    user = harness.add()
    assert harness.accounts.sessions.find(log_in(harness, name)) == user


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("ann", "seven red chip"), ("ann", PASSWORD + " "), ("bob", PASSWORD), ("", PASSWORD),
        ("ann\0", PASSWORD), ("\ud800", "\ud800"), ("a" * 10_000, "b" * 10_000), ("out", PASSWORD),
        ("new", ""), ("new", PASSWORD),
    ],
)  # fmt: skip
def test_whatever_is_wrong_is_answered_alike(
    harness: AccountsHarness, name: str, password: str
) -> None:
    harness.add()
    harness.accounts.standing.set_disabled(harness.add("out"), True)
    harness.accounts.standing.invite("new", Role.ADMIN)
    with pytest.raises(WrongLoginError) as told:
        log_in(harness, name, password)
    assert str(told.value) == "name or password is wrong"


def test_a_new_login_closes_the_one_before(harness: AccountsHarness) -> None:
    harness.add()
    first = log_in(harness)
    second = harness.accounts.logins.log_in("ann", PASSWORD, "a", "", instead_of=first).secret
    assert first != second
    assert harness.accounts.sessions.find(first) is None
    assert harness.accounts.sessions.find(second) is not None


def test_a_secret_that_somebody_else_set_is_never_taken_over(harness: AccountsHarness) -> None:
    harness.add()
    secret = harness.accounts.logins.log_in("ann", PASSWORD, "a", "", instead_of="planted").secret
    assert secret != "planted"
    assert harness.accounts.sessions.find("planted") is None


def test_a_login_ends_by_idleness(harness: AccountsHarness) -> None:
    harness.add()
    secret = log_in(harness)
    for _ in range(3):
        harness.clock.at += IDLE - timedelta(minutes=1)
        assert harness.accounts.sessions.find(secret) is not None
    harness.clock.at += IDLE + timedelta(seconds=1)
    assert harness.accounts.sessions.find(secret) is None
    harness.clock.at -= IDLE
    assert harness.accounts.sessions.find(secret) is None, "it is closed for good"


def test_a_login_ends_by_age_however_busy(harness: AccountsHarness) -> None:
    harness.add()
    secret = log_in(harness)
    began = harness.clock.at
    while harness.clock.at < began + LASTS - timedelta(minutes=30):
        harness.clock.move(minutes=30)
        assert (harness.accounts.sessions.find(secret) is not None) == (
            harness.clock.at < began + LASTS
        )
    harness.clock.at = began + LASTS
    assert harness.accounts.sessions.find(secret) is None


@pytest.mark.parametrize("change", ["role", "password", "disabled", "log out", "link"])
def test_what_changes_a_person_logs_them_out_everywhere(
    harness: AccountsHarness, change: str
) -> None:
    user = harness.add()
    other = log_in(harness, harness.add("bob").name)
    secrets = [log_in(harness), log_in(harness)]
    accounts = harness.accounts
    if change == "role":
        accounts.standing.set_role(user, Role.REVIEWER)
    elif change == "password":
        accounts.standing.change_password(user, "nine blue chips")
    elif change == "disabled":
        accounts.standing.set_disabled(user, True)
    elif change == "link":
        link = accounts.standing.reset(user)
        accounts.links.use(link.path.partition("#")[2], "", "nine blue chips")
    else:
        accounts.sessions.close_all(user.id)
    assert [accounts.sessions.find(secret) for secret in secrets] == [None, None]
    assert accounts.sessions.find(other) is not None


def test_a_hash_of_old_parameters_is_kept_anew_at_the_login(harness: AccountsHarness) -> None:
    old = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1, hash_len=16).hash(PASSWORD)
    user = harness.store.people.add("ann", "viewer", old)
    log_in(harness)
    kept = harness.store.people.password_hash(user.id)
    assert kept is not None
    assert kept != old
    log_in(harness)
    assert harness.store.people.password_hash(user.id) == kept


# Guessing


def guess(harness: AccountsHarness, name: str, address: str) -> type[Exception] | None:
    try:
        log_in(harness, name, "a wrong password", address)
    except (WrongLoginError, TooManyLoginsError) as error:
        return type(error)
    return None


@pytest.mark.parametrize("name", ["ann", "nobody"])
def test_one_name_is_guessed_ten_times_from_wherever(harness: AccountsHarness, name: str) -> None:
    harness.add()
    told = [guess(harness, name, f"address {n}") for n in range(MAX_PER_NAME + 3)]
    assert told == [WrongLoginError] * MAX_PER_NAME + [TooManyLoginsError] * 3
    with pytest.raises(TooManyLoginsError, match="15 minutes"):
        log_in(harness, name, PASSWORD, "elsewhere")
    log_in(harness, harness.add("bob").name)
    harness.clock.at += WINDOW + timedelta(seconds=1)
    assert guess(harness, name, "address") is WrongLoginError
    if name == "ann":
        assert log_in(harness)


def test_one_address_guesses_thirty_names(harness: AccountsHarness) -> None:
    harness.add()
    told = [guess(harness, f"name {n}", "a") for n in range(MAX_PER_ADDRESS + 2)]
    assert told == [WrongLoginError] * MAX_PER_ADDRESS + [TooManyLoginsError] * 2
    with pytest.raises(TooManyLoginsError):
        log_in(harness, address="a")
    assert log_in(harness, address="b")


def test_large_letters_make_no_other_name_to_guess(harness: AccountsHarness) -> None:
    harness.add()
    told = [guess(harness, "ann" if n % 2 else "ANN", f"{n}") for n in range(MAX_PER_NAME + 1)]
    assert told[-1] is TooManyLoginsError


def test_many_at_once_guess_no_oftener(harness: AccountsHarness) -> None:
    harness.add()
    told: list[type[Exception] | None] = []
    begin = threading.Barrier(30)

    def one(n: int) -> None:
        begin.wait()
        told.append(guess(harness, "ann", f"address {n}"))

    guessers = [threading.Thread(target=one, args=(n,)) for n in range(30)]
    for guesser in guessers:
        guesser.start()
    for guesser in guessers:
        guesser.join()
    assert told.count(WrongLoginError) == MAX_PER_NAME
    assert told.count(TooManyLoginsError) == 30 - MAX_PER_NAME


def test_guessing_the_present_password_of_an_open_login_is_limited_too(
    harness: AccountsHarness,
) -> None:
    user = harness.add()
    for _ in range(MAX_PER_NAME):
        with pytest.raises(WrongLoginError):
            harness.accounts.logins.confirm(user.id, "a wrong password", "a")
    with pytest.raises(TooManyLoginsError):
        harness.accounts.logins.confirm(user.id, PASSWORD, "a")
