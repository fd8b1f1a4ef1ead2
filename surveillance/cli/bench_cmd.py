"""`feltwatch bench`: how fast this machine works, and figures found by simulation."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from settlement.errors import FeltwatchError
from settlement.houseways import HOUSE_WAYS
from surveillance.cli.bench_cards_cmd import cards_command
from surveillance.cli.options import MODEL_HELP, progress_bar

bench_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="""Measure how fast this machine works.

    Each prints one JSON object; progress is reported on standard error.

    Examples:

      feltwatch bench rules

      feltwatch bench rules --deals 10000000 --json

      feltwatch bench dataset --pictures 1000

      feltwatch bench cards --drawn 4

      feltwatch bench banker --tables 12

      feltwatch bench money --out money --shifts 0-3

      feltwatch bench simulate --seconds 10

      feltwatch bench audit --codec h265 --mbit 8

      feltwatch bench live --tables 2

      feltwatch bench overload shift-1 shift-2

      feltwatch bench soak --minutes 120

      feltwatch bench web

      feltwatch bench review

      feltwatch bench workers --store postgresql+psycopg://me@localhost/bench
    """,
)

SAMPLE = Path(__file__).resolve().parents[2] / "sample"
AsJson = Annotated[bool, typer.Option("--json", help="The JSON object in one line.")]


@bench_app.callback()
def _bench() -> None:
    pass


@bench_app.command("rules")
def rules_command(
    deals: Annotated[
        int, typer.Option("--deals", min=0, help="Simulate each house way against itself too.")
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", help="Of the simulation.")] = 1,
    hands: Annotated[
        int, typer.Option("--hands", min=1, help="Hands ranked one by one; vectorised five times.")
    ] = 200_000,
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, help="Tables settled and compared.")
    ] = 500,
    as_json: AsJson = False,
) -> None:
    """Measure ranking, exact counting and settling; simulate the house ways with --deals.

    Rates are of hands per second of one core's time, one by one and vectorised; a table is
    six seats with every wager, settled and compared.

    Examples:

      feltwatch bench rules

      feltwatch bench rules --deals 10000000 --json > rules.json
    """
    # What needs numpy is imported only here, so that --help stays quick.
    from benchmarks.rules import bench_rules, exact_counts

    found: dict[str, Any] = dict(bench_rules(hands, rounds, _report).to_dict())
    found["counts"] = exact_counts()
    if deals:
        found["odds"] = _simulated(deals, seed)
    _print_timed(found, as_json)


@bench_app.command("dataset")
def dataset_command(
    pictures: Annotated[
        int, typer.Option("--pictures", min=300, help="Number of generated images.")
    ] = 10_000,
    boxes: Annotated[int, typer.Option("--boxes", min=1, help="Boxes of each image.")] = 14,
    size_px: Annotated[int, typer.Option("--size", min=32, help="Side of an image, px.")] = 640,
    as_json: AsJson = False,
) -> None:
    """Measure import, check, split and counting of a labelled set, in time and memory.

    Each step runs in a process of its own: wall and CPU time in s, peak of memory in MiB.

    Examples:

      feltwatch bench dataset

      feltwatch bench dataset --pictures 50000 --boxes 10 --size 64 --json
    """
    from benchmarks.labelled import bench_dataset

    _report(f"a set of {pictures:,} images")
    _print(bench_dataset(pictures, boxes=boxes, size_px=size_px), as_json)


bench_app.command("cards")(cards_command)


@bench_app.command("banker")
def banker_bench_command(
    tables: Annotated[int, typer.Option("--tables", min=1, help="How many tables.")] = 12,
    frames: Annotated[int, typer.Option("--frames", min=1, help="Frames of each.")] = 16,
    seed: Annotated[int, typer.Option("--seed", help="Of the first table.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Count the rendered 4K frames in which a banker's button or dice cup is read right.

    Half of the tables have a button, half a dice cup. About 15 s of one core a table.

    Examples:

      feltwatch bench banker --tables 12

      feltwatch bench banker --tables 12 --frames 16 --seed 8200 --json
    """
    from benchmarks.banker_marker import bench_banker_marker

    with progress_bar("tables") as show:
        found = bench_banker_marker(tables=tables, frames=frames, seed=seed, on_progress=show)
    _print(found, as_json)


@bench_app.command("money")
def money_command(
    out: Annotated[Path, typer.Option("--out", help="Folder; what is done there is kept.")],
    shifts: Annotated[
        str | None,
        typer.Option("--shifts", help="Which of the shifts, such as 0-3,7; by default all."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            help="Another set: its shifts are drawn by the hash of this name and the number.",
        ),
    ] = None,
    every_way: Annotated[
        bool,
        typer.Option(
            "--every-way",
            help="50 other shifts, ten of each game: eight hold every way of every mistake "
            "that the game knows, two hold none; five are filmed by two cameras.",
        ),
    ] = False,
    samples: Annotated[
        bool,
        typer.Option("--samples/--body-colours", help="Sample the table's chips before reading."),
    ] = True,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the films, 1 GB a shift.")] = False,
    model: Annotated[Path | None, typer.Option("--model", help=MODEL_HELP)] = None,
    as_json: AsJson = False,
) -> None:
    """Film simulated shifts of five games, audit them and score cards, money and alerts.

    40 shifts of four rounds with and without mistakes, every fifth also by a second camera,
    fixed by hash: nothing may be trained or tuned on them. About 4 minutes of one core a shift.
    A run that was stopped goes on; several may share a folder if their --shifts differ.

    Examples:

      feltwatch bench money --out money --shifts 0-3

      feltwatch bench money --out judge --name "our judge 2026-12-01" --shifts 0-9 --json

      feltwatch bench money --out ways --every-way --name "our ways 2026-12-01"
    """
    from benchmarks.money.plan import FIXED, SHIFTS, WAYS_SHIFTS, numbers
    from benchmarks.money.run import bench_money

    most = WAYS_SHIFTS if every_way else SHIFTS
    found = bench_money(
        out, numbers(shifts or f"0-{most - 1}", most), _report, name=name or FIXED,
        every_way=every_way, samples=samples, keep=keep, model=model,
    )  # fmt: skip
    _print(found, as_json)


@bench_app.command("simulate")
def simulate_bench_command(
    seconds: Annotated[
        float, typer.Option("--seconds", min=1, help="Seconds of film, 4K at 15 frames.")
    ] = 20.0,
    views: Annotated[int, typer.Option("--views", min=0, help="Training views to render too.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Measure how fast a made-up shift is filmed and encoded, and training views rendered.

    Examples:

      feltwatch bench simulate

      feltwatch bench simulate --seconds 5 --views 300 --json
    """
    from benchmarks.render import bench_simulate, bench_views

    with progress_bar(f"{seconds:g} s of film") as show:
        found = bench_simulate(seconds, progress=show)
    if views:
        _report(f"{views:,} views")
        found["views"] = bench_views(views)
    _print(found, as_json)


@bench_app.command("live")
def live_bench_command(
    tables: Annotated[int, typer.Option("--tables", min=1, max=16, help="How many at once.")] = 2,
    video: Annotated[
        Path | None, typer.Option("--video", help="H.264 MP4; without it the sample.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option("--table", help="Its table file; without it the sample's.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", min=5, help="Listen for so long; without it the film's length."),
    ] = None,
    busy: Annotated[
        int,
        typer.Option("--busy", min=0, max=64, help="Run so many processes beside that do sums."),
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Measure the time from the deciding frame of a camera to the alert at a client.

    The film is played by a real RTSP server on loopback to so many cameras at once, the real
    server watches them, and a client listens to its events. Needs Debian's GStreamer RTSP
    server; the error names the packages.

    With `truth.jsonl` beside the film (simulated ones have it) it reports of each round that
    was played whether it was found, undecided, within a reported gap or missed, and which
    alerts were false. A film that is shorter than --seconds is played again and again.

    Examples:

      feltwatch bench live

      feltwatch bench live --tables 2 --busy 2 --seconds 1200

      feltwatch bench live --tables 1 --video shift.mp4 --table table.toml --json
    """
    from benchmarks.live import Film, bench_live

    if (video is None) != (table is None):
        raise FeltwatchError("--video and --table go together; give both or none")
    film = Film(video or SAMPLE / "video.mp4", table or SAMPLE / "table.toml")
    found = bench_live([film] * tables, _report, seconds, busy)
    _print_timed(found, as_json)


@bench_app.command("overload")
def overload_command(
    shifts: Annotated[
        list[Path], typer.Argument(help="Folders of `feltwatch simulate`, one for each table.")
    ],
    minutes: Annotated[float, typer.Option("--minutes", min=0.5, help="Watch so long.")] = 20.0,
    busy: Annotated[
        int,
        typer.Option("--busy", min=0, max=64, help="Run so many processes beside that do sums."),
    ] = 2,
    keep: Annotated[
        Path | None, typer.Option("--keep", help="New folder for the server's data.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Watch simulated tables beside busy processes and compare all that is raised with the truth.

    Each shift is played to a table of its own, again and again, by a real RTSP server, and the
    real server watches them. Printed of each table: how many rounds were found, undecided, in a
    reported gap, missed or merged, and every false alert. Needs Debian's GStreamer RTSP server;
    the error names the packages.

    Examples:

      feltwatch simulate --out one --seed 1 --rounds 3 --fps 5

      feltwatch simulate --out two --seed 2 --rounds 3 --fps 5

      feltwatch bench overload one two

      feltwatch bench overload one two --minutes 60 --busy 4 --keep run --json
    """
    from benchmarks.live import Film, bench_live

    films = [Film.of_shift(folder) for folder in shifts]
    found = bench_live(films, _report, minutes * 60, busy, keep)
    _print_timed(found, as_json)


@bench_app.command("soak")
def soak_command(
    minutes: Annotated[float, typer.Option("--minutes", min=1, help="Watch for so long.")] = 120.0,
    warm: Annotated[
        float, typer.Option("--warm", min=0, help="Compare with what is held after so many.")
    ] = 20.0,
    fault_every: Annotated[
        float, typer.Option("--fault-every", min=10, help="Seconds from fault to fault.")
    ] = 180.0,
    fps: Annotated[
        int, typer.Option("--fps", min=1, max=30, help="Frames a second of the film.")
    ] = 2,
    as_json: AsJson = False,
) -> None:
    """Watch the sample for hours with a fault every few minutes; print what is held.

    Faults in turn: the stream is cut, silent or away, the camera's process is killed or frozen,
    the store is locked. Memory, open files, threads and processes are compared after the warm-up
    and at the end. Needs Debian's GStreamer RTSP server; the error names the packages.

    Examples:

      feltwatch bench soak

      feltwatch bench soak --minutes 10 --warm 2 --fault-every 30 --json
    """
    from benchmarks.soak import bench_soak

    found = bench_soak(
        SAMPLE / "video.mp4", SAMPLE / "table.toml", minutes, _report, fault_every, warm, fps
    )
    _print_timed(found, as_json)


@bench_app.command("audit")
def audit_bench_command(
    video: Annotated[
        Path | None, typer.Argument(help="A recording; the sample when none is given.")
    ] = None,
    table: Annotated[Path | None, typer.Option("--table", help="Its table file.")] = None,
    codec: Annotated[
        str | None, typer.Option("--codec", help="Re-encode it first: h264 or h265.")
    ] = None,
    mbit: Annotated[
        float, typer.Option("--mbit", min=0.5, max=100, help="Million bits a second then.")
    ] = 8.0,
    key_frames: Annotated[
        float,
        typer.Option("--key-frames", min=0.1, max=60, help="Seconds between key frames then."),
    ] = 2.0,
    as_json: AsJson = False,
) -> None:
    """Measure an audit against decoding every frame of the same recording.

    Prints CPU and wall time of both, and their ratios.

    Examples:

      feltwatch bench audit

      feltwatch bench audit shift.mp4 --table table.toml --codec h265 --mbit 8 --key-frames 10
    """
    from benchmarks.audit_time import CODECS, bench_audit

    if codec is not None and codec not in CODECS:
        raise FeltwatchError(f"--codec {codec}: give one of {', '.join(CODECS)}")
    if video is not None and table is None:
        raise FeltwatchError(f"{video}: give its table file too, with --table")
    found = bench_audit(
        video or SAMPLE / "video.mp4", table or SAMPLE / "table.toml", _report,
        codec=codec, mbit=mbit, key_frames_s=key_frames,
    )  # fmt: skip
    _print_timed(found, as_json)


@bench_app.command("workers")
def workers_command(
    store: Annotated[str, typer.Option("--store", help="URL of an empty PostgreSQL database.")],
    recordings: Annotated[
        int, typer.Option("--recordings", min=3, max=200, help="How many are audited in each run.")
    ] = 12,
    seconds: Annotated[float, typer.Option("--seconds", min=2, max=35, help="Of each.")] = 10.0,
    as_json: AsJson = False,
) -> None:
    """Audit pieces of the sample by 1, 2 and 3 workers, and by 3 of which two fail.

    Prints wall time, CPU time and speed-up of each run; records are compared with those of audits
    in this process. In the last run one worker is killed and one stopped for a minute.

    Examples:

      feltwatch bench workers --store postgresql+psycopg://me@localhost/bench
    """
    from benchmarks.workers import bench_workers

    found = bench_workers(
        SAMPLE / "video.mp4", SAMPLE / "table.toml", store, _report, recordings, seconds
    )
    _print_timed(found, as_json)


@bench_app.command("web")
def web_bench_command(
    rounds: Annotated[
        int, typer.Option("--rounds", min=1000, help="How many rounds stand in the store.")
    ] = 200_000,
    alerts: Annotated[
        int, typer.Option("--alerts", min=100, help="How many alerts; at most one a round.")
    ] = 20_000,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, help="How often each address is asked for.")
    ] = 20,
    store: Annotated[
        str | None,
        typer.Option("--store", help="URL of an empty database; without it a SQLite file."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how soon every page and list answers with many rounds and alerts in the store.

    The store is filled, the real application is served on loopback, and each of its pages and
    GET routes is asked for, lists with every filter and on later pages too. Times in ms; a
    store given with --store keeps what was filled in and is not filled again.

    Examples:

      feltwatch bench web

      feltwatch bench web --store postgresql+psycopg://me@localhost/bench --json > web.json
    """
    from benchmarks.web import bench_web

    with progress_bar("filling the store") as show:
        found = bench_web(rounds, alerts, repeats, store, tell=_report, progress=show)
    _print_timed(found, as_json)


@bench_app.command("review")
def review_bench_command(
    boxes: Annotated[int, typer.Option("--boxes", min=1, help="Boxes of the image.")] = 2000,
    width: Annotated[int, typer.Option("--width", min=320, help="Its width, px.")] = 3840,
    height: Annotated[int, typer.Option("--height", min=180, help="Its height, px.")] = 2160,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, help="How often the page is loaded and timed.")
    ] = 4,
    as_json: AsJson = False,
) -> None:
    """Measure how soon the review page shows what a key did, in the Chromium of this machine.

    Times in ms from the key to the frame that shows its effect: selecting, moving, turning,
    deleting and undoing boxes, hiding names, zooming. Needs playwright and Chromium.

    Examples:

      feltwatch bench review

      feltwatch bench review --boxes 60 --width 1920 --height 1080 --json
    """
    from benchmarks.review import bench_review

    found = bench_review(boxes, width, height, repeats, report=_report)
    _print_timed(found, as_json)


def _simulated(deals: int, seed: int) -> list[dict[str, object]]:
    from settlement.analysis.odds import simulate

    odds: list[dict[str, object]] = []
    for way in HOUSE_WAYS:
        with progress_bar(f"{deals:,} deals by {way}") as show:
            odds.append(simulate(way, way, deals, seed, progress=_share(show, deals)).to_dict())
    return odds


def _share(show: Callable[[float], None] | None, deals: int) -> Callable[[int], None] | None:
    return None if show is None else lambda done: show(done / deals)


def _report(what: str) -> None:
    print(f"feltwatch: {what} ...", file=sys.stderr)


def _print(found: dict[str, Any], as_json: bool) -> None:
    typer.echo(json.dumps(found, indent=None if as_json else 2))


def _print_timed(found: dict[str, Any], as_json: bool) -> None:
    """Return the figures with the machine they were measured on."""
    from benchmarks.rules import machine_info

    _print(found | {"machine": machine_info()}, as_json)
