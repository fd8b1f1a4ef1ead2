"""What a stranger, a broken client or a hostile dataset may send: refused, and nothing changed."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets.labelled.manifest import MANIFEST, PICTURES, Dataset, NewPicture
from surveillance.web.app import create_app
from surveillance.web.security import MAX_BODY_BYTES, Gate, host_name
from surveillance.web.settings import WebSettings
from tests.profiles import examples
from tests.surveillance.web.review_made import FIRST_BOXES

API = "/api/datasets/cards"
BOXES = f"{API}/pictures/1/boxes"
GOOD = {"label": "AS", "x0": 10, "y0": 10, "x1": 50, "y1": 60}


def send(client: TestClient, body: str | bytes, **headers: str) -> Any:
    return client.put(BOXES, content=body, headers={"content-type": "application/json"} | headers)


def body(revision: str = "1", **changes: str) -> str:
    """JSON text with some values replaced by raw text, as a hostile client writes it."""
    values = {name: json.dumps(value) for name, value in GOOD.items()} | changes
    box = ", ".join(f'"{name}": {value}' for name, value in values.items())
    return f'{{"revision": {revision}, "boxes": [{{{box}}}]}}'


def unchanged(folder: Path) -> bool:
    with Dataset.open(folder) as dataset:
        return dataset.boxes(1) == FIRST_BOXES and len(dataset.history(1)) == 1


@pytest.mark.parametrize(
    "text",
    [
        body(x0="NaN"),
        body(x0="Infinity"),
        body(x0="-Infinity"),
        body(x0="1e999"),
        body(x1="1" + "0" * 400),
        body(x1="1" + "0" * 5000),
        body(x0="-1e300"),
        body(x0="-40"),
        body(x1="100000"),
        body(x0="50", x1="50"),
        body(x0="60"),
        body(y0="60", y1="10"),
        body(x0='"ten"'),
        body(x0="null"),
        body(x0="[1]"),
        body(x0="{}"),
        body(label="null"),
        body(label="7"),
        body(label='""'),
        body(label='" AS"'),
        body(label='"AS\\u0000"'),
        body(label='"\\ud800"'),
        body(label='"no such label"'),
        body(label=json.dumps("A" * 10_000)),
        body(visible="2"),
        body(score="-0.1"),
        body(score="NaN"),
        body(angle_deg="Infinity"),
        body(attributes="[]"),
        body(attributes='{"a": NaN}'),
        body(attributes='{"a": "\\ud800"}'),
        body(attributes='{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"),
        body(unknown="1"),
        body(revision="0"),
        body(revision="-1"),
        body(revision="1.5"),
        body(revision="null"),
        body(revision="9" * 30),
        '{"boxes": []}',
        '{"revision": 1}',
        '{"revision": 1, "boxes": {}}',
        '{"revision": 1, "boxes": "AS"}',
        '{"revision": 1, "boxes": [[]]}',
        json.dumps({"revision": 1, "boxes": [GOOD] * 2001}),
        "",
        "null",
        "[]",
        "{",
        "\ufeff{}",
        "x" * 1000,
    ],
    ids=lambda text: text[:60],
)
def test_boxes_that_cannot_be_are_refused_in_words(
    client: TestClient, dataset_folder: Path, text: str
) -> None:
    answer = send(client, text.encode())
    assert answer.status_code in (400, 422), answer.text[:300]
    detail = answer.json()["detail"]
    assert isinstance(detail, str)
    assert 0 < len(detail) < 20_000
    assert unchanged(dataset_folder)


any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*GOOD, "score", "attributes", "x"]), inner, max_size=6)
    ),
    max_leaves=20,
)


@settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(boxes=any_json, revision=st.just(1) | any_json)
def test_any_json_is_taken_or_refused_but_never_breaks_the_server(
    client: TestClient, boxes: object, revision: object
) -> None:
    answer = send(client, json.dumps({"revision": revision, "boxes": boxes}).encode())
    assert answer.status_code in (200, 409, 422)
    with_boxes = client.get(f"{API}/pictures/1").json()["boxes"]
    assert with_boxes in (
        [],
        [b | {"angle_deg": None, "visible": None, "attributes": {}} for b in _first()],
    )


def _first() -> list[dict[str, object]]:
    names = ("label", "x0", "y0", "x1", "y1", "score")
    return [{name: getattr(box, name) for name in names} for box in FIRST_BOXES]


def test_a_body_of_ten_megabytes_is_refused(client: TestClient, dataset_folder: Path) -> None:
    big = b" " * 10_000_000
    answer = send(client, big)
    assert answer.status_code == 413
    assert answer.json()["detail"] == f"the body is larger than {MAX_BODY_BYTES:,} bytes"

    def in_parts() -> Iterator[bytes]:
        # No length is sent beforehand: it is counted as it comes.
        for _ in range(160):
            yield b" " * 65_536

    answer = client.put(BOXES, content=in_parts(), headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert unchanged(dataset_folder)


@pytest.mark.parametrize("length", ["ten", "-1", "1" * 5000, "+5"])
def test_a_length_that_is_none_is_refused(client: TestClient, length: str) -> None:
    answer = send(client, b"{}", **{"content-length": length})
    assert answer.status_code in (400, 413)


@pytest.mark.parametrize(
    "url",
    [
        "/pictures/0", "/pictures/-1", "/pictures/999", "/pictures/1e3", "/pictures/one",
        "/pictures/9223372036854775807", "/pictures/9223372036854775808",
        "/pictures/999/image", "/pictures/999/thumbnail", "/pictures/999/history",
        "/pictures/999/deal", "/pictures/1/history/0", "/pictures/1/history/99999999999999999999",
        "/pictures?limit=0", "/pictures?limit=100000", "/pictures?after=-1",
        "/pictures?after=99999999999999999999", "/pictures?confirmed=perhaps",
        "/count?at=-5",
    ],
)  # fmt: skip
def test_what_is_not_there_is_said(client: TestClient, url: str) -> None:
    answer = client.get(API + url)
    assert answer.status_code in (404, 422)
    assert isinstance(answer.json()["detail"], str)


def test_no_other_dataset_or_file_can_be_reached(client: TestClient) -> None:
    for url in (
        "/api/datasets/other", "/api/datasets/..%2f..", "/api/datasets/%2e%2e/pictures",
        "/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/%2e%2e/app.py",
        "/static//etc/passwd", "/docs", "/redoc",
    ):  # fmt: skip
        answer = client.get(url)
        assert answer.status_code == 404, url
        assert isinstance(answer.json()["detail"], str)


@pytest.mark.parametrize(
    "name", ["../secret.jpg", "../../secret.jpg", "/etc/hostname", "a/../../secret.jpg", "link.jpg"]
)
@pytest.mark.parametrize("what", ["image", "thumbnail"])
def test_no_file_outside_the_dataset_is_served(
    client: TestClient, dataset_folder: Path, name: str, what: str
) -> None:
    picture = (dataset_folder / PICTURES / "2.jpg").read_bytes()
    (dataset_folder / "secret.jpg").write_bytes(picture)
    (dataset_folder.parent / "secret.jpg").write_bytes(picture)
    (dataset_folder / PICTURES / "link.jpg").symlink_to(dataset_folder.parent / "secret.jpg")
    # The manifest itself takes no such name: somebody wrote it past the program.
    db = sqlite3.connect(dataset_folder / MANIFEST)
    with db:
        db.execute("UPDATE pictures SET file = ? WHERE id = 1", (name,))
    db.close()
    answer = client.get(f"{API}/pictures/1/{what}")
    assert answer.status_code == 404
    assert answer.json()["detail"] == f"{name}: lies outside the dataset's folder"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_in_place_of_an_image_does_not_hang(
    client: TestClient, dataset_folder: Path
) -> None:
    place = dataset_folder / PICTURES / "1.jpg"
    place.unlink()
    os.mkfifo(place)
    assert client.get(f"{API}/pictures/1/image").status_code == 404


def test_a_page_in_place_of_an_image_is_no_page(client: TestClient, dataset_folder: Path) -> None:
    page = b"<script>alert(1)</script>"
    (dataset_folder / PICTURES / "1.html").write_bytes(page)
    db = sqlite3.connect(dataset_folder / MANIFEST)
    with db:
        db.execute("UPDATE pictures SET file = '1.html' WHERE id = 1")
    db.close()
    answer = client.get(f"{API}/pictures/1/image")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "script-src 'self'" in answer.headers["content-security-policy"]


def test_names_in_pages_are_text(tmp_path: Path) -> None:
    folder = tmp_path / "<img src=x onerror=alert(1)>"
    with Dataset.create(folder, ["</script><script>alert(2)</script>"]) as dataset:
        dataset.add_picture(NewPicture("a.jpg", 8, 8, sha256="0" * 64))
    with TestClient(create_app(WebSettings(datasets=(folder,))), base_url="http://localhost") as c:
        for url in ("/", "/datasets"):
            page = c.get(url, follow_redirects=True)
            assert page.status_code == 200
            assert "<img src=x" not in page.text
            assert "<script>alert" not in page.text


# The gate


def test_only_the_servers_own_names_are_answered(client: TestClient) -> None:
    for host in ("127.0.0.1:8471", "localhost", "LOCALHOST:1", "[::1]:8471"):
        assert client.get(API, headers={"host": host}).status_code == 200
    for host in ("evil.example:8471", "127.0.0.1.evil.example", "127.0.0.1@evil.example", "", "a b",
                 "localhost/x", "[::1", "localhost:x", "0.0.0.0"):  # fmt: skip
        answer = client.get(API, headers={"host": host})
        assert answer.status_code == 421, host
        assert isinstance(answer.json()["detail"], str)


def test_hosts_can_be_added(dataset_folder: Path) -> None:
    settings = WebSettings(datasets=(dataset_folder,), hosts=frozenset({"Pit.Example"}))
    with TestClient(create_app(settings), base_url="http://pit.example:80") as client:
        assert client.get(API).status_code == 200
        assert client.get(API, headers={"host": "localhost"}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_writes_of_other_sites_are_refused(
    client: TestClient, dataset_folder: Path, headers: dict[str, str]
) -> None:
    assert send(client, body(), **headers).status_code == 403
    assert unchanged(dataset_folder)


def test_a_write_needs_its_header_and_json(client: TestClient, dataset_folder: Path) -> None:
    good = body().encode()
    del client.headers["x-feltwatch"]
    assert send(client, good).status_code == 403
    client.headers["x-feltwatch"] = "1"
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        answer = client.put(BOXES, content=good, headers={"content-type": kind})
        assert answer.status_code == 422
    assert unchanged(dataset_folder)
    own = {"origin": "http://127.0.0.1:8471", "sec-fetch-site": "same-origin"}
    assert send(client, good, **own).status_code == 200


def test_no_page_is_given_to_other_sites(client: TestClient) -> None:
    for url in ("/datasets/cards/review", API, "/static/review/main.js", "/nowhere"):
        answer = client.get(url, headers={"origin": "http://evil.example"})
        assert "access-control-allow-origin" not in answer.headers
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
    asked = client.options(BOXES, headers={"origin": "http://evil.example",
                                           "access-control-request-method": "PUT"})  # fmt: skip
    assert asked.status_code == 405


@given(st.text(max_size=40))
def test_any_host_header_is_read_without_an_error(text: str) -> None:
    name = host_name(text)
    assert name is None or "/" not in name


def test_websockets_are_not_let_past_the_gate() -> None:
    import asyncio

    called: list[object] = []

    async def app(*_: object) -> None:
        called.append(_)

    async def nothing(*_: object) -> Any:
        raise AssertionError("nothing is read or sent")

    scope = {"type": "websocket", "headers": []}
    asyncio.run(Gate(app, ["localhost"])(scope, nothing, nothing))
    assert not called


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "x" * 61, "\x00", None, 7])
def test_names_that_are_none_are_refused(client: TestClient, name: object) -> None:
    assert client.put("/api/me", json={"name": name}).status_code == 422
    assert client.get("/api/me").json()["name"] == "ann"


@pytest.mark.parametrize("cookie", ["%00", "%ff", "a%0ab", "x" * 500, "%F0%9F"])
def test_a_spoilt_cookie_is_no_name(client: TestClient, cookie: str) -> None:
    answer = client.get("/api/me", headers={"cookie": f"feltwatch_person={cookie}"})
    assert answer.json()["name"] == "ann"
