"""`feltwatch bench` of the live room: cameras, alerts, workers and pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from settlement.errors import FeltwatchError
from surveillance.cli.bench_output import SAMPLE, AsJson, print_timed, report
from surveillance.cli.options import progress_bar


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
    found = bench_live([film] * tables, report, seconds, busy)
    print_timed(found, as_json)


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
    found = bench_live(films, report, minutes * 60, busy, keep)
    print_timed(found, as_json)


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
        SAMPLE / "video.mp4", SAMPLE / "table.toml", minutes, report, fault_every, warm, fps
    )
    print_timed(found, as_json)


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
        SAMPLE / "video.mp4", SAMPLE / "table.toml", store, report, recordings, seconds
    )
    print_timed(found, as_json)


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
        found = bench_web(rounds, alerts, repeats, store, tell=report, progress=show)
    print_timed(found, as_json)


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

    found = bench_review(boxes, width, height, repeats, report=report)
    print_timed(found, as_json)
