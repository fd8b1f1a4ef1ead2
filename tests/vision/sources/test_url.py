from __future__ import annotations

import base64
import pickle
import traceback
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vision.sources.url import Address, AddressError, Kind

PASSWORDS = ("s3cret!", "p@ss/w:rd", "%41 b+c&d", "пароль", "a?b#c=d", "[x](y)*", "Üb er%2F")


@pytest.mark.parametrize(
    ("source", "kind", "where"),
    [
        ("rtsp://10.0.0.7/s", Kind.RTSP, "rtsp://10.0.0.7/s"),
        ("rtsps://cam.example:322/s?channel=1", Kind.RTSP, "rtsps://cam.example:322/s?channel=1"),
        ("rtsp://[fe80::1]:554/s", Kind.RTSP, "rtsp://[fe80::1]:554/s"),
        ("/dev/video2", Kind.DEVICE, "/dev/video2"),
        ("v4l2:/dev/video2", Kind.DEVICE, "/dev/video2"),
        ("v4l2:///dev/video2", Kind.DEVICE, "/dev/video2"),
        ("file:a b.mp4", Kind.FILE, "a b.mp4"),
        ("file:///x/a.mp4", Kind.FILE, "/x/a.mp4"),
        (" shift.mp4 ", Kind.FILE, "shift.mp4"),
    ],
)
def test_kinds_of_source_are_recognised(source: str, kind: Kind, where: str) -> None:
    address = Address.parse(source)
    assert (address.kind, address.where, address.opened) == (kind, where, where)


@pytest.mark.parametrize(
    "source",
    ["", "rtsp://", "rtsp:///s", "rtsp://u:pw@/s", "rtsp://h:no/s", "http://h/s", "rtsp://a b/"],
)
def test_what_is_no_source_is_refused_without_being_quoted(source: str) -> None:
    with pytest.raises(AddressError) as raised:
        Address.parse(source)
    assert "pw" not in str(raised.value)
    assert raised.value.__cause__ is None
    assert "pw" not in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize("password", PASSWORDS)
def test_the_camera_gets_the_password_and_nobody_else(password: str) -> None:
    address = Address.parse("rtsp://10.0.0.7:554/stream", "ann", password)
    assert address.opened == f"rtsp://ann:{quote(password, safe='')}@10.0.0.7:554/stream"
    assert address.shown == "rtsp://10.0.0.7:554/stream"
    for text in (repr(address), str(address), f"{address}", repr([address])):
        assert password not in text
        assert quote(password, safe="") not in text
    assert pickle.loads(pickle.dumps(address)) == address


@pytest.mark.parametrize("password", PASSWORDS)
def test_a_url_with_a_password_is_the_same_as_one_given_apart(password: str) -> None:
    parsed = Address.parse(f"rtsp://ann:{quote(password, safe='')}@cam/s")
    assert parsed == Address.parse("rtsp://cam/s", "ann", password)


def forms(user: str, password: str) -> list[str]:
    basic = base64.b64encode(f"{user}:{password}".encode()).decode()
    percent = "".join(f"%{b:02x}" for b in password.encode())
    return [
        password, quote(password, safe=""), quote(password, safe="").lower(), quote(password),
        percent, percent.upper(), basic,
        f"rtsp://{user}:{quote(password, safe='')}@10.0.0.7/s",
    ]  # fmt: skip


@pytest.mark.parametrize("password", PASSWORDS)
def test_every_spelling_is_blanked(password: str) -> None:
    address = Address.parse("rtsp://10.0.0.7/s", "ann", password)
    for form in forms("ann", password):
        text = address.blank(f"[rtsp @ 0x1] method DESCRIBE failed: <{form}> 401")
        assert form.lower() not in text.lower()
        assert password.lower() not in text.lower()
        assert text.startswith("[rtsp @ 0x1] method DESCRIBE failed: <")


@settings(deadline=None)
@given(st.text(min_size=3, max_size=24).filter(str.strip))
def test_any_password_is_blanked(password: str) -> None:
    address = Address.parse("rtsp://10.0.0.7/s", "ann", password)
    for form in forms("ann", password):
        blanked = address.blank(f"({form})")
        # What stands in its place may itself be the password's spelling, of asterisks.
        assert password not in blanked or set(password) <= {"*"} or password in "(***)"


def test_secrets_within_the_path_and_query_are_not_shown() -> None:
    address = Address.parse("rtsp://10.0.0.7/user=admin&password=hunter2&channel=1?token=t0k3n")
    for text in (address.shown, repr(address), address.blank(f"failed: {address.where}")):
        assert "hunter2" not in text
        assert "t0k3n" not in text
        assert "channel=1" in text
    assert "hunter2" in address.opened


def test_a_header_is_blanked_whatever_stands_in_it() -> None:
    address = Address.parse("rtsp://10.0.0.7/s", "ann", "pw")
    text = address.blank('Authorization: Digest username="ann", response="0123"\r\nCSeq: 3')
    assert text == "Authorization: ***\r\nCSeq: 3"


def test_a_colon_cannot_be_in_a_user_name() -> None:
    with pytest.raises(AddressError, match="username: a colon"):
        Address.parse("rtsp://cam/s", "a:b", "pw")
