"""`feltwatch simulate`: a recording of a shift with its table file and its truth."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from datasets.faults import CODES, FaultPlan
from datasets.simulate import simulate
from settlement.errors import FeltwatchError


class Codec(StrEnum):
    """How the recording is coded."""

    H264 = "h264"
    HEVC = "hevc"


@contextmanager
def progress_bar(title: str, shown: bool = True) -> Iterator[Callable[[float], None] | None]:
    """A bar on stderr for a share of 0 to 1; None when not shown."""
    if not shown:
        yield None
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
    )
    with bar:
        task = bar.add_task(title, total=1.0)

        def show(share: float) -> None:
            bar.update(task, completed=share)

        yield show


def simulate_command(
    out: Annotated[Path, typer.Option("--out", help="Folder for the recording.")],
    seed: Annotated[int, typer.Option("--seed", help="The same seed, the same shift.")] = 0,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="How many rounds.")] = 5,
    faults: Annotated[
        str,
        typer.Option(
            "--faults",
            help="Dealer mistakes: none; a rate per round such as 0.3; kinds such as "
            f"OVERPAID,TOOK_PUSH; or kinds at rounds such as OVERPAID@3. From {', '.join(CODES)}.",
        ),
    ] = "none",
    deck: Annotated[
        Path | None, typer.Option("--deck", help="Folder of card faces; without it a drawn deck.")
    ] = None,
    pace: Annotated[
        float,
        typer.Option("--pace", help="1: a round in 60 to 120 s; 0.35: in 25 to 35 s."),
    ] = 0.35,
    seats: Annotated[int, typer.Option("--seats", min=1, max=7, help="Seats at the table.")] = 6,
    fps: Annotated[int, typer.Option("--fps", min=1, max=60, help="Pictures a second.")] = 15,
    width: Annotated[int, typer.Option("--width", min=320, help="Picture width in px.")] = 3840,
    height: Annotated[int, typer.Option("--height", min=180, help="Picture height in px.")] = 2160,
    camera_seed: Annotated[
        int | None, typer.Option("--camera-seed", help="Another camera and light for the shift.")
    ] = None,
    codec: Annotated[Codec, typer.Option("--codec", help="Coding of the recording.")] = Codec.H264,
    crf: Annotated[
        int, typer.Option("--crf", min=0, max=51, help="Coding quality; less is better and larger.")
    ] = 25,
    preset: Annotated[
        str, typer.Option("--preset", help="Coder's preset, such as veryfast or superfast.")
    ] = "veryfast",
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Play and film a shift: writes video.mp4, table.toml and truth.jsonl.

    Examples:

      feltwatch simulate --seed 7 --rounds 5 --faults OVERPAID@3,HOUSE_WAY@5 --out shift

      feltwatch simulate --seed 8 --rounds 20 --faults 0.3 --deck decks/classic --out test

      feltwatch simulate --seed 9 --rounds 3 --pace 1 --fps 30 --codec hevc --out slow
    """
    if width % 2 or height % 2:
        raise FeltwatchError(
            f"--width {width} --height {height}: video needs even numbers, such as 3840 and 2160"
        )
    plan = FaultPlan.parse(faults)
    with progress_bar(f"{rounds} rounds", shown=not quiet) as show:
        simulate(
            out,
            seed=seed,
            rounds=rounds,
            faults=plan,
            deck=deck,
            pace=pace,
            seats=seats,
            fps=fps,
            size=(width, height),
            camera_seed=camera_seed,
            codec=codec.value,
            crf=crf,
            preset=preset,
            progress=show,
        )
    typer.echo(f"recording: {out / 'video.mp4'}")
