"""`feltwatch user`: accounts by command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from surveillance.accounts import Accounts, Role
from surveillance.cli import EXIT_ERROR, main
from surveillance.config.site_file import load_site
from surveillance.store import Store

PASSWORD = "seven red chips"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "site.toml"
    path.write_text('[site]\nname = "the pit"\n\n[web]\nnames = ["pit.example"]\nport = 8471\n')
    return path


def opened(config: Path) -> Store:
    return Store.open(load_site(config).store_url)


def run(config: Path, *arguments: str) -> int:
    return main(["user", *arguments, "--config", str(config)])


def link_told(capsys: pytest.CaptureFixture[str]) -> str:
    line = capsys.readouterr().out.strip().splitlines()[-1]
    address, _, secret = line.partition("#")
    assert address == "http://pit.example:8471/welcome"
    return secret


def test_the_first_admin_comes_by_a_link(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(config, "list") == 0
    assert "nobody has an account yet" in capsys.readouterr().out
    assert run(config, "link") == 0
    secret = link_told(capsys)
    with opened(config) as store:
        user = Accounts(store).links.use(secret, "ann", PASSWORD)
        assert user.role == Role.ADMIN
    assert run(config, "link") == EXIT_ERROR
    assert "there are people already" in capsys.readouterr().err


def test_people_are_added_listed_changed_and_shut_out(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(config, "add", "ann", "--role", "admin") == 0
    secret = link_told(capsys)
    with opened(config) as store:
        Accounts(store).links.use(secret, "", PASSWORD)
    assert run(config, "add", "bob", "--json") == 0
    assert json.loads(capsys.readouterr().out)["name"] == "bob"
    assert run(config, "role", "bob", "reviewer") == 0
    assert run(config, "disable", "BOB") == 0
    capsys.readouterr()
    assert run(config, "list", "--json") == 0
    people = {p["name"]: (p["role"], p["state"]) for p in json.loads(capsys.readouterr().out)}
    assert people == {"ann": ("admin", "active"), "bob": ("reviewer", "disabled")}
    assert run(config, "enable", "bob") == 0
    with opened(config) as store:
        acts = [(row.by, row.act, row.target) for row in store.audit.page().rows]
    assert acts == [
        ("command line", "person enabled", "bob"),
        ("command line", "person disabled", "bob"),
        ("command line", "role changed", "bob"),
        ("command line", "person invited", "bob"),
        ("command line", "person invited", "ann"),
    ]


def test_a_reset_takes_the_password_and_every_login(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(config, "add", "ann", "--role", "admin")
    secret = link_told(capsys)
    with opened(config) as store:
        accounts = Accounts(store)
        user = accounts.links.use(secret, "", PASSWORD)
        login = accounts.sessions.open(user, "", "").secret
    assert run(config, "reset", "ann") == 0
    secret = link_told(capsys)
    with opened(config) as store:
        accounts = Accounts(store)
        assert store.people.password_hash(user.id) is None
        assert accounts.sessions.find(login) is None
        assert accounts.links.use(secret, "", "nine blue chips").name == "ann"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("disable", "eve"), "nobody here is called 'eve'"),
        (("add", "a b"), "give letters, digits"),
        (("add", "bob", "--role", "boss"), "viewer, reviewer or admin"),
        (("add", "ann"), "'ann' already"),
        (("disable", "ann"), "last admin"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    config: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    run(config, "add", "ann", "--role", "admin")
    capsys.readouterr()
    assert run(config, *arguments) == EXIT_ERROR
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_without_a_site_file_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "none.toml", "list") == EXIT_ERROR
    assert "none.toml" in capsys.readouterr().err
