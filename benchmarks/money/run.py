"""`feltwatch bench money`: shifts are filmed, their chips enrolled, audited, scored together."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.money.catalogue import shift_of_catalogue
from benchmarks.money.plan import FIXED, GAMES, Shift, listed_truths
from settlement.errors import FeltwatchError
from surveillance.cli.recordings.score_cmd import score_files
from surveillance.reports.score import Score
from surveillance.reports.score_merge import together
from surveillance.reports.score_reliability import reliability, reliability_form
from surveillance.reports.score_views import Cameras, money_views, views_form

Report = Callable[[str], None]

_SECOND = "shoulder"
_FILMS = ("video.mp4", f"video-{_SECOND}.mp4", "laid.png")


def bench_money(
    out: Path, numbers: Sequence[int], report: Report, *, name: str = FIXED,
    every_way: bool = False, catalogue: bool = False, samples: bool = True, keep: bool = False,
    model: Path | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Film and audit the shifts of these numbers in `out`, and score them as one and by game.

    `every_way` takes the shifts that hold every way of every mistake, `catalogue` those with the
    ways that come by their names only, and events. What is finished is not done again. A shift's
    film is removed once it was audited, unless `keep`. Without `samples` stacks are read against
    the body colours of the table file.
    Raises FeltwatchError naming the log of a step that failed, and where a shift of the fixed
    benchmark has another truth than the listed one.
    """
    drawn = Shift.of_ways if every_way else shift_of_catalogue if catalogue else Shift.of
    shifts = [drawn(name, number) for number in numbers]
    for shift in shifts:
        folder = out / f"{shift.number:02d}"
        try:
            _run(shift, folder, report, samples=samples, keep=keep, model=model)
        except OSError as error:
            raise FeltwatchError(f"{folder}: {error.strerror or error}") from error
        if name == FIXED and not every_way and not catalogue:
            _as_listed(shift, folder)
    return {
        "name": name, "shifts": list(numbers), "samples": samples,
        "one camera": _scored(out, shifts, "audit", "first"),
        "two cameras": _scored(out, [s for s in shifts if s.cameras > 1], "audit-2", "all"),
        "games": {
            game: _scored(out, own, "audit", "first")
            for game in GAMES
            if (own := [s for s in shifts if s.game == game])
        },
    }  # fmt: skip


def _run(
    shift: Shift, folder: Path, report: Report, *, samples: bool, keep: bool, model: Path | None
) -> None:
    """Film and audit one shift; each step is marked when it is done."""
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "audited").exists():
        return
    if not (folder / "filmed").exists():
        report(f"shift {shift.number}: filming")
        own = ["simulate", *shift.options, "--laid-out", "--out", str(folder)]
        (folder / "filmed").write_text(run_feltwatch(own, folder / "film.log"))
    table = folder / "table-read.toml"
    shutil.copyfile(folder / "table.toml", table)
    if samples:
        run_feltwatch(chip_samples(folder, table), folder / "enrol.log")
    audits: dict[str, list[str]] = {"audit": []}
    if shift.cameras > 1:
        audits["audit-2"] = ["--camera-video", f"{_SECOND}={folder / f'video-{_SECOND}.mp4'}"]
    for audit, more in audits.items():
        report(f"shift {shift.number}: auditing" + (" with both cameras" if more else ""))
        shutil.rmtree(folder / audit, ignore_errors=True)
        own = [
            "audit", str(folder / "video.mp4"), "--table", str(table), "--feed",
            str(folder / "feed.jsonl"), "--out", str(folder / audit), *more,
        ]  # fmt: skip
        run_feltwatch(
            own if model is None else [*own, "--model", str(model)], folder / f"{audit}.log"
        )
    (folder / "audited").touch()
    if not keep:
        for film in _FILMS:
            (folder / film).unlink(missing_ok=True)


def chip_samples(folder: Path, table: Path) -> list[str]:
    """The command that samples the laid-out chips, as `simulate` printed it."""
    printed = (folder / "filmed").read_text().splitlines()
    line = next(x for x in printed if x.startswith("feltwatch chips enrol"))
    given = [str(folder / "table.toml"), str(table)]
    return [given[1] if word == given[0] else word for word in shlex.split(line)[1:]]


def run_feltwatch(arguments: Sequence[str], log: Path) -> str:
    """Run a command of feltwatch; what it printed. FeltwatchError names the log of a failure."""
    done = subprocess.run(
        [sys.executable, "-m", "surveillance", *arguments],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
        env={**os.environ, "COLUMNS": "10000"},
    )  # fmt: skip
    log.write_text(done.stdout + done.stderr)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise FeltwatchError(f"feltwatch {arguments[0]} failed: {last} (see {log})")
    return done.stdout


def _as_listed(shift: Shift, folder: Path) -> None:
    digest = hashlib.sha256((folder / "truth.jsonl").read_bytes()).hexdigest()
    due = listed_truths()[shift.number]
    if digest != due:
        raise FeltwatchError(
            f"{folder / 'truth.jsonl'}: not the shift of the benchmark (SHA-256 {digest[:12]}, "
            f"expected {due[:12]}): the simulator plays it otherwise since it was listed; give "
            "--name to film a set of another name"
        )


def _scored(
    out: Path, shifts: Sequence[Shift], audit: str, cameras: Cameras
) -> dict[str, Any] | None:
    """The score of these shifts as one; None where there is none."""
    if not shifts:
        return None
    scores: list[Score] = []
    false: list[dict[str, Any]] = []
    for shift in shifts:
        folder = out / f"{shift.number:02d}"
        truth, read = folder / "truth.jsonl", folder / audit
        score = score_files(
            truth, read / "rounds.jsonl", read / "alerts.jsonl", None, folder / "stacks.jsonl",
            read / "suspicions.jsonl",
        )  # fmt: skip
        scores.append(score)
        false += [
            {"shift": shift.number, "round": alert.round_id, "code": alert.code,
             "seat": alert.seat, "wager": alert.wager, "message": alert.message}
            for alert in (score.alerts.false_alerts if score.alerts else ())
        ]  # fmt: skip
    whole = together(scores)
    return {
        **whole.as_dict(),
        "stacks": {"cameras": cameras, **views_form(money_views(whole.money, cameras))},
        "reliability": reliability_form(reliability(whole.money)),
        "false alerts": false,
    }
