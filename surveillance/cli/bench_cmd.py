"""`feltwatch bench`: how fast this machine works, and figures found by simulation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from settlement.errors import FeltwatchError
from settlement.houseways import HOUSE_WAYS
from surveillance.cli.bench_cards_cmd import cards_command
from surveillance.cli.bench_output import SAMPLE, AsJson, print_found, print_timed, report
from surveillance.cli.bench_room_cmd import (
    live_bench_command,
    overload_command,
    review_bench_command,
    soak_command,
    web_bench_command,
    workers_command,
)
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

    found: dict[str, Any] = dict(bench_rules(hands, rounds, report).to_dict())
    found["counts"] = exact_counts()
    if deals:
        found["odds"] = _simulated(deals, seed)
    print_timed(found, as_json)


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

    report(f"a set of {pictures:,} images")
    print_found(bench_dataset(pictures, boxes=boxes, size_px=size_px), as_json)


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
    print_found(found, as_json)


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
    catalogue: Annotated[
        bool,
        typer.Option(
            "--catalogue",
            help="50 other shifts, ten of each game: nine hold every way, those that come by "
            "their names only too, one holds none; with jackpots, a commission that is collected "
            "later, changes of dealers, fills, misdeals, abandoned rounds and quick deals.",
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

      feltwatch bench money --out whole --catalogue --name "our catalogue 2026-12-01"
    """
    from benchmarks.money.catalogue import CATALOGUE_SHIFTS
    from benchmarks.money.plan import FIXED, SHIFTS, WAYS_SHIFTS, numbers
    from benchmarks.money.run import bench_money

    if every_way and catalogue:
        raise FeltwatchError("--every-way and --catalogue: give one of them")
    most = WAYS_SHIFTS if every_way else CATALOGUE_SHIFTS if catalogue else SHIFTS
    found = bench_money(
        out, numbers(shifts or f"0-{most - 1}", most), report, name=name or FIXED,
        every_way=every_way, catalogue=catalogue, samples=samples, keep=keep, model=model,
    )  # fmt: skip
    print_found(found, as_json)


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
        report(f"{views:,} views")
        found["views"] = bench_views(views)
    print_found(found, as_json)


bench_app.command("live")(live_bench_command)


bench_app.command("overload")(overload_command)


bench_app.command("soak")(soak_command)


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
        video or SAMPLE / "video.mp4", table or SAMPLE / "table.toml", report,
        codec=codec, mbit=mbit, key_frames_s=key_frames,
    )  # fmt: skip
    print_timed(found, as_json)


bench_app.command("workers")(workers_command)


bench_app.command("web")(web_bench_command)


bench_app.command("review")(review_bench_command)


def _simulated(deals: int, seed: int) -> list[dict[str, object]]:
    from settlement.analysis.odds import simulate

    odds: list[dict[str, object]] = []
    for way in HOUSE_WAYS:
        with progress_bar(f"{deals:,} deals by {way}") as show:
            odds.append(simulate(way, way, deals, seed, progress=_share(show, deals)).to_dict())
    return odds


def _share(show: Callable[[float], None] | None, deals: int) -> Callable[[int], None] | None:
    return None if show is None else lambda done: show(done / deals)
