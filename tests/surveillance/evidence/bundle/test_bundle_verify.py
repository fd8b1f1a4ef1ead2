"""What `feltwatch verify` finds, and what it says about it."""

from __future__ import annotations

import importlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from settlement.errors import FeltwatchError
from surveillance.cli import main
from surveillance.evidence.bundle import (
    CHAIN_FILE,
    BundleRef,
    Problem,
    VerifyKey,
    part_span,
    verify_bundle,
    verify_folder,
    verify_log,
    write_bundle,
)
from surveillance.evidence.bundle.canonical import canonical_json, sealed
from surveillance.evidence.bundle.chain import Chain, Head, head_path, read_head
from surveillance.evidence.bundle.verify_log import LogCheck, check_log
from tests.surveillance.evidence.bundle.evidence_made import contents, make_clip, make_evidence

verify_log_module = importlib.import_module("surveillance.evidence.bundle.verify_log")
verify_folder_module = importlib.import_module("surveillance.evidence.bundle.verify_folder")
Lines = list[bytes]


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    make_evidence(tmp_path / "evidence")
    return tmp_path / "evidence"


@pytest.fixture
def bundle(evidence: Path) -> Path:
    return sorted(evidence.rglob("*.zip"))[0]


def test_what_is_no_bundle_is_refused_and_not_called_altered(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("# Evidence\n")
    assert main(["verify", str(readme)]) == 2
    out, err = capsys.readouterr()
    assert "altered" not in out + err
    assert f"{readme}: no bundle: expected" in err
    # One that was damaged beyond its manifest is altered, whatever it is called.
    data = bundle.read_bytes()
    for name in ("damaged.zip", "damaged"):
        damaged = tmp_path / name
        damaged.write_bytes(b"\0" * 4000 + data[4000:])
        assert main(["verify", str(damaged)]) == 1
        assert "altered" in capsys.readouterr().out


@pytest.mark.parametrize("read", [1, 2])
def test_a_line_that_is_written_while_the_log_is_read_is_no_change(
    evidence: Path, monkeypatch: pytest.MonkeyPatch, read: int
) -> None:
    """A server appends it before the head is read for the first or second time."""
    reads = 0

    def counted(path: Path) -> Head | None:
        nonlocal reads
        reads += 1
        if reads == read:
            Chain.of(evidence).append("verdict", {"alert": 9, "verdict": "confirmed"})
        return read_head(path)

    monkeypatch.setattr(verify_log_module, "read_head", counted)
    assert verify_log(evidence / CHAIN_FILE) == ()
    assert reads >= read


@pytest.mark.parametrize("is_after", [False, True])
def test_a_bundle_that_is_written_while_the_folder_is_read_is_no_change(
    evidence: Path, monkeypatch: pytest.MonkeyPatch, *, is_after: bool
) -> None:
    """A server writes it between the list of bundles and the log, or the other way round."""

    def check(*given: Any) -> LogCheck:
        known = check_log(*given)
        write_bundle(evidence / "2026-03-01", contents(9, make_clip(evidence)), Chain.of(evidence))
        return known if is_after else check_log(*given)

    monkeypatch.setattr(verify_folder_module, "check_log", check)
    assert verify_folder(evidence).problems == ()


def rewritten(line: bytes, **changes: object) -> bytes:
    """The line with another content and the hash that fits it."""
    return canonical_json(sealed({**json.loads(line), **changes})) + b"\n"


def lines_of(folder: Path) -> Lines:
    return (folder / CHAIN_FILE).read_bytes().splitlines(keepends=True)


def test_what_was_not_changed_is_sound(evidence: Path, bundle: Path) -> None:
    check = verify_folder(evidence)
    assert (check.problems, check.bundles, check.lines) == ((), 3, 6)
    assert verify_bundle(bundle) == ()


def altered(lines: Lines) -> Lines:
    return [*lines[:2], lines[2].replace(b"OVERPAID", b"UNDERPAY"), *lines[3:]]


LOG_CHANGES: dict[str, tuple[Callable[[Lines], Lines], set[tuple[str, int | None, int | None]]]] = {
    "altered": (altered, {("altered", 3, 3)}),
    "first altered": (lambda s: [b"{}\n", *s[1:]], {("altered", 1, 1)}),
    "blank line": (lambda s: [*s[:2], b"\n", *s[2:]], {("altered", 3, None)}),
    "space added": (lambda s: [*s[:2], b" " + s[2], *s[3:]], {("altered", 3, 3)}),
    "removed": (lambda s: [*s[:2], *s[3:]], {("removed", 2, 3)}),
    "first removed": (lambda s: s[1:], {("removed", None, 1)}),
    "last removed": (lambda s: s[:-1], {("removed", 5, 6)}),
    "all removed": (lambda _: [], {("removed", None, n) for n in range(1, 7)}),
    "two removed": (lambda s: [s[0], *s[3:]], {("removed", 1, 2), ("removed", 1, 3)}),
    "moved down": (lambda s: [s[0], *s[2:5], s[1], s[5]], {("moved", 5, 2)}),
    "moved up": (lambda s: [s[0], s[4], *s[1:4], s[5]], {("moved", 2, 5)}),
    "moved to the end": (lambda s: [*s[:1], *s[2:], s[1]], {("moved", 6, 2)}),
    "copied": (lambda s: [*s, s[2]], {("copied", 7, 3)}),
    "copied in place": (lambda s: [*s[:3], s[2], *s[3:]], {("copied", 4, 3)}),
    "rewritten": (
        lambda s: [*s[:2], rewritten(s[2], act="x"), *s[3:]],
        {("altered", 3, 3)},
    ),
    "last rewritten": (lambda s: [*s[:5], rewritten(s[5], act="x")], {("altered", 6, 6)}),
    "first rewritten": (lambda s: [rewritten(s[0], prev="ab"), *s[1:]], {("altered", 1, 1)}),
    "added": (
        lambda s: [*s, rewritten(s[5], number=7, prev=json.loads(s[5])["sha256"])],
        {("added", 7, 7)},
    ),
    "no end of line": (lambda s: [*s[:5], s[5].rstrip()], {("altered", 6, 6)}),
    "cut in the middle": (lambda s: [*s[:5], s[5][:50]], {("altered", 6, 6)}),
}


@pytest.mark.parametrize("change", LOG_CHANGES)
def test_a_change_in_the_log_is_named_with_its_line(evidence: Path, change: str) -> None:
    how, expected = LOG_CHANGES[change]
    (evidence / CHAIN_FILE).write_bytes(b"".join(how(lines_of(evidence))))
    problems = verify_log(evidence / CHAIN_FILE)
    found = {(problem.kind, problem.line, problem.entry) for problem in problems}
    if "rewritten" in change:  # its hash is reported as wrong as well as what follows
        assert expected <= found
        assert {line for _, line, _ in found} == {line for _, line, _ in expected}
    else:
        assert found == expected


def test_two_lines_swapped_are_reported(evidence: Path) -> None:
    lines = lines_of(evidence)
    lines[1], lines[3] = lines[3], lines[1]
    (evidence / CHAIN_FILE).write_bytes(b"".join(lines))
    moved = {(p.kind, p.line) for p in verify_log(evidence / CHAIN_FILE)}
    assert moved == {("moved", 2), ("moved", 4)}


def test_a_changed_head_is_reported(evidence: Path) -> None:
    head = head_path(evidence / CHAIN_FILE)
    head.write_bytes(head.read_bytes().replace(b'"number":6', b'"number":5'))
    [problem] = verify_log(evidence / CHAIN_FILE)
    assert "chain.jsonl.head: the head record is gone or altered" in problem.message
    head.unlink()
    assert len(verify_log(evidence / CHAIN_FILE)) == 1


def test_a_log_that_is_gone_is_reported(evidence: Path) -> None:
    (evidence / CHAIN_FILE).unlink()
    assert "the log is gone" in [p.message for p in verify_folder(evidence).problems]
    head_path(evidence / CHAIN_FILE).unlink()
    assert "the log is gone" in [p.message for p in verify_folder(evidence).problems]


def test_a_part_that_was_changed_is_named(bundle: Path) -> None:
    offset, _ = part_span(bundle, "pictures/seat3.jpg")
    data = bytearray(bundle.read_bytes())
    data[offset + 5] ^= 1
    bundle.write_bytes(data)
    [problem] = verify_bundle(bundle)
    assert problem == Problem(
        "altered", str(bundle), "is not what was put in", part="pictures/seat3.jpg"
    )


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda d: d[:-1], "1 bytes are missing"),
        (lambda d: d[: len(d) // 2], "bytes are missing"),
        (lambda d: d + b"\0", "1 bytes are too many, at the end"),
        (lambda d: b"MZ" + d, "2 bytes are too many"),
        (lambda d: d[:3000] + d[3001:], "1 bytes are missing, from the bytes of"),
        (lambda _: b"", "is not as it was written"),
        (lambda _: b"PK\x03\x04" + bytes(50), "is not as it was written"),
    ],
)
def test_a_file_cut_or_lengthened_is_reported(
    bundle: Path, change: Callable[[bytes], bytes], kind: str
) -> None:
    bundle.write_bytes(change(bundle.read_bytes()))
    problems = verify_bundle(bundle)
    assert problems
    assert any(kind in problem.message for problem in problems) or kind.startswith("2 bytes")


def test_a_broken_manifest_does_not_hide_other_parts(bundle: Path) -> None:
    data = bytearray(bundle.read_bytes())
    data[60] ^= 1
    offset, _ = part_span(bundle, "clip.mp4")
    data[offset] ^= 1
    bundle.write_bytes(data)
    assert {p.part for p in verify_bundle(bundle)} == {"manifest.json", "clip.mp4"}


def test_bundles_are_held_against_the_log(evidence: Path) -> None:
    first, second, third = sorted(evidence.rglob("*.zip"))
    other = make_evidence(evidence.parent / "other", 4)[3].path
    shutil.copyfile(other, first)  # whole by itself, yet another one
    second.rename(second.with_name("b.zip"))
    third.unlink()
    shutil.copyfile(other, evidence / "new.zip")
    found = {(p.kind, Path(p.file).name) for p in verify_folder(evidence).problems}
    assert found == {
        ("altered", first.name),
        ("moved", "b.zip"),
        ("removed", third.name),
        ("added", "new.zip"),
    }


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = main(["verify", *map(str, arguments)])
    return code, capsys.readouterr().out


def test_the_command_says_what_was_changed(
    evidence: Path, bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = run(capsys, evidence)
    assert code == 0
    assert "3 bundles and 6 lines of the log checked: nothing was changed" in said
    code, said = run(capsys, bundle, "--json")
    printed = json.loads(said)
    assert (code, printed["changed"], printed["lines"], printed["problems"]) == (0, False, 6, [])
    (evidence / CHAIN_FILE).write_bytes(b"".join(altered(lines_of(evidence))))
    code, said = run(capsys, evidence)
    assert code == 1
    assert f"{CHAIN_FILE}, line 3: altered: is not entry 3 as written" in said
    code, said = run(capsys, evidence, "--json")
    assert code == 1
    [problem] = [p for p in json.loads(said)["problems"] if p["file"].endswith(CHAIN_FILE)]
    assert (problem["kind"], problem["line"]) == ("altered", 3)


def test_one_change_is_reported_as_one(
    evidence: Path, bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle.unlink()
    code, said = run(capsys, evidence)
    assert code == 1
    assert "log checked: 1 change\n" in said


def test_a_single_bundle_is_held_against_its_log(
    evidence: Path, bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    away = tmp_path / "stick" / bundle.name
    away.parent.mkdir()
    shutil.copyfile(bundle, away)
    code, said = run(capsys, away)
    assert code == 0
    assert "checked by itself alone" in said
    log = evidence / CHAIN_FILE
    assert run(capsys, away, "--log", log)[0] == 0
    other: BundleRef = make_evidence(tmp_path / "other", 4)[3]
    code, said = run(capsys, other.path, "--log", log)
    assert code == 1
    assert "the log knows no such bundle" in said
    shutil.copyfile(other.path, away)
    code, said = run(capsys, away, "--log", log)
    assert code == 1
    assert "is not the file whose hash the log holds" in said
    renamed = away.with_name("x.zip")
    shutil.copyfile(bundle, renamed)
    code, said = run(capsys, renamed, "--log", log)
    assert code == 1
    assert "moved: the log knows it as" in said


def test_a_head_noted_elsewhere_finds_a_rewritten_log(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    noted = verify_folder(evidence).head
    Chain.of(evidence).append("note", {})
    assert run(capsys, evidence, "--head", noted)[0] == 0
    shutil.rmtree(evidence)
    make_evidence(evidence)  # whole in itself
    code, said = run(capsys, evidence, "--head", noted)
    assert code == 1
    assert f"the noted head {noted} stands in no line" in said


def test_what_cannot_be_checked_is_refused(tmp_path: Path, evidence: Path) -> None:
    assert main(["verify", str(tmp_path / "nothing")]) == 2
    (tmp_path / "empty").mkdir()
    assert main(["verify", str(tmp_path / "empty")]) == 2
    assert main(["verify", str(evidence), "--log", str(evidence / CHAIN_FILE)]) == 2
    with pytest.raises(FeltwatchError, match="no such folder"):
        verify_folder(tmp_path / "nothing")


def test_evidence_written_by_an_earlier_version_still_verifies() -> None:
    """The folder was written at version 0.1.0, before checkpoints, and is kept as it was."""
    folder = Path(__file__).parent / "written_before"
    check = verify_folder(folder / "evidence", key=VerifyKey.load(folder / "evidence-key.pem.pub"))
    assert check.problems == ()
    assert (check.bundles, check.lines, check.signed) == (2, 5, 3)
