"""The commands `decks`, `render` and `score`; each imports only what its own environment has."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status."""
    options = _parser().parse_args(arguments)
    if options.command == "decks":
        return _decks(options.out, options.sheet, options.drawn)
    if options.command == "render":
        return _render(options.out, options.deck, options.tables, options.seed)
    from benchmarks.traced_cards.score import print_score

    return print_score(options.folder, options.model, options.faults, options.json)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.traced_cards",
        description="Judge the card reader on hands painted by a path tracer.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    decks = commands.add_parser("decks", help="Write folders of card faces to paint with.")
    decks.add_argument("--out", type=Path, required=True, help="Folder of the folders.")
    decks.add_argument(
        "--sheet", type=Path, action="append", default=[],
        help="An SVG sheet of 13 x 5 cards, as gnome-cards-data has them; again for more.",
    )  # fmt: skip
    decks.add_argument(
        "--drawn", type=int, action="append", default=[], metavar="SEED",
        help="A deck drawn from a seed; again for more.",
    )  # fmt: skip
    render = commands.add_parser("render", help="Paint tables; needs bpy, av and pillow.")
    render.add_argument("--out", type=Path, required=True, help="Folder; what it holds is kept.")
    render.add_argument(
        "--deck", type=Path, action="append", required=True,
        help="Folder of card faces (AS.png ... JOKER.png, BACK.png); again for more, in turn.",
    )  # fmt: skip
    render.add_argument("--tables", type=int, required=True, help="Tables of three or four hands.")
    render.add_argument("--seed", type=int, required=True)
    score = commands.add_parser("score", help="Read painted tables and count what is right.")
    score.add_argument("folder", type=Path, help="What `render --out` wrote.")
    score.add_argument("--model", type=Path, help="Folder of weights; none: the shipped ones.")
    score.add_argument(
        "--faults", type=Path, metavar="DIR",
        help="Write the views in which a card is wrong or unread, or a back is none.",
    )  # fmt: skip
    score.add_argument("--json", action="store_true", help="Print one JSON object.")
    return parser


def _decks(out: Path, sheets: Sequence[Path], drawn: Sequence[int]) -> int:
    from benchmarks.traced_cards.decks import cut_sheet, write_drawn
    from settlement.errors import FeltwatchError

    try:
        for sheet in sheets:
            print(cut_sheet(out, sheet))
        for seed in drawn:
            print(write_drawn(out, seed))
    except FeltwatchError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _render(out: Path, decks: Sequence[Path], tables: int, seed: int) -> int:
    from benchmarks.traced_cards.faces import missing_faces
    from benchmarks.traced_stacks.blender import NoBlenderError, blender, kelvin_rgb

    for folder in decks:
        missing = missing_faces(folder)
        if missing:
            print(f"{folder}: a face is missing: {missing[0]}.png", file=sys.stderr)
            return 1
    try:
        blender()
    except NoBlenderError as error:
        print(error, file=sys.stderr)
        return 1
    from benchmarks.traced_cards.blender import paint_cards
    from benchmarks.traced_cards.scene import traced_cards
    from benchmarks.traced_stacks.film import film, write_film

    out.mkdir(parents=True, exist_ok=True)
    for number in range(tables):
        name = out / f"{seed}_{number:04d}"
        truth, video = name.with_suffix(".json"), name.with_suffix(".mp4")
        if truth.exists() and video.exists():
            continue
        began = time.monotonic()
        deck = decks[number % len(decks)]
        cards = traced_cards(seed, number, deck.name)
        coarse, parts = paint_cards(cards, deck)
        frames = film(coarse, parts, cards.table, kelvin_rgb(cards.table.lamps[0].kelvin))
        write_film(video, frames, cards.table.crf)
        cards.write(truth)
        spent = time.monotonic() - began
        print(
            f"table {number + 1} of {tables}: {deck.name}, {len(cards.hands)} hands in "
            f"{spent:.0f} s", flush=True,
        )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
