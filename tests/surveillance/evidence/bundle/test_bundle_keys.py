"""The key of a log: made once, kept to its owner, and what its signatures show."""

from __future__ import annotations

import json
import shutil
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from settlement.errors import FeltwatchError
from surveillance.cli import main
from surveillance.evidence.bundle import (
    CHAIN_FILE,
    Chain,
    SigningKey,
    VerifyKey,
    site_key,
    verify_folder,
)
from surveillance.evidence.bundle.chain import HEAD_LOST, KEY, head_path
from surveillance.evidence.bundle.head import read_head
from surveillance.evidence.bundle.site_key import NEW_SUFFIX
from surveillance.evidence.bundle.verify_log import check_log
from tests.surveillance.evidence.bundle.evidence_made import make_evidence
from tests.surveillance.evidence.bundle.test_bundle_tamper import write_anew


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    return tmp_path / "data" / "evidence"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    return tmp_path / "keys" / "evidence-key.pem"


def entries_of(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / CHAIN_FILE).read_bytes().splitlines()]


def test_servers_that_start_together_make_one_key(tmp_path: Path) -> None:
    for again in range(20):
        evidence, key_file = tmp_path / f"{again}" / "evidence", tmp_path / f"{again}" / "k.pem"
        together = threading.Barrier(6)

        def start(
            key_file: Path = key_file, evidence: Path = evidence,
            together: threading.Barrier = together,
        ) -> str:  # fmt: skip
            together.wait()
            return site_key(key_file, evidence).public.id

        with ThreadPoolExecutor(6) as pool:
            made = {one.result() for one in [pool.submit(start) for _ in range(6)]}
        assert made == {VerifyKey.load(key_file).id}
        assert [line["act"] for line in entries_of(evidence)] == [KEY]


def test_a_key_is_made_once_and_only_its_owner_reads_it(evidence: Path, key_file: Path) -> None:
    key = site_key(key_file, evidence)
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert sorted(p.name for p in key_file.parent.iterdir()) == [
        "evidence-key.pem",
        "evidence-key.pem.pub",
    ]
    assert site_key(key_file, evidence).public.id == key.public.id
    assert VerifyKey.load(key_file.with_name("evidence-key.pem.pub")).id == key.public.id
    assert VerifyKey.load(key_file).id == key.public.id
    [line] = entries_of(evidence)
    assert line["act"] == KEY
    key_file.chmod(0o640)
    with pytest.raises(FeltwatchError, match="others may read this private key: chmod 600"):
        site_key(key_file, evidence)


def test_a_signature_is_of_the_standard(evidence: Path, key_file: Path) -> None:
    """Anybody can check a line without this program: RFC 8032 over the line's own JSON."""
    key = site_key(key_file, evidence)
    make_evidence(evidence, key=key)
    public = serialization.load_pem_public_key(key.public.to_pem())
    assert isinstance(public, Ed25519PublicKey)
    for entry in entries_of(evidence):
        signature = bytes.fromhex(str(entry.pop("signature")))
        entry.pop("sha256")
        text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
        public.verify(signature, b"feltwatch line\n" + text.encode())


def test_a_rewritten_chain_is_found_with_the_key_alone(evidence: Path, key_file: Path) -> None:
    key = site_key(key_file, evidence)
    make_evidence(evidence, key=key)
    entries = [e for e in entries_of(evidence) if e["act"] != "verdict"]
    for how in ("plain", "own", "copied"):
        write_anew(evidence, entries, how)
        [note] = verify_folder(evidence).notes
        assert verify_folder(evidence).problems == (), how
        assert (
            "could have rewritten all of it" in note
            if how == "plain"
            else (
                "the chain holds together; without the key a log that was rewritten as a whole is "
                "not found" in note
            )
        )
        problems = verify_folder(evidence, key=key.public).problems
        assert problems, how
        assert all(Path(p.file).name == CHAIN_FILE for p in problems)


def test_what_is_signed_goes_on_after_a_chain_was_put_in_its_place(
    evidence: Path, key_file: Path
) -> None:
    """The program never signs on from what somebody else wrote as if it were its own."""
    key = site_key(key_file, evidence)
    make_evidence(evidence, key=key)
    write_anew(evidence, entries_of(evidence)[:2], "plain")
    site_key(key_file, evidence)
    Chain.of(evidence, key).append("note", {})
    assert [e["act"] for e in entries_of(evidence)][-2:] == [HEAD_LOST, "note"]
    check = check_log(evidence / CHAIN_FILE, key=key.public)
    assert any("gone or altered when this was written" in p.message for p in check.problems)


def test_lines_and_head_each_need_the_key(evidence: Path, key_file: Path) -> None:
    key = site_key(key_file, evidence)
    make_evidence(evidence, key=key)
    # A program that was not given the key: its lines are reported.
    Chain.of(evidence).append("note", {})
    found = verify_folder(evidence, key=key.public).problems
    assert {(p.line, p.message.split(":")[0]) for p in found} == {
        (8, "carries no signature"),
        (None, f"{CHAIN_FILE}.head"),
    }
    # A signature of one line does not do for another, nor one of a line for the head.
    path = evidence / CHAIN_FILE
    head = read_head(path)
    assert head is not None
    forged = key.sign({"number": 1, "last": "0" * 64, "size": 0, "pending": None}, "line")
    assert key.public.state(forged, "head") == "false"


def test_a_log_of_old_is_taken_over_as_it_stands(evidence: Path, key_file: Path) -> None:
    make_evidence(evidence)
    assert "not signed" in verify_folder(evidence).notes[0]
    before = (evidence / CHAIN_FILE).read_bytes()
    key = site_key(key_file, evidence)
    assert (evidence / CHAIN_FILE).read_bytes().startswith(before)
    make_evidence(evidence, key=key, first=4)
    check = verify_folder(evidence, key=key.public)
    assert check.problems == ()
    assert (check.signed, check.lines) == (7, 13)
    [note] = check.notes
    assert note.startswith("6 lines were written before this key first signed, at 20")
    # What was taken over is held by the first signed line.
    lines = (evidence / CHAIN_FILE).read_bytes().splitlines(keepends=True)
    entries = entries_of(evidence)
    other = evidence.parent / "other"
    shutil.copytree(evidence, other)
    write_anew(other, entries[:5], "plain")
    forged = (other / CHAIN_FILE).read_bytes() + b"".join(lines[5:])
    (evidence / CHAIN_FILE).write_bytes(forged)
    assert verify_folder(evidence, key=key.public).problems == ()  # the same lines once more
    entries[2]["detail"] = {"alert": 1}
    write_anew(other, entries[:6], "plain")
    (evidence / CHAIN_FILE).write_bytes((other / CHAIN_FILE).read_bytes() + b"".join(lines[6:]))
    problems = verify_folder(evidence, key=key.public).problems
    assert "entry 6 was rewritten" in " ".join(p.message for p in problems)


def test_a_new_key_follows_one_that_was_lost(evidence: Path, key_file: Path) -> None:
    first = site_key(key_file, evidence)
    make_evidence(evidence, 1, key=first)
    key_file.unlink()
    second = site_key(key_file, evidence)
    assert second.public.id != first.public.id
    make_evidence(evidence, 1, key=second, first=2)
    check = verify_folder(evidence, key=second.public)
    assert (check.problems, check.signed) == ((), 3)
    # By the first key, what came later is another's.
    messages = {p.message for p in verify_folder(evidence, key=first.public).problems}
    assert "is signed by another key" in messages


@pytest.mark.parametrize("log", [False, True])
def test_a_crash_before_the_key_stands_is_made_good(
    evidence: Path, key_file: Path, log: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if log:
        make_evidence(evidence)

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    for place in ("begin_signing", "_finish"):
        with monkeypatch.context() as patch:
            patch.setattr(Chain, place, crash)
            with pytest.raises(KeyboardInterrupt):
                site_key(key_file, evidence)
        assert not key_file.exists()
    made = SigningKey.load(key_file.with_name(key_file.name + NEW_SUFFIX))
    key = site_key(key_file, evidence)
    assert key.public.id == made.public.id
    Chain.of(evidence, key).append("note", {})
    check = verify_folder(evidence, key=key.public)
    assert check.problems == ()
    assert [e["act"] for e in entries_of(evidence)].count(KEY) == 1


def test_a_key_in_the_evidence_folder_is_refused(evidence: Path) -> None:
    with pytest.raises(FeltwatchError, match="beside what it is to guard"):
        site_key(evidence / "keys" / "k.pem", evidence)
    assert not evidence.exists()


def test_what_is_no_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "k.pem"
    with pytest.raises(FeltwatchError, match="No such file"):
        VerifyKey.load(path)
    path.write_text("nothing")
    path.chmod(0o600)
    with pytest.raises(FeltwatchError, match="is no key in PEM form"):
        VerifyKey.load(path)
    with pytest.raises(FeltwatchError, match="is no private key in PEM form"):
        SigningKey.load(path)
    other = generate_private_key(SECP256R1())
    path.write_bytes(
        other.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    for load in (VerifyKey.load, SigningKey.load):
        with pytest.raises(FeltwatchError, match="no Ed25519 key"):
            load(path)


def test_the_command_checks_by_the_key_and_says_when_it_did_not(
    evidence: Path, key_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = site_key(key_file, evidence)
    refs = make_evidence(evidence, key=key)
    public = str(key_file) + ".pub"
    assert main(["verify", str(evidence), "--key", public]) == 0
    said = capsys.readouterr().out
    assert f"signed by the key {key.public.id}: 7 of 7 lines" in said
    assert main(["verify", str(evidence)]) == 0
    said = capsys.readouterr().out
    assert "note: the chain holds together; without the key a log that was rewritten" in said
    assert main(["verify", str(refs[0].path), "--key", public, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["key"], printed["signed"], printed["changed"]) == (key.public.id, 7, False)
    write_anew(evidence, entries_of(evidence), "plain")
    assert main(["verify", str(evidence), "--key", public]) == 1
    said = capsys.readouterr().out
    assert f"no line is signed by the key {key.public.id}: all of it was rewritten" in said
    head_path(evidence / CHAIN_FILE).unlink()
    assert main(["verify", str(evidence), "--key", str(evidence / CHAIN_FILE)]) == 2
