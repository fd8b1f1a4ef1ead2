"""`feltwatch simulate`: a recording of a shift with its table file and its truth.

`--faults` takes none, a rate, kinds, kinds in one of their ways, kinds at rates and kinds in
given rounds, parted by commas. The kinds and ways are those of
`datasets.simulate.mistakes.catalogue.WAYS`:

    HOUSE_WAY slip, foul, eighth; OVERPAID chip, twice, commission, uncollected, late, house;
    UNDERPAID chip, even, late, house; NOT_PAID left, late, house; WRONG_SPOT winner, push;
    PAID_LOSER and PAID_PUSH even, half, house; TOOK_WINNER and NOT_TAKEN main, side, house;
    TOOK_PUSH taken, house; ENVY_MISSED missed; ENVY_WRONG sum, unearned; LAMMER missing, extra,
    place, no_stake; LIMIT under, over, hands, coins; FOUL rank, boxes; DECK twin, jokers, many,
    few, dealer; HAND_PAY large, jackpot; LATE_BET grew, shrank, appeared; CARD_MOVED hand, seat,
    face, face_down, dealer; PROCEDURE taken_up, set_late, looked_at, shown_early, bet_touched,
    bet_taken, coin_unregistered, lit_alone, coin_unseen, second_discard, discard_late,
    wrong_first_seat; UNDECIDED card, hand; SILENT dispute, chips, cards;
    CAMERA black, lost, frozen, stuck, blocked, covered, dark, focus, moved, turned.

A code alone stands for one of its ways, apart from those that `--list-faults` marks "by its name
only".
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from datasets.simulate.house_tables import GAME_IDS, NEVADA
from datasets.simulate.laid_out import film_laid_out
from datasets.simulate.mistakes.catalogue import CODES, DRAWN_CODES, NAMED_WAYS, WAYS, FaultPlan
from datasets.simulate.play.behaviour import MANNERS
from datasets.simulate.play.shift_events import EVENTS, EventPlan
from datasets.simulate.shards import Shard
from datasets.simulate.shift import Wishes, simulate
from settlement.errors import FeltwatchError
from surveillance.cli.options import Quiet, progress_bar
from vision.geometry.table import load_table


class Codec(StrEnum):
    """Video codec of the recording."""

    H264 = "h264"
    HEVC = "hevc"


class Jackpot(StrEnum):
    """The jackpot wagers of a usual table."""

    NONE = "none"
    PLAIN = "plain"
    LEVELS = "levels"
    DYNAMIC = "dynamic"


class Manner(StrEnum):
    """Working style of the dealers."""

    ANY = "any"
    FAST = "fast"
    SLOW = "slow"
    NEAT = "neat"
    UNTIDY = "untidy"


assert tuple(Manner) == MANNERS, "the command line names the manners that there are"


def _list_faults(asked: bool) -> None:
    """Print every kind of mistake and trouble with its ways, and end."""
    if not asked:
        return
    for code, ways in WAYS.items():
        note = "" if code in DRAWN_CODES else "  (by its name only)"
        typer.echo(f"{code}{note}")
        for way, description in ways.items():
            alone = "  (by its name only)" if f"{code}/{way}" in NAMED_WAYS else ""
            typer.echo(f"  {code}/{way}: {description}{alone}")
    raise typer.Exit


def simulate_command(
    out: Annotated[Path, typer.Option("--out", help="Folder for the recording.")],
    seed: Annotated[int, typer.Option("--seed", help="The same seed, the same shift.")] = 0,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="How many rounds.")] = 5,
    game: Annotated[
        str, typer.Option("--game", help=f"The game of a usual table: {', '.join(GAME_IDS)}.")
    ] = NEVADA,
    jackpots: Annotated[
        Jackpot, typer.Option("--jackpots", help="Jackpot wagers of a usual table, on sensors.")
    ] = Jackpot.NONE,
    table: Annotated[
        Path | None,
        typer.Option("--table", help="A table file in place of a usual table; not its camera."),
    ] = None,
    faults: Annotated[
        str,
        typer.Option(
            "--faults",
            help="Mistakes and troubles: none; a rate per round such as 0.3; kinds such as "
            "OVERPAID,TOOK_PUSH; a kind in one way, DECK/jokers; a kind at a rate, "
            f"OVERPAID:0.05; or in a round, OVERPAID@3. From {', '.join(CODES)}.",
        ),
    ] = "none",
    list_faults: Annotated[
        bool,
        typer.Option(
            "--list-faults",
            help="List every kind of mistake and trouble with its ways.",
            callback=_list_faults,
            is_eager=True,
        ),
    ] = False,
    events: Annotated[
        str,
        typer.Option(
            "--events",
            help="What is no mistake: none, usual, or kinds before or in rounds such as fill@3, "
            f"from {', '.join(EVENTS)}.",
        ),
    ] = "none",
    dealers: Annotated[
        Manner, typer.Option("--dealers", help="How the dealers work.")
    ] = Manner.ANY,
    distortion: Annotated[
        float,
        typer.Option("--distortion", min=-0.4, max=0.4, help="Lens k1; about -0.1 for a dome."),
    ] = 0.0,
    deck: Annotated[
        Path | None,
        typer.Option(
            "--deck",
            help="Folder of card faces, or standard, jumbo, four_colour, bridge, worn.",
        ),
    ] = None,
    pace: Annotated[
        float,
        typer.Option(
            "--pace",
            help="Fraction of the waiting time that is kept; nothing else changes. 1: all.",
        ),
    ] = 0.35,
    seats: Annotated[
        int | None,
        typer.Option("--seats", min=1, max=6, help="Seats at the table; by default the game's."),
    ] = None,
    silent_minutes: Annotated[
        float,
        typer.Option("--silent-minutes", min=0.5, help="How long a SILENT round is held up."),
    ] = 6.0,
    shard: Annotated[
        str,
        typer.Option(
            "--shard",
            help="Film part I of N, such as 2/4: whole rounds, the clock going on; a part that "
            "is finished is not made again.",
        ),
    ] = "1/1",
    frames_truth: Annotated[
        bool,
        typer.Option(
            "--frames-truth",
            help="Write frames.jsonl.gz: every frame's boxes, and how much of each is visible.",
        ),
    ] = False,
    laid: Annotated[
        bool,
        typer.Option(
            "--laid-out",
            help="Also write laid.png, the table's chips laid out for 'feltwatch chips enrol', and "
            "spread.png, its deck spread for 'feltwatch cards deck', and print these commands.",
        ),
    ] = False,
    truth_only: Annotated[
        bool,
        typer.Option(
            "--truth-only",
            help="Write all files but the video; beside a video that is there, what is missing "
            "and stacks.jsonl.",
        ),
    ] = False,
    fps: Annotated[int, typer.Option("--fps", min=1, max=60, help="Frames per second.")] = 15,
    width: Annotated[int, typer.Option("--width", min=320, help="Frame width in px.")] = 3840,
    height: Annotated[int, typer.Option("--height", min=180, help="Frame height in px.")] = 2160,
    camera_seed: Annotated[
        int | None, typer.Option("--camera-seed", help="Another camera and light for the shift.")
    ] = None,
    cameras: Annotated[
        int,
        typer.Option(
            "--cameras",
            min=1,
            max=2,
            help="2: a second one, low over the dealer's shoulder, films video-shoulder.mp4.",
        ),
    ] = 1,
    banker_marker: Annotated[
        Literal["none", "button", "cup"],
        typer.Option(
            "--banker-marker",
            help="A banker's button or dice cup before the seat that banks, or at the house; who "
            "banks is drawn each round. Its diameter and height are in recipe.json.",
        ),
    ] = "none",
    commission: Annotated[
        Literal["from_the_pay", "afterwards"],
        typer.Option(
            "--commission",
            help="Of a usual table of the traditional game: kept back from each payout, or wins "
            "are paid in full and it is collected once all seats are settled.",
        ),
    ] = "from_the_pay",
    dice: Annotated[
        bool,
        typer.Option(
            "--dice",
            help="Three dice under a cup, opened once bets are closed, name who gets the first "
            "hand; in games with dice. A --table has those of its section dice.",
        ),
    ] = False,
    codec: Annotated[Codec, typer.Option("--codec", help="Coding of the recording.")] = Codec.H264,
    crf: Annotated[
        int, typer.Option("--crf", min=0, max=51, help="Coding quality; less is better and larger.")
    ] = 25,
    preset: Annotated[
        str, typer.Option("--preset", help="Coder's preset, such as veryfast or superfast.")
    ] = "veryfast",
    quiet: Quiet = False,
) -> None:
    """Play and film a shift: writes video.mp4, table.toml, truth.jsonl and events.jsonl.

    stacks.jsonl says how each camera sees each stack of a stake or payout: the height of a chip
    in px, and how much nearer stacks hide.

    Examples:

      feltwatch simulate --seed 7 --rounds 5 --faults OVERPAID@3,HOUSE_WAY@5 --out shift

      feltwatch simulate --game pai_gow_poker --rounds 20 --faults 0.3 --events usual --out test

      feltwatch simulate --rounds 10 --faults CAMERA/frozen@2,LATE_BET:0.2 --out troubles

      feltwatch simulate --rounds 4 --events abandoned@2,misdeal@3,quick_deal@4 --out broken

      feltwatch simulate --rounds 300 --pace 1 --shard 2/4 --frames-truth --out night

      feltwatch simulate --rounds 5 --cameras 2 --out shift

      feltwatch simulate --rounds 5 --laid-out --out shift

      feltwatch simulate --seed 7 --rounds 5 --out shift --truth-only

      feltwatch simulate --list-faults
    """
    del list_faults
    if width % 2 or height % 2:
        raise FeltwatchError(
            f"--width {width} --height {height}: video needs even numbers, such as 3840 and 2160"
        )
    part = Shard.parse(shard)
    wishes = Wishes(
        seed=seed,
        rounds=rounds,
        faults=FaultPlan.parse(faults),
        events=EventPlan.parse(events),
        game=game,
        jackpots=jackpots.value,
        table=None if table is None else load_table(table),
        deck=deck,
        distortion=distortion,
        banker_marker=None if banker_marker == "none" else banker_marker,
        commission_later=commission == "afterwards",
        dice=dice,
        pace=pace,
        seats=seats,
        dealers=dealers.value,
        silent_s=silent_minutes * 60,
        fps=fps,
        size=(width, height),
        camera_seed=camera_seed,
        cameras=cameras,
        codec=codec.value,
        crf=crf,
        preset=preset,
    )
    title = f"{rounds} rounds" + (f", part {shard}" if part.count > 1 else "")
    with progress_bar(title, shown=not quiet) as show:
        made = simulate(
            out, wishes, shard=part, frames_truth=frames_truth, truth_only=truth_only,
            progress=show,
        )  # fmt: skip
    if truth_only:
        typer.echo(f"truth: {out / f'truth{part.suffix}.jsonl'}")
    else:
        video = out / f"video{part.suffix}.mp4"
        typer.echo(f"recording: {video}" if made else f"recording: {video} (there already)")
    if laid:
        stacks = " ".join(f"--stack {one}" for one in film_laid_out(out, wishes))
        typer.echo(f"feltwatch cards deck {out / 'spread.png'} --table {out / 'table.toml'}")
        typer.echo(
            f"feltwatch chips enrol {out / 'laid.png'} --table {out / 'table.toml'} {stacks}"
        )
