"""`feltwatch audit`: a recording in, rounds, alerts and a report out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from settlement.errors import FeltwatchError
from settlement.stream_clock import clock
from surveillance.audit import recording as auditing
from surveillance.audit.further import parse_videos
from surveillance.audit.source import named, recording_files
from surveillance.cli.options import Model, Quiet
from surveillance.stopped import ended_by_sigterm

if TYPE_CHECKING:
    from surveillance.evidence.bundle import Chain


@contextmanager
def progress_bar(
    title: str, shown: bool = True
) -> Iterator[Callable[[auditing.Progress], None] | None]:
    """A bar on stderr with video time, speed, rounds and alerts; None when not shown.

    Where stderr is no terminal, nothing moves: one line is printed at the end.
    """
    if not shown:
        yield None
        return
    console = Console(file=sys.stderr)
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[time]}"),
        TextColumn("[cyan]{task.fields[speed]:.1f}x[/] real time"),
        TextColumn("rounds [bold]{task.fields[rounds]}[/]"),
        TextColumn("alerts [bold]{task.fields[alerts]}[/]"),
        console=console,
        transient=False,
    )
    with bar:
        task = bar.add_task(escape(title), total=None, time="", speed=0.0, rounds=0, alerts=0)

        def show(state: auditing.Progress) -> None:
            whole = state.duration_s
            bar.update(
                task,
                completed=state.at_s,
                total=whole,
                time=f"{clock(state.at_s)}" + (f" / {clock(whole)}" if whole else ""),
                speed=state.speed,
                rounds=state.rounds,
                alerts=state.alerts,
            )

        yield show


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def print_summary(summary: auditing.AuditSummary) -> None:
    """Print a summary of an audit, and where its report is."""
    console = Console(highlight=False)
    console.print(
        f"[bold]{_count(summary.rounds, 'round')}[/] in {clock(summary.duration_s)} of video, "
        f"read in {clock(summary.wall_s)} ({summary.speed:.1f}x real time)"
    )
    codes = ", ".join(f"{code} {count}" for code, count in summary.alerts_by_code.items())
    console.print(f"[bold]{_count(summary.alerts, 'alert')}[/]" + (f": {codes}" if codes else ""))
    if summary.suspicions:
        places = _count(summary.suspicions, "suspicion")
        console.print(f"{places}, not sure enough for an alert: see the report, Worth a look")
    if summary.coverage is not None:
        console.print(_coverage_line(summary.coverage))
    for warning in summary.warnings:
        console.print(f"[yellow]note:[/] {escape(warning)}")
    typer.echo(f"report: {Path(summary.out) / 'report.html'}")


def _coverage_line(own: auditing.CoverageForm) -> str:
    """Return a line on the time watched and the place with the longest motion over it."""
    line = f"watched {own.seen_s:.1f} s, skipped {own.skipped_s:.1f} s"
    if not own.hidden_s or not own.seen_s:
        return line
    place, hidden_s = max(own.hidden_s.items(), key=lambda one: one[1])
    where = f"seat {place}" if place.isdigit() else place
    return f"{line}; hidden longest: {where}, {hidden_s:.1f} s"


def audit_command(
    videos: Annotated[
        list[Path],
        typer.Argument(
            metavar="VIDEO...", help="The recording; several files of one shift, or their folder."
        ),
    ],
    table: Annotated[Path, typer.Option("--table", help="The table file (TOML).")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the results.")],
    model: Model = None,
    candidates: Annotated[
        int,
        typer.Option(
            "--candidates",
            min=0,
            help="Keep so many of the views it was least sure of, for 'dataset harvest'.",
        ),
    ] = 0,
    bundles: Annotated[
        Path | None,
        typer.Option("--bundles", help="Evidence folder for a bundle of each alert, and its log."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--key", help="Private key that signs that log; made when there is none."),
    ] = None,
    feed: Annotated[
        Path | None,
        typer.Option(
            "--feed",
            help="Declared facts as JSON lines: at_s with players, banker, dealer, meters, "
            "dynamic_pays, jackpot_wagers.",
        ),
    ] = None,
    camera_video: Annotated[
        list[str] | None,
        typer.Option(
            "--camera-video",
            metavar="NAME=FILE",
            help="The recording of a further camera of the table file; given again for another "
            "camera, or for each file of a shift.",
        ),
    ] = None,
    camera_offset: Annotated[
        list[str] | None,
        typer.Option(
            "--camera-offset",
            metavar="NAME=SECONDS",
            help="How much later than VIDEO the first file of that camera began; below 0: earlier.",
        ),
    ] = None,
    timeline: Annotated[
        bool,
        typer.Option("--timeline", help="Also write timeline.jsonl: what lay where and when."),
    ] = False,
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="Decode every frame, also those not looked at: slower, same results."
        ),
    ] = False,
    anew: Annotated[
        bool,
        typer.Option(
            "--anew", help="Begin again, also where an earlier run of the same audit was stopped."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Audit a recording: writes rounds.jsonl, alerts.jsonl, suspicions.jsonl, evidence/ and
    report.html.

    A suspicion is what differs from what was due as the sums are likeliest read, where they are
    not read with enough confidence for an alert: worth a look.

    Results appear together at the end. Until then, and on failure, earlier files stay.
    An audit that was stopped, or whose process or machine died, goes on with the same command: at
    most a minute of work is done again. Until then what was decided is kept in a hidden folder
    inside that of the results. With --candidates it begins again.
    Several files of one camera are read as one shift, sorted by start: by times that go on from
    file to file, else by YYYYMMDD_HHMMSS in the names, else by their creation_time. What two of
    them show counts once; a span that none shows is reported and hides no mistake.
    With --bundles each alert has a bundle as in live watching: clip, images, detections,
    round, settlement, versions. An existing log is continued, never restarted; 'feltwatch
    verify' checks it.

    Examples:

      feltwatch audit shift.mp4 --table table.toml --out audit

      feltwatch audit shift.mp4 --table table.toml --out audit --anew

      feltwatch audit shift.mp4 --table table.toml --out audit --json --quiet > summary.json

      feltwatch audit shift.mp4 --table table.toml --out audit --candidates 200

      feltwatch audit shift.mp4 --table table.toml --out audit --timeline

      feltwatch audit shift.mp4 --table table.toml --out audit --camera-video shoulder=low.mp4

      feltwatch audit t3_*.mp4 --table table.toml --out audit

      feltwatch audit shift.mp4 --table table.toml --out audit --bundles evidence --key key.pem
    """
    plan = None
    if bundles is not None:
        plan = auditing.ClipPlan()
    elif key is not None:
        raise FeltwatchError("--key signs the log of --bundles, which is missing")
    chain = None if bundles is None else _chain(bundles, key)
    files = recording_files(videos)
    name = named(files).name
    written = 0

    def finish(summary: auditing.AuditSummary) -> None:
        nonlocal written
        if bundles is not None and chain is not None:
            written = _write_bundles(summary, files, out, bundles, chain)

    with ended_by_sigterm(), progress_bar(name, shown=not quiet) as show:
        summary = auditing.audit(
            files, table, out, detector_dir=model, on_progress=show, candidates=candidates,
            clips=plan, timeline=timeline, feed=feed, full=full,
            cameras=parse_videos(camera_video or (), camera_offset or ()),
            # Which views it was least sure of is not kept.
            resumes=candidates == 0, anew=anew, on_resume=None if quiet else _print_resumed,
            on_published=finish,
        )  # fmt: skip
    if as_json:
        typer.echo(summary.model_dump_json(indent=2))
    else:
        print_summary(summary)
        if bundles is not None:
            typer.echo(f"{_count(written, 'bundle')}: {bundles}")


def _print_resumed(place: str) -> None:
    typer.echo(f"going on from {place} of the video; --anew begins again", err=True)


def _chain(folder: Path, key: Path | None) -> Chain:
    """Return the log of an evidence folder; raises for a bad key before the audit."""
    from surveillance.evidence.bundle import Chain, site_key

    return Chain.of(folder, None if key is None else site_key(key, folder))


def _write_bundles(
    summary: auditing.AuditSummary,
    files: Sequence[Path],
    out: Path,
    folder: Path,
    chain: Chain,
) -> int:
    from surveillance.audit.bundles import bundle_results

    video = named(files)
    # The file that was written last ended with the shift.
    ended = max(path.stat().st_mtime for path in files)
    refs = bundle_results(
        out, folder / video.name, chain,
        table=summary.table, video=video, duration_s=summary.duration_s, ended=ended,
    )  # fmt: skip
    return len(refs)
