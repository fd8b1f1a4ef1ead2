"""The command line: help, exit codes, one line for an error."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import product, takewhile
from pathlib import Path
from typing import Any

import pytest
import typer

from settlement.errors import FeltwatchError
from settlement.record import Fault
from surveillance import cli
from surveillance.alerts.model import Alert
from surveillance.audit.recording import AuditSummary
from surveillance.cli import main
from surveillance.cli.game.schema_cmd import Form
from surveillance.stopped import Stopped
from tests.surveillance.handmade import observed_round


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name in cli.COMMANDS:
        assert name in shown


def test_a_file_of_rules_alone_is_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """Markup takes what stands in square brackets."""
    assert main(["settle", "--help"]) == 0
    assert "[limits.main]" in capsys.readouterr().out


def test_help_names_the_deck_that_cards_takes_samples_of() -> None:
    assert "deck" in cli.COMMANDS["cards"].short_help


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    assert f"feltwatch {name}" in capsys.readouterr().out


PAGE = Path(__file__).parents[3] / "docs" / "commands.md"


def _subcommands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The commands below one, by their words; a group itself is none."""
    if not hasattr(command, "commands"):
        yield path
        return
    for name, one in command.commands.items():
        yield from _subcommands(one, (*path, name))


def _named(page: str) -> set[tuple[str, ...]]:
    """The words of the commands that a page's table names; `a|b` names two."""
    rows = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `feltwatch ")]
    found: set[tuple[str, ...]] = set()
    for spans in (re.findall(r"`feltwatch ([^`]+)`", row.replace("\\|", "|")) for row in rows):
        for span in spans:
            words = list(takewhile(re.compile(r"[a-z]+(\|[a-z]+)*").fullmatch, span.split()))
            for some in product(*(word.split("|") for word in words)):
                found |= {some[:count] for count in range(1, len(some) + 1)}
    return found


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_the_page_of_commands_names_every_command_and_no_other(name: str) -> None:
    root: Any = typer.main.get_command(cli.build_app(name))
    commands = set(_subcommands(root.commands[name], (name,)))
    named = {path for path in _named(PAGE.read_text(encoding="utf-8")) if path[0] == name}
    assert commands - named == set()
    groups = {path[:count] for path in commands for count in range(1, len(path))}
    forms = {("schema", form.value) for form in Form}
    assert named - commands - groups - forms == set()


def test_the_page_of_commands_names_no_command_that_is_gone() -> None:
    assert {path[0] for path in _named(PAGE.read_text(encoding="utf-8"))} == set(cli.COMMANDS)


@pytest.mark.parametrize("name", sorted(set(cli.COMMANDS) - {"model"}))
def test_every_command_s_help_has_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    main([name, "--help"])
    assert "Example" in capsys.readouterr().out


_LOOK = """
import sys
from surveillance.cli import main
try:
    main(sys.argv[1:])
finally:
    heavy = {"torch", "ultralytics", "openvino", "cv2", "av", "jinja2"} & set(sys.modules)
    print("HEAVY", sorted(heavy))
"""


@pytest.mark.parametrize(
    ("arguments", "may_bring"),
    [
        (["--help"], set()),
        (["version"], set()),
        (["schema", "round"], set()),
        (["score", "--help"], {"cv2", "av"}),
        (["audit", "--help"], {"cv2", "av", "jinja2"}),
        (["demo", "--help"], {"cv2", "av", "jinja2"}),
    ],
)
def test_commands_bring_only_what_they_need(arguments: list[str], may_bring: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOOK, *arguments], capture_output=True, text=True, check=True
    )
    line = done.stdout.strip().splitlines()[-1]
    brought = set(json.loads(line.removeprefix("HEAVY ").replace("'", '"')))
    assert brought <= may_bring


@pytest.mark.parametrize(
    "arguments",
    [
        ["audit", "none.mp4", "--table", "none.toml", "--out", "out"],
        ["demo", "--sample", "none"],
        ["score", "--truth", "none.jsonl", "--rounds", "none.jsonl"],
    ],
)
def test_an_error_is_one_line_and_exit_code_2(
    arguments: list[str],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*arguments, *(["--quiet"] if arguments[0] != "score" else [])]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("feltwatch: error: none")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["audit"], ["schema", "nonsense"], ["audit", "--nonsense"]]
)
def test_wrong_use_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "Usage" in capsys.readouterr().err


def test_an_audit_ends_by_sigterm_as_by_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The handler that is there before keeps a failing test from ending the test run.
    before = signal.signal(signal.SIGTERM, lambda *_: None)

    def audit(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("the audit went on")

    monkeypatch.setattr("surveillance.audit.recording.audit", audit)
    (tmp_path / "film.mp4").touch()
    film, out = str(tmp_path / "film.mp4"), str(tmp_path / "out")
    try:
        assert main(["audit", film, "--table", film, "--out", out, "--quiet"]) == 130
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)
    assert "feltwatch: stopped: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (FeltwatchError("a\nb"), 2, "feltwatch: error: a b"),
        (Stopped("nothing was kept"), 130, "feltwatch: stopped: nothing was kept"),
        (KeyboardInterrupt(), 130, "feltwatch: stopped: "),
        (OSError(28, "No space left on device", "x.jsonl"), 2,
         "feltwatch: error: x.jsonl: No space left on device"),
    ],
)  # fmt: skip
def test_what_a_command_raises(
    error: BaseException,
    code: int,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> str:
        raise error

    monkeypatch.setattr("surveillance.cli.version_cmd.installed_version", fail)
    assert main(["version"]) == code
    err = capsys.readouterr().err
    assert line in err
    assert "Traceback" not in err


def test_a_part_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "surveillance.cli.models.model_cmd", None)
    assert main(["model", "train"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("feltwatch: error: the command 'model' cannot start")
    assert err.count("\n") == 1
    assert main(["version"]) == 0


LINES = ("Lay", "PhaseLine", "StepLine", "UndecidedLine")


@pytest.mark.parametrize("form", list(Form))
def test_schemas(form: Form, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", form.value]) == 0
    schema = json.loads(capsys.readouterr().out)
    # A line of the timeline is one of several.
    for part in [schema["$defs"][key] for key in LINES] if "oneOf" in schema else [schema]:
        assert part["type"] == "object"
        assert part["additionalProperties"] is False


def _write(folder: Path, name: str, lines: list[str]) -> str:
    (folder / name).write_text("".join(line + "\n" for line in lines))
    return str(folder / name)


@pytest.fixture
def scored(tmp_path: Path, table_path: Path) -> list[str]:
    """Arguments of a score: an overpaid round that was found, with one false alert."""
    record = observed_round(1, paid_cents=3000).record
    fault = Fault(code="OVERPAID", seat=3, wager="main")
    truth = record.model_copy(update={"faults": (fault,)})
    alerts = [
        Alert(alert_id="a1", round_id=record.round_id, code="OVERPAID", severity="high", seat=3,
              wager="main", message="m"),
        Alert(alert_id="a2", round_id=record.round_id, code="LIMIT", severity="medium", seat=3,
              wager="main", message="m"),
    ]  # fmt: skip
    return [
        "score",
        "--truth", _write(tmp_path, "truth.jsonl", [truth.to_json()]),
        "--rounds", _write(tmp_path, "rounds.jsonl", [record.to_json()]),
        "--alerts", _write(tmp_path, "alerts.jsonl", [a.to_json() for a in alerts]),
    ]  # fmt: skip


def test_score_as_json(scored: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*scored, "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert form["rounds"]["found"] == 1
    assert form["alerts"] == {
        "faults": 1, "found": 1, "false": 1, "undecided_seats": 0,
        "by_code": {
            "LIMIT": {"faults": 0, "found": 0, "false": 1},
            "OVERPAID": {"faults": 1, "found": 1, "false": 0},
        },
    }  # fmt: skip
    assert form["clean_rounds"] == 0


def test_score_as_tables(scored: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(scored) == 0
    shown = capsys.readouterr().out
    for words in ("Rounds", "cards", "100.00%", "OVERPAID", "95% interval", "per shift of 300"):
        assert words in shown


def test_a_truth_without_faults_is_noted_or_derived(
    scored: list[str], tmp_path: Path, table_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(tmp_path, "truth.jsonl", [observed_round(1, paid_cents=3000).record.to_json()])
    assert main([*scored, "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["alerts"] is None
    assert "has no faults, so alerts are not scored; give --table" in err
    assert main([*scored, "--json", "--table", str(table_path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out)["alerts"]["by_code"]["OVERPAID"] == {"faults": 1, "found": 1, "false": 0}


@pytest.mark.parametrize("line", ["{", '{"alert_id": "a"}', '{"nonsense": 1}'])
def test_a_wrong_alerts_file_names_its_line(
    scored: list[str], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(tmp_path, "alerts.jsonl", ["", line])
    assert main(scored) == 2
    assert "alerts.jsonl, line 2: " in capsys.readouterr().err


SUMMARY = AuditSummary(
    video="v.mp4", table="t1", out="o", duration_s=90, wall_s=30, speed=3, rounds=3, alerts=1,
    alerts_by_code={"OVERPAID": 1}, undecided=0, warnings=("it is dark",),
)  # fmt: skip


@pytest.mark.parametrize(
    ("extra", "resumes", "anew", "is_said"),
    [
        ([], True, False, True),
        (["--quiet"], True, False, False),
        (["--anew"], True, True, True),
        (["--candidates", "3"], False, False, True),
    ],
)
def test_an_audit_goes_on_unless_it_keeps_candidates(
    extra: list[str],
    resumes: bool,
    anew: bool,
    is_said: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fake(*_: object, **kwargs: Any) -> AuditSummary:
        assert (kwargs["resumes"], kwargs["anew"]) == (resumes, anew)
        if kwargs["on_resume"] is not None:
            kwargs["on_resume"]("12:34.0")
        return SUMMARY

    monkeypatch.setattr("surveillance.audit.recording.audit", fake)
    assert main(["audit", "v.mp4", "--table", "t.toml", "--out", "o", *extra]) == 0
    line = "going on from 12:34.0 of the video; --anew begins again\n"
    assert (line in capsys.readouterr().err) == is_said


@pytest.mark.parametrize("extra", [[], ["--json"], ["--quiet"]])
def test_audit_prints_what_it_found(
    extra: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fake(*_: object, **kwargs: object) -> AuditSummary:
        assert (kwargs["on_progress"] is None) == ("--quiet" in extra)
        return SUMMARY

    monkeypatch.setattr("surveillance.audit.recording.audit", fake)
    assert main(["audit", "v.mp4", "--table", "t.toml", "--out", "o", *extra]) == 0
    out = capsys.readouterr().out
    if "--json" in extra:
        assert json.loads(out) == json.loads(SUMMARY.model_dump_json())
    else:
        assert "3 rounds in 01:30.0 of video" in out
        assert "OVERPAID 1" in out
        assert "it is dark" in out
        assert "report: o/report.html" in out
