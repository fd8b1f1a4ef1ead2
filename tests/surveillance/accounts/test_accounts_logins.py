"""Logging in, staying logged in, and not getting in by guessing."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher

from surveillance.accounts import Role
from surveillance.accounts.logins import (
    BUSY_ADDRESS,
    MAX_PER_NAME,
    MAX_PER_PLACE,
    WINDOW,
    TooManyLoginsError,
    WrongLoginError,
)
from surveillance.accounts.passwords import Checked
from surveillance.accounts.secret import digest
from surveillance.accounts.sessions import IDLE, LASTS
from surveillance.store import tables
from tests.surveillance.accounts.accounts_harness import PASSWORD, AccountsHarness


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
    harness.accounts.administration.set_disabled(harness.add("out"), True)
    harness.accounts.administration.invite("new", Role.ADMIN)
    with pytest.raises(WrongLoginError) as raised:
        log_in(harness, name, password)
    assert str(raised.value) == "name or password is wrong"


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
        accounts.administration.set_role(user, Role.REVIEWER)
    elif change == "password":
        accounts.administration.change_password(user, "nine blue chips")
    elif change == "disabled":
        accounts.administration.set_disabled(user, True)
    elif change == "link":
        link = accounts.administration.reset(user)
        accounts.links.use(link.path.partition("#")[2], "", "nine blue chips")
    else:
        accounts.sessions.close_all(user.id)
    assert [accounts.sessions.find(secret) for secret in secrets] == [None, None]
    assert accounts.sessions.find(other) is not None


def test_a_hash_of_old_parameters_is_replaced_at_the_login(harness: AccountsHarness) -> None:
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
def test_one_place_guesses_one_name_ten_times(harness: AccountsHarness, name: str) -> None:
    harness.add()
    outcomes = [guess(harness, name, "10.0.0.7") for _ in range(MAX_PER_PLACE + 3)]
    assert outcomes == [WrongLoginError] * MAX_PER_PLACE + [TooManyLoginsError] * 3
    with pytest.raises(TooManyLoginsError, match="15 minutes"):
        log_in(harness, name, PASSWORD, "10.0.0.7")
    log_in(harness, harness.add("bob").name, address="10.0.0.7")
    harness.clock.at += WINDOW + timedelta(seconds=1)
    assert guess(harness, name, "10.0.0.7") is WrongLoginError
    if name == "ann":
        assert log_in(harness, address="10.0.0.7")


def test_who_guesses_a_name_does_not_lock_its_owner_out_elsewhere(harness: AccountsHarness) -> None:
    harness.add("root", Role.ADMIN)
    for _ in range(2 * MAX_PER_PLACE):
        guess(harness, "root", "203.0.113.9")
    assert log_in(harness, "root", address="10.0.0.7")


@pytest.mark.parametrize("name", ["ann", "nobody"])
def test_one_name_is_guessed_a_hundred_times_from_everywhere(
    harness: AccountsHarness, name: str
) -> None:
    harness.add()
    outcomes = [guess(harness, name, f"10.0.0.{n}") for n in range(MAX_PER_NAME + 2)]
    assert outcomes == [WrongLoginError] * MAX_PER_NAME + [TooManyLoginsError] * 2


def test_a_known_browser_gets_in_while_all_the_world_guesses_its_name(
    harness: AccountsHarness,
) -> None:
    user = harness.add("root", Role.ADMIN)
    own = harness.accounts.logins.device(user.id, "")
    for n in range(MAX_PER_NAME):
        guess(harness, "root", f"10.0.0.{n}")
    with pytest.raises(TooManyLoginsError):
        log_in(harness, "root", address="10.0.1.1")
    assert harness.accounts.logins.log_in("root", PASSWORD, "10.0.1.1", "", device=own)
    # One's own browser is no way to guess on for ever.
    for _ in range(MAX_PER_PLACE):
        with pytest.raises(WrongLoginError):
            harness.accounts.logins.log_in("root", "a wrong password", "10.0.1.1", "", device=own)
    with pytest.raises(TooManyLoginsError):
        harness.accounts.logins.log_in("root", PASSWORD, "10.0.1.1", "", device=own)


def test_a_workstation_knows_all_who_logged_in_there(harness: AccountsHarness) -> None:
    ann, bob = harness.add(), harness.add("bob")
    kept = harness.accounts.logins.device(bob.id, harness.accounts.logins.device(ann.id, ""))
    for name in ("ann", "bob"):
        for n in range(MAX_PER_NAME):
            guess(harness, name, f"10.0.0.{n}")
        assert harness.accounts.logins.log_in(name, PASSWORD, "10.0.1.1", "", device=kept)


@pytest.mark.parametrize("made", ["by nobody", "for another", "before the password"])
def test_a_browser_that_is_not_known_counts_as_any(harness: AccountsHarness, made: str) -> None:
    user = harness.add()
    cookie = "A" * 16 + "." + "B" * 20
    if made == "for another":
        cookie = harness.accounts.logins.device(harness.add("bob").id, "")
    elif made == "before the password":
        cookie = harness.accounts.logins.device(user.id, "")
        harness.accounts.administration.change_password(user, "nine blue chips")
    for n in range(MAX_PER_NAME):
        guess(harness, "ann", f"10.0.0.{n}")
    with pytest.raises(TooManyLoginsError):
        harness.accounts.logins.log_in("ann", PASSWORD, "10.0.1.1", "", device=cookie)


def test_a_room_behind_one_proxy_is_not_locked_out(harness: AccountsHarness) -> None:
    """Somebody in the room tries every name they can think of; the others still get in."""
    harness.add()
    outcomes = [guess(harness, f"name {n}", "10.0.0.1") for n in range(3 * BUSY_ADDRESS)]
    assert outcomes == [WrongLoginError] * (3 * BUSY_ADDRESS)
    assert log_in(harness, address="10.0.0.1")
    assert log_in(harness, address="10.0.0.2")


def test_an_address_with_many_failures_is_checked_one_at_a_time(
    harness: AccountsHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other turn at checking is left to those who come from elsewhere."""
    harness.add()
    for n in range(BUSY_ADDRESS):
        guess(harness, f"name {n}", "10.0.0.1")
    at_once: list[int] = []
    inside = threading.Semaphore(0)
    running = 0
    lock = threading.Lock()
    check = harness.passwords.check

    def counted(kept: str | None, password: str) -> Checked:
        nonlocal running
        with lock:
            running += 1
            at_once.append(running)
        inside.acquire(timeout=0.05)
        try:
            return check(kept, password)
        finally:
            with lock:
                running -= 1

    monkeypatch.setattr(harness.passwords, "check", counted)
    guessers = [
        threading.Thread(target=guess, args=(harness, f"other {n}", "10.0.0.1")) for n in range(6)
    ]
    for guesser in guessers:
        guesser.start()
    for guesser in guessers:
        guesser.join()
    assert at_once == [1] * 6


def test_one_line_of_ipv6_is_one_place(harness: AccountsHarness) -> None:
    harness.add()
    outcomes = [guess(harness, "ann", f"2001:db8::{n:x}") for n in range(1, MAX_PER_PLACE + 2)]
    assert outcomes[-1] is TooManyLoginsError
    assert log_in(harness, address="2001:db8:0:1::1")


def test_large_letters_make_no_other_name_to_guess(harness: AccountsHarness) -> None:
    harness.add()
    names = ("ann", "ANN")
    outcomes = [guess(harness, names[n % 2], "a") for n in range(MAX_PER_PLACE + 1)]
    assert outcomes[-1] is TooManyLoginsError


def test_many_at_once_guess_no_oftener(harness: AccountsHarness) -> None:
    harness.add()
    outcomes: list[type[Exception] | None] = []
    begin = threading.Barrier(30)

    def one() -> None:
        begin.wait()
        outcomes.append(guess(harness, "ann", "a"))

    guessers = [threading.Thread(target=one) for _ in range(30)]
    for guesser in guessers:
        guesser.start()
    for guesser in guessers:
        guesser.join()
    assert outcomes.count(WrongLoginError) == MAX_PER_PLACE
    assert outcomes.count(TooManyLoginsError) == 30 - MAX_PER_PLACE


def test_guessing_the_present_password_of_an_open_login_is_limited_too(
    harness: AccountsHarness,
) -> None:
    user = harness.add()
    for n in range(MAX_PER_NAME):
        guess(harness, "ann", f"10.0.0.{n}")
    for _ in range(MAX_PER_PLACE):
        with pytest.raises(WrongLoginError):
            harness.accounts.logins.confirm(user.id, "a wrong password")
    with pytest.raises(TooManyLoginsError):
        harness.accounts.logins.confirm(user.id, PASSWORD)
