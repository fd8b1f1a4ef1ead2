"""Login, people, tokens, the log, webhooks and metrics through the API, as their pages use it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from datasets.labelled.manifest import Dataset
from surveillance.accounts import Role, devices, first_link
from surveillance.store import StoreDownError
from surveillance.web.access import SESSION_COOKIE
from surveillance.web.routers.account_pages import own_path
from tests.surveillance.web.access.access_made import (
    ADDRESS,
    PASSWORD,
    SECRET_OF_HOOK,
    Caller,
    Place,
    made,
)

NEW_PASSWORD = "nine blue chips"


@pytest.fixture
def place(tmp_path: Path, table_path: Path) -> Iterator[Place]:
    with made(tmp_path, table_path) as place:
        yield place


def log_in(place: Place, name: str, password: str = PASSWORD) -> tuple[Caller, Any]:
    caller = place.client()
    return caller, caller.post("/api/login", json={"name": name, "password": password})


def acts(place: Place) -> list[tuple[str, str, str]]:
    """The log, the first line first."""
    return [(row.by, row.act, row.target) for row in reversed(place.store.audit.page().rows)]


# Login


def test_a_login_sets_a_cookie_that_no_script_and_no_other_site_gets(place: Place) -> None:
    place.add("ann", Role.REVIEWER)
    caller, answer = log_in(place, "ann")
    assert answer.status_code == 200
    body = answer.json()
    assert (body["name"], body["role"], body["via"]) == ("ann", "reviewer", "session")
    cookie, known = (line.lower() for line in answer.headers.get_list("set-cookie"))
    assert cookie.startswith(f"{SESSION_COOKIE}=")
    assert known.startswith(f"{devices.COOKIE}=")
    for line in (cookie, known):
        assert "httponly" in line
        assert "samesite=strict" in line
        assert "secure" not in line
    assert cookie.endswith("path=/; samesite=strict")
    assert "path=/api;" in known
    # It goes with the browser.
    assert "max-age" not in cookie
    assert "expires" not in cookie
    assert caller.get("/api/me").json()["name"] == "ann"
    assert answer.headers["cache-control"] == "no-store"


def test_over_tls_the_cookie_is_secure(place: Place) -> None:
    place.add("ann", Role.VIEWER)
    with TestClient(place.app, base_url=ADDRESS.replace("http:", "https:")) as client:
        body = {"name": "ann", "password": PASSWORD}
        answer = client.post("/api/login", json=body, headers={"x-feltwatch": "1"})
    cookies = answer.headers.get_list("set-cookie")
    assert len(cookies) == 2
    assert all("secure" in cookie.lower() for cookie in cookies)


def test_a_wrong_login_reveals_nothing_and_is_logged(place: Place) -> None:
    place.add("ann", Role.VIEWER)
    answers = [log_in(place, "ann", "wrong"), log_in(place, "nobody", PASSWORD)]
    assert {(a.status_code, a.text) for _, a in answers} == {
        (401, '{"detail":"name or password is wrong"}')
    }
    assert all("set-cookie" not in a.headers for _, a in answers)
    assert acts(place) == [("", "login refused", "ann"), ("", "login refused", "nobody")]
    assert PASSWORD not in repr(place.store.audit.page().rows)


def test_too_many_wrong_logins_are_answered_with_when_to_retry(place: Place) -> None:
    place.add("ann", Role.VIEWER)
    outcomes = [log_in(place, "ann", "wrong")[1] for _ in range(11)]
    assert [a.status_code for a in outcomes] == [401] * 10 + [429]
    assert outcomes[-1].headers["retry-after"] == "900"
    assert log_in(place, "ann")[1].status_code == 429
    assert place.store.audit.page().rows[0].detail == {"why": "too many failures"}


def test_a_login_in_place_of_another_closes_it(place: Place) -> None:
    place.add("ann", Role.VIEWER)
    caller, _ = log_in(place, "ann")
    old = caller.cookies[SESSION_COOKIE]
    caller.post("/api/login", json={"name": "ann", "password": PASSWORD})
    assert caller.cookies[SESSION_COOKIE] != old
    assert place.with_session(old).get("/api/me").status_code == 401


def test_logging_out_closes_the_login_on_the_server(place: Place) -> None:
    place.add("ann", Role.VIEWER)
    caller, _ = log_in(place, "ann")
    secret = caller.cookies[SESSION_COOKIE]
    assert caller.post("/api/logout").status_code == 204
    assert SESSION_COOKIE not in caller.cookies
    assert place.with_session(secret).get("/api/me").status_code == 401
    assert acts(place)[-1] == ("ann", "logged out", "ann")


@pytest.mark.parametrize(
    "body",
    [{}, {"name": "ann"}, {"name": "ann", "password": ""}, {"name": 7, "password": []}, [],
     {"name": "a" * 1000, "password": "x"}, {"name": "ann", "password": "x" * 5000}],
)  # fmt: skip
def test_what_is_no_login_is_refused(place: Place, body: object) -> None:
    answer = place.client().post("/api/login", json=body)
    assert answer.status_code == 422
    assert isinstance(answer.json()["detail"], str)


# Cross-site request forgery


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_another_site_can_do_nothing_by_a_cookie(place: Place, headers: dict[str, str]) -> None:
    user = place.add("ann", Role.ADMIN)
    caller = place.session(user)
    body = {"name": "eve", "role": "admin"}
    assert caller.post("/api/users", json=body, headers=headers).status_code == 403
    without = place.session(user)
    del without.headers["x-feltwatch"]
    assert without.post("/api/users", json=body).status_code == 403
    assert place.store.people.by_name("eve") is None
    assert caller.post("/api/users", json=body).status_code == 201


def test_a_token_needs_no_header_and_never_leans_on_a_cookie(place: Place) -> None:
    user = place.add("ann", Role.ADMIN)
    program = place.token(user, Role.ADMIN)
    assert program.post("/api/users", json={"name": "bob"}).status_code == 201
    both = place.session(user)
    del both.headers["x-feltwatch"]
    for header in ("Bearer ", "Bearer x", "bearer feltwatch_x", "Bearer\tx", "Bearer"):
        both.headers["authorization"] = header
        answer = both.post("/api/users", json={"name": "eve"})
        assert answer.status_code in (401, 403), header
    assert place.store.people.by_name("eve") is None


# Links


def test_the_first_admin_chooses_name_and_password(place: Place) -> None:
    path = first_link(place.store)
    assert path is not None
    secret = path.partition("#")[2]
    caller = place.client()
    assert caller.get("/welcome").status_code == 200
    answer = caller.post("/api/links/look", json={"secret": secret}).json()
    assert (answer["kind"], answer["name"], answer["role"]) == ("first", None, "admin")
    bad = caller.post("/api/links/use", json={"secret": secret, "name": "ann", "password": "short"})
    assert bad.status_code == 422
    assert "at least 12" in bad.json()["detail"]
    body = {"secret": secret, "name": "ann", "password": PASSWORD}
    assert caller.post("/api/links/use", json=body).json()["role"] == "admin"
    assert caller.get("/api/users").status_code == 200
    again = place.client().post("/api/links/use", json=body)
    assert again.status_code == 410
    assert acts(place)[0] == ("ann", "first admin made", "ann")
    assert secret not in repr(place.store.audit.page().rows)


def test_an_admin_invites_and_the_invited_choose_a_password(place: Place) -> None:
    admin = place.session(place.add("ann", Role.ADMIN))
    invited = admin.post("/api/users", json={"name": "Bob", "role": "reviewer"}).json()
    assert invited["user"]["has_password"] is False
    secret = invited["link"]["path"].partition("#")[2]
    bob = place.client()
    answer = bob.post("/api/links/look", json={"secret": secret}).json()
    assert (answer["kind"], answer["name"], answer["role"]) == ("invite", "Bob", "reviewer")
    used = bob.post("/api/links/use", json={"secret": secret, "password": PASSWORD})
    assert used.json()["name"] == "Bob"
    assert bob.get("/api/me").json()["role"] == "reviewer"
    assert log_in(place, "bob")[1].status_code == 200
    assert admin.post("/api/users", json={"name": "bob"}).status_code == 409
    assert admin.get(f"/api/users/{invited['user']['id']}").json()["has_password"] is True


# One's own account


def test_a_password_change_closes_all_logins_and_goes_on_under_a_new_one(place: Place) -> None:
    user = place.add("ann", Role.VIEWER)
    here, there = place.session(user), place.session(user)
    old = here.cookies[SESSION_COOKIE]
    url = "/api/me/password"
    wrong = here.put(url, json={"current": "wrong", "new": NEW_PASSWORD})
    assert wrong.status_code == 422, "401 would send the page to the login"
    weak = here.put(url, json={"current": PASSWORD, "new": "short"})
    assert weak.status_code == 422
    assert here.put(url, json={"current": PASSWORD, "new": NEW_PASSWORD}).status_code == 200
    assert here.cookies[SESSION_COOKIE] != old
    assert here.get("/api/me").status_code == 200
    assert there.get("/api/me").status_code == 401
    assert place.with_session(old).get("/api/me").status_code == 401
    assert log_in(place, "ann")[1].status_code == 401
    assert log_in(place, "ann", NEW_PASSWORD)[1].status_code == 200
    assert ("ann", "password change refused", "ann") in acts(place)
    assert ("ann", "password changed", "ann") in acts(place)


def test_a_token_makes_no_further_token_and_changes_no_password(place: Place) -> None:
    program = place.token(place.add("ann", Role.ADMIN), Role.ADMIN)
    made = program.post("/api/tokens", json={"name": "more"})
    assert made.status_code == 403
    change = {"current": PASSWORD, "new": NEW_PASSWORD}
    assert program.put("/api/me/password", json=change).status_code == 403
    assert [token["name"] for token in program.get("/api/tokens").json()] == ["test"]


@pytest.mark.parametrize("scope", [Role.VIEWER, Role.ADMIN])
def test_a_token_revokes_no_token(place: Place, scope: Role) -> None:
    ann = place.add("ann", Role.ADMIN)
    own = place.accounts.tokens.make(ann, "metrics", scope, None)
    other = place.accounts.tokens.make(ann, "backup", Role.ADMIN, None)
    program = place.with_token(own.secret)
    for token in (own, other):
        assert program.delete(f"/api/tokens/{token.row.id}").status_code == 403
    assert place.with_token(other.secret).get("/api/users").status_code == 200
    assert place.session(ann).delete(f"/api/tokens/{other.row.id}").status_code == 200


def test_a_token_is_shown_once_counts_for_its_scope_and_is_revoked(place: Place) -> None:
    user = place.add("ann", Role.REVIEWER)
    caller = place.session(user)
    above = caller.post("/api/tokens", json={"name": "t", "scope": "admin"})
    assert above.status_code == 422
    assert "your role is reviewer" in above.json()["detail"]
    body = {"name": "wall", "scope": "viewer", "expires_at": "2099-01-01T00:00:00Z"}
    made = caller.post("/api/tokens", json=body).json()
    program = place.with_token(made["secret"])
    answer = program.get("/api/me").json()
    assert (answer["name"], answer["role"], answer["via"], answer["scope"]) == (
        "ann", "viewer", "token", "viewer",
    )  # fmt: skip
    assert made["secret"] not in caller.get("/api/tokens").text
    assert made["secret"] not in repr(place.store.audit.page().rows)
    number = made["token"]["id"]
    other = place.session(place.add("bob", Role.ADMIN))
    assert other.delete(f"/api/tokens/{number}").status_code == 404
    assert caller.delete(f"/api/tokens/{number}").json()["revoked_at"] is not None
    assert program.get("/api/me").status_code == 401


@pytest.mark.parametrize("end", ["2020-01-01T00:00:00Z", "2099-01-01T00:00:00", "soon"])
def test_an_end_that_is_none_is_refused(place: Place, end: str) -> None:
    caller = place.session(place.add("ann", Role.VIEWER))
    assert caller.post("/api/tokens", json={"name": "t", "expires_at": end}).status_code == 422
    assert caller.get("/api/tokens").json() == []


# People


def test_a_role_taken_away_counts_at_once(place: Place) -> None:
    admin = place.session(place.add("ann", Role.ADMIN))
    user = place.add("bob", Role.ADMIN)
    bob, program = place.session(user), place.token(user, Role.ADMIN)
    assert program.get("/api/users").status_code == 200
    changed = admin.patch(f"/api/users/{user.id}", json={"role": "viewer"})
    assert changed.json()["role"] == "viewer"
    assert bob.get("/api/me").status_code == 401
    assert program.get("/api/users").status_code == 403
    assert program.get("/api/me").json()["role"] == "viewer"
    row = place.store.audit.page().rows
    assert ("role changed", {"from": "admin", "to": "viewer"}) in [(r.act, r.detail) for r in row]


def test_who_is_disabled_is_out_at_once(place: Place) -> None:
    admin = place.session(place.add("ann", Role.ADMIN))
    user = place.add("bob", Role.VIEWER)
    bob, program = place.session(user), place.token(user, Role.VIEWER)
    assert admin.patch(f"/api/users/{user.id}", json={"disabled": True}).json()["disabled"]
    assert bob.get("/api/me").status_code == 401
    assert program.get("/api/me").status_code == 401
    assert log_in(place, "bob")[1].status_code == 401
    assert admin.post(f"/api/users/{user.id}/link").status_code == 422
    admin.patch(f"/api/users/{user.id}", json={"disabled": False})
    assert log_in(place, "bob")[1].status_code == 200


def test_the_last_admin_cannot_go(place: Place) -> None:
    user = place.add("ann", Role.ADMIN)
    admin = place.session(user)
    for change in ({"role": "viewer"}, {"disabled": True}):
        answer = admin.patch(f"/api/users/{user.id}", json=change)
        assert answer.status_code == 409
        assert "last admin" in answer.json()["detail"]
    assert admin.get("/api/me").json()["role"] == "admin"


def test_an_admin_logs_others_out_and_revokes_their_tokens(place: Place) -> None:
    admin = place.session(place.add("ann", Role.ADMIN))
    user = place.add("bob", Role.VIEWER)
    bob, program = place.session(user), place.token(user, Role.VIEWER)
    assert admin.delete(f"/api/users/{user.id}/sessions").status_code == 204
    assert bob.get("/api/me").status_code == 401
    [token] = admin.get(f"/api/users/{user.id}/tokens").json()
    assert admin.delete(f"/api/users/{user.id}/tokens/{token['id']}").status_code == 204
    assert program.get("/api/me").status_code == 401
    assert admin.delete(f"/api/users/{user.id}/tokens/999").status_code == 404
    assert admin.get("/api/users/999").status_code == 404


def test_people_come_in_pages(place: Place) -> None:
    admin = place.session(place.add("ann", Role.ADMIN))
    for n in range(4):
        place.store.people.add(f"p{n}", "viewer", None)
    first = admin.get("/api/users?limit=3").json()
    rest = admin.get(f"/api/users?limit=3&cursor={first['next']}").json()
    names = [user["name"] for user in first["rows"] + rest["rows"]]
    assert names == ["p3", "p2", "p1", "p0", "ann"]
    assert rest["next"] is None
    assert admin.get("/api/users?cursor=nonsense").status_code == 422


# The log


def test_every_look_and_act_is_logged_with_who_what_and_from_where(place: Place) -> None:
    user = place.add("ann", Role.ADMIN)
    caller = place.session(user)
    caller.get("/people", headers={"accept": "text/html"})
    caller.post("/api/users", json={"name": "bob"})
    boxes = {"revision": 1, "boxes": []}
    assert caller.put("/api/datasets/cards/pictures/1/boxes", json=boxes).status_code == 200
    assert caller.post("/api/users", json={"name": "bob"}).status_code == 409
    viewer = place.session(place.add("vera", Role.VIEWER))
    viewer.get("/api/users")
    rows = list(reversed(place.store.audit.page().rows))
    assert [(row.by, row.act, row.target) for row in rows] == [
        ("ann", "page seen", "/people"),
        ("ann", "person invited", "bob"),
        ("ann", "PUT /api/datasets/{dataset}/pictures/{id}/boxes",
         "/api/datasets/cards/pictures/1/boxes"),
        ("vera", "refused", "/api/users"),
    ]  # fmt: skip
    assert {row.address for row in rows} == {"testclient"}
    with Dataset.open(place.folder / "cards") as dataset:
        assert dataset.history(1)[-1].by == "person:ann"


def test_data_that_are_read_are_logged_once_in_a_while(place: Place) -> None:
    user = place.add("ann", Role.ADMIN)
    caller, program = place.session(user), place.token(user, Role.ADMIN)
    for _ in range(3):
        for path in ("/api/rounds?limit=7", "/api/rounds", "/api/users", "/api/me", "/metrics"):
            assert caller.get(path).status_code == 200
        assert caller.get("/api/datasets/cards/pictures").status_code == 200
        assert caller.get("/api/datasets/cards/pictures/1").status_code == 200
    assert program.get("/api/rounds").status_code == 200
    assert program.get("/api/rounds/1").status_code == 404
    rows = list(reversed(place.store.audit.page().rows))
    assert [(row.by, row.act, row.target) for row in rows] == [
        ("ann", "data read", "/api/rounds?limit=7"),
        ("ann", "data read", "/api/users"),
        ("ann", "data read", "/api/datasets/cards/pictures"),
        ("ann", "data read", "/api/rounds"),
    ]
    assert [row.detail for row in rows] == [{}, {}, {}, {"by": "token 1"}]


def test_a_look_that_could_not_be_logged_is_logged_the_next_time(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = place.session(place.add("ann", Role.ADMIN))

    def down(*_: object) -> None:
        raise StoreDownError("away")

    with monkeypatch.context() as broken:
        broken.setattr(type(place.store.audit), "write", down)
        caller.get("/api/rounds")
    assert acts(place) == []
    caller.get("/api/rounds")
    assert acts(place) == [("ann", "data read", "/api/rounds")]


def test_what_a_token_did_names_the_token(place: Place) -> None:
    program = place.token(place.add("ann", Role.ADMIN), Role.ADMIN)
    program.post("/api/users", json={"name": "bob"})
    row = place.store.audit.page().rows[0]
    assert (row.by, row.detail["by"]) == ("ann", "token 1")


def test_the_log_is_filtered_and_paged(place: Place) -> None:
    admin = place.session(place.add("ann", Role.ADMIN))
    for n in range(5):
        place.store.audit.write("bob" if n % 2 else "cleo", "clip seen", f"alert {n}")
    answer = admin.get("/api/log?by=bob").json()["rows"]
    assert [line["target"] for line in answer] == ["alert 3", "alert 1"]
    assert len(admin.get("/api/log?act=clip+seen&limit=2").json()["rows"]) == 2
    assert [x["target"] for x in admin.get("/api/log?target=alert+4").json()["rows"]] == ["alert 4"]
    assert admin.get("/api/log?since=2099-01-01T00:00:00Z").json()["rows"] == []
    assert admin.get("/api/log?until=2020-01-01T00:00:00").json()["rows"] == []
    assert admin.get("/api/log?since=2021-01-01&until=2020-01-01").status_code == 422
    assert admin.get("/api/log?since=yesterday").status_code == 422
    first = admin.get("/api/log?act=clip+seen&limit=3").json()
    rest = admin.get(f"/api/log?act=clip+seen&limit=3&cursor={first['next']}").json()
    assert [x["target"] for x in first["rows"] + rest["rows"]] == [
        f"alert {n}" for n in (4, 3, 2, 1, 0)
    ]
    assert place.store.audit.page().rows[0].act == "log seen"


def test_the_logs_page_takes_its_form_with_nothing_in_it(place: Place) -> None:
    admin = place.session(place.add("ann", Role.ADMIN))
    place.store.audit.write("bob", "clip seen", "alert 1")
    answer = admin.get("/log?by=&act=&target=&since=&until=")
    assert answer.status_code == 200
    assert "clip seen" in answer.text
    assert admin.get("/log?since=yesterday").status_code == 422


def test_names_in_the_log_are_text(place: Place) -> None:
    evil = "<script>alert(1)</script>"
    log_in(place, evil)
    log_in(place, "\x00")
    broken = b'{"name": "\\ud800", "password": "\\ud800"}'
    kind = {"content-type": "application/json"}
    assert place.client().post("/api/login", content=broken, headers=kind).status_code == 422
    admin = place.session(place.add("ann", Role.ADMIN))
    page = admin.get("/log", headers={"accept": "text/html"})
    assert page.status_code == 200
    assert evil not in page.text
    assert "&lt;script&gt;" in page.text


# Pages


def test_pages_lead_to_the_login_and_back(place: Place) -> None:
    answer = place.client().get("/log?by=ann&act=clip+seen")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/login?next=%2Flog%3Fby%3Dann%26act%3Dclip%2Bseen"
    login = place.client().get(answer.headers["location"])
    assert '"next": "/log?by=ann\\u0026act=clip+seen"' in login.text
    known = place.session(place.add("ann", Role.ADMIN)).get(answer.headers["location"])
    assert (known.status_code, known.headers["location"]) == (303, "/log?by=ann&act=clip+seen")


@given(st.text(max_size=30))
def test_the_way_back_never_leads_elsewhere(text: str) -> None:
    for path in (text, "/" + text, "//" + text, "/\\" + text):
        assert re.match(r"/(?![/\\])", own_path(path) + " ")
        assert not re.search(r"[\x00-\x1f\\]", own_path(path))


def test_a_page_that_one_may_not_see_says_so_as_a_page(place: Place) -> None:
    viewer = place.session(place.add("vera", Role.VIEWER))
    answer = viewer.get("/people", headers={"accept": "text/html"})
    assert answer.status_code == 403
    assert answer.headers["content-type"].startswith("text/html")
    assert "This needs the role admin; yours is viewer." in answer.text
    assert viewer.get("/people").json() == {"detail": "this needs the role admin; yours is viewer"}


def test_no_page_is_kept_by_a_browser_and_none_loads_from_elsewhere(place: Place) -> None:
    admin = place.session(place.add("ann", Role.ADMIN))
    for path in ("/people", "/me", "/log"):
        answer = admin.get(path)
        assert answer.status_code == 200, answer.text
        assert answer.headers["cache-control"] == "no-store"
        assert "media-src 'self'" in answer.headers["content-security-policy"]
        links = re.findall(r'(?:src|href)="([^"]+)"', answer.text)
        assert all(re.match(r"(/(?!/)|#)", link) for link in links)
        for link in links:
            if link.startswith("/static/"):
                assert place.client().get(link).status_code == 200, link


# Webhooks and metrics


def test_webhooks_are_listed_and_tested_without_their_secrets(place: Place) -> None:
    admin = place.session(place.add("ann", Role.ADMIN))
    sent = admin.post("/api/webhooks/0/test")
    assert sent.status_code == 202
    answer = admin.get("/api/webhooks")
    [hook] = answer.json()
    assert (hook["url"], hook["waiting"]) == ("http://127.0.0.1:9/", 1)
    assert hook["last"][0]["id"] == sent.json()["id"]
    assert SECRET_OF_HOOK not in answer.text
    assert admin.post("/api/webhooks/1/test").status_code == 404


def test_metrics_need_a_login_or_a_token(place: Place) -> None:
    user = place.add("ann", Role.VIEWER)
    assert place.client().get("/metrics").status_code == 401
    log_in(place, "ann", "wrong")
    answer = place.token(user, Role.VIEWER).get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'feltwatch_logins_total{outcome="wrong"} 1.0' in answer.text
    assert 'feltwatch_camera_state{camera="pit1-t3",state="connecting"} 1.0' in answer.text
    assert 'route="/api/login",status="4xx"' in answer.text


# A server without accounts


def test_without_a_store_there_is_no_login(client: TestClient) -> None:
    assert client.get("/api/me").json() == {
        "name": "ann", "role": "admin", "via": "open", "scope": None, "ends_at": None,
    }  # fmt: skip
    login = {"name": "ann", "password": PASSWORD}
    assert client.post("/api/login", json=login).status_code == 404
    for path in ("/api/users", "/api/tokens", "/api/log", "/people", "/log", "/me"):
        assert client.get(path).status_code == 404, path
    assert client.get("/login", follow_redirects=False).headers["location"] == "/"


def test_with_a_store_nobody_chooses_under_what_name_changes_are_kept(place: Place) -> None:
    caller = place.session(place.add("ann", Role.REVIEWER))
    assert caller.put("/api/me", json={"name": "eve"}).status_code == 409
    caller.cookies["feltwatch_person"] = "eve"
    boxes = {"revision": 1, "boxes": []}
    saved = caller.put("/api/datasets/cards/pictures/1/boxes", json=boxes)
    assert saved.json()["labelled_by"] == "person:ann"
