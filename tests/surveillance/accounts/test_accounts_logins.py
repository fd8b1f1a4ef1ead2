"""Logging in, staying logged in, and not getting in by guessing."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
import sqlalchemy as sa
from accounts_desk import PASSWORD, Desk
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


def log_in(desk: Desk, name: str = "ann", password: str = PASSWORD, address: str = "a") -> str:
    return desk.accounts.logins.log_in(name, password, address, "test").secret


def test_a_login_is_found_by_its_secret_and_kept_as_a_hash(desk: Desk) -> None:
    user = desk.add()
    secret = log_in(desk)
    assert len(secret) >= 43
    assert desk.accounts.sessions.find(secret) == user
    assert desk.accounts.sessions.find(secret + "x") is None
    assert desk.accounts.sessions.find(digest(secret)) is None
    with desk.store.database.read() as connection:
        [row] = connection.execute(sa.select(tables.sessions)).all()
    assert row.token_sha256 == digest(secret)
    assert secret not in repr(row)


@pytest.mark.parametrize("name", [" ann ", "ANN", "Ann"])
def test_large_letters_and_spaces_in_a_name_do_not_matter(desk: Desk, name: str) -> None:
    user = desk.add()
    assert desk.accounts.sessions.find(log_in(desk, name)) == user


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("ann", "seven red chip"), ("ann", PASSWORD + " "), ("bob", PASSWORD), ("", PASSWORD),
        ("ann\0", PASSWORD), ("\ud800", "\ud800"), ("a" * 10_000, "b" * 10_000), ("out", PASSWORD),
        ("new", ""), ("new", PASSWORD),
    ],
)  # fmt: skip
def test_whatever_is_wrong_is_answered_alike(desk: Desk, name: str, password: str) -> None:
    desk.add()
    desk.accounts.standing.set_disabled(desk.add("out"), True)
    desk.accounts.standing.invite("new", Role.ADMIN)
    with pytest.raises(WrongLoginError) as told:
        log_in(desk, name, password)
    assert str(told.value) == "name or password is wrong"


def test_a_new_login_closes_the_one_before(desk: Desk) -> None:
    desk.add()
    first = log_in(desk)
    second = desk.accounts.logins.log_in("ann", PASSWORD, "a", "", instead_of=first).secret
    assert first != second
    assert desk.accounts.sessions.find(first) is None
    assert desk.accounts.sessions.find(second) is not None


def test_a_secret_that_somebody_else_set_is_never_taken_over(desk: Desk) -> None:
    desk.add()
    secret = desk.accounts.logins.log_in("ann", PASSWORD, "a", "", instead_of="planted").secret
    assert secret != "planted"
    assert desk.accounts.sessions.find("planted") is None


def test_a_login_ends_by_idleness(desk: Desk) -> None:
    desk.add()
    secret = log_in(desk)
    for _ in range(3):
        desk.clock.at += IDLE - timedelta(minutes=1)
        assert desk.accounts.sessions.find(secret) is not None
    desk.clock.at += IDLE + timedelta(seconds=1)
    assert desk.accounts.sessions.find(secret) is None
    desk.clock.at -= IDLE
    assert desk.accounts.sessions.find(secret) is None, "it is closed for good"


def test_a_login_ends_by_age_however_busy(desk: Desk) -> None:
    desk.add()
    secret = log_in(desk)
    began = desk.clock.at
    while desk.clock.at < began + LASTS - timedelta(minutes=30):
        desk.clock.move(minutes=30)
        assert (desk.accounts.sessions.find(secret) is not None) == (desk.clock.at < began + LASTS)
    desk.clock.at = began + LASTS
    assert desk.accounts.sessions.find(secret) is None


@pytest.mark.parametrize("change", ["role", "password", "disabled", "log out", "link"])
def test_what_changes_a_person_logs_them_out_everywhere(desk: Desk, change: str) -> None:
    user = desk.add()
    other = log_in(desk, desk.add("bob").name)
    secrets = [log_in(desk), log_in(desk)]
    accounts = desk.accounts
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


def test_a_hash_of_old_parameters_is_kept_anew_at_the_login(desk: Desk) -> None:
    old = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1, hash_len=16).hash(PASSWORD)
    user = desk.store.people.add("ann", "viewer", old)
    log_in(desk)
    kept = desk.store.people.password_hash(user.id)
    assert kept is not None
    assert kept != old
    log_in(desk)
    assert desk.store.people.password_hash(user.id) == kept


# Guessing


def guess(desk: Desk, name: str, address: str) -> type[Exception] | None:
    try:
        log_in(desk, name, "a wrong password", address)
    except (WrongLoginError, TooManyLoginsError) as error:
        return type(error)
    return None


@pytest.mark.parametrize("name", ["ann", "nobody"])
def test_one_name_is_guessed_ten_times_from_wherever(desk: Desk, name: str) -> None:
    desk.add()
    told = [guess(desk, name, f"address {n}") for n in range(MAX_PER_NAME + 3)]
    assert told == [WrongLoginError] * MAX_PER_NAME + [TooManyLoginsError] * 3
    with pytest.raises(TooManyLoginsError, match="15 minutes"):
        log_in(desk, name, PASSWORD, "elsewhere")
    log_in(desk, desk.add("bob").name)
    desk.clock.at += WINDOW + timedelta(seconds=1)
    assert guess(desk, name, "address") is WrongLoginError
    if name == "ann":
        assert log_in(desk)


def test_one_address_guesses_thirty_names(desk: Desk) -> None:
    desk.add()
    told = [guess(desk, f"name {n}", "a") for n in range(MAX_PER_ADDRESS + 2)]
    assert told == [WrongLoginError] * MAX_PER_ADDRESS + [TooManyLoginsError] * 2
    with pytest.raises(TooManyLoginsError):
        log_in(desk, address="a")
    assert log_in(desk, address="b")


def test_large_letters_make_no_other_name_to_guess(desk: Desk) -> None:
    desk.add()
    told = [guess(desk, "ann" if n % 2 else "ANN", f"{n}") for n in range(MAX_PER_NAME + 1)]
    assert told[-1] is TooManyLoginsError


def test_many_at_once_guess_no_oftener(desk: Desk) -> None:
    desk.add()
    told: list[type[Exception] | None] = []
    begin = threading.Barrier(30)

    def one(n: int) -> None:
        begin.wait()
        told.append(guess(desk, "ann", f"address {n}"))

    guessers = [threading.Thread(target=one, args=(n,)) for n in range(30)]
    for guesser in guessers:
        guesser.start()
    for guesser in guessers:
        guesser.join()
    assert told.count(WrongLoginError) == MAX_PER_NAME
    assert told.count(TooManyLoginsError) == 30 - MAX_PER_NAME


def test_guessing_the_present_password_of_an_open_login_is_limited_too(desk: Desk) -> None:
    user = desk.add()
    for _ in range(MAX_PER_NAME):
        with pytest.raises(WrongLoginError):
            desk.accounts.logins.confirm(user.id, "a wrong password", "a")
    with pytest.raises(TooManyLoginsError):
        desk.accounts.logins.confirm(user.id, PASSWORD, "a")
