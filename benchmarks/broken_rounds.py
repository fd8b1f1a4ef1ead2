"""Rounds that do not go as usual, on films: abandoned, dealt again, dealt at once, cut.

    python -m benchmarks.broken_rounds --out broken --name "broken tune" --shifts 0-2

Films shifts of four rounds and four seats in 4K at 5 frames a second, audits them, and audits each
again as a recording that begins in its first settled round and ends in its last. The seed is the
hash of the name plus the shift's number; games and courses come in turn. Finished shifts are kept,
their films removed unless `--keep`. Prints one JSON object: what was found of each kind of round,
what was missed, split or invented, and every alert (the shifts have no mistakes: each is false).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av

from benchmarks.money.plan import numbers
from benchmarks.money.run import chip_samples, run_feltwatch
from datasets.simulate.play.behaviour import Manner
from settlement.record import RoundRecord, read_rounds
from surveillance.alerts.model import read_alerts
from surveillance.cli.recordings.score_cmd import score_files
from surveillance.reports.score import match_rounds
from surveillance.reports.score_merge import together

GAMES = ("emperors_challenge_exposed", "pai_gow_poker", "imperial_pai_gow_draw")
COURSES = (
    "abandoned@2,misdeal@3,quick_deal@4",
    "misdeal@1,quick_deal@2,abandoned@3,quick_deal@4",
    "quick_deal@2,misdeal@2,quick_deal@3,abandoned@4",
)
ROUNDS, SEATS, PACE = 4, 4, 0.1
MOST = 100_000


@dataclass(frozen=True, slots=True)
class Shift:
    """One shift: its number and what it is played from.

    >>> Shift.of("broken tune", 4).game
    'pai_gow_poker'
    """

    number: int
    seed: int
    game: str
    events: str
    dealers: Manner

    @classmethod
    def of(cls, name: str, number: int) -> Shift:
        """Shift `number`, counted from 0, of the set of a name."""
        seed = int(hashlib.sha256(name.encode()).hexdigest()[:7], 16) + number
        # Every game meets every course within nine shifts.
        course = COURSES[(number + number // len(GAMES)) % len(COURSES)]
        dealers: Manner = "any" if number // len(GAMES) % 2 else "fast"
        return cls(number, seed, GAMES[number % len(GAMES)], course, dealers)

    @property
    def options(self) -> list[str]:
        """Options of `feltwatch simulate`, without the folder."""
        return [
            "--seed", str(self.seed), "--rounds", str(ROUNDS), "--fps", "5", "--game", self.game,
            "--events", self.events, "--seats", str(SEATS), "--dealers", self.dealers,
            "--pace", f"{PACE:g}", "--preset", "ultrafast",
        ]  # fmt: skip

    @property
    def kinds(self) -> dict[int, str]:
        """Of each round that is out of the ordinary, counted from 1, how; joined by '+'."""
        own: dict[int, str] = {}
        for word in self.events.split(","):
            kind, at = word.split("@")
            own[int(at)] = "+".join(filter(None, (own.get(int(at)), kind)))
        return own


def run(shift: Shift, out: Path, *, keep: bool) -> None:
    """Film and audit a shift, whole and cut; what is finished is not done again."""
    if (out / "audited").exists():
        return
    out.mkdir(parents=True, exist_ok=True)
    if not (out / "filmed").exists():
        own = ["simulate", *shift.options, "--laid-out", "--out", str(out)]
        (out / "filmed").write_text(run_feltwatch(own, out / "film.log"))
    table = out / "table-read.toml"
    shutil.copyfile(out / "table.toml", table)
    run_feltwatch(chip_samples(out, table), out / "enrol.log")
    _audit(out, "video.mp4", "feed.jsonl", "audit")
    cut(out)
    _audit(out, "cut.mp4", "cut-feed.jsonl", "audit-cut")
    (out / "audited").touch()
    if not keep:
        for film in (*out.glob("*.mp4"), *out.glob("*.png")):
            film.unlink()


def _audit(out: Path, video: str, feed: str, into: str) -> None:
    shutil.rmtree(out / into, ignore_errors=True)
    own = ["audit", str(out / video), "--table", str(out / "table-read.toml"), "--timeline"]
    run_feltwatch([*own, "--feed", str(out / feed), "--out", str(out / into)], out / f"{into}.log")


def usual(truth: Sequence[RoundRecord]) -> list[RoundRecord]:
    """The rounds that were settled."""
    return [record for record in truth if record.seats]


def cut(out: Path) -> None:
    """Cut the film from the middle of the first settled round to the middle of the last one."""
    truth = read_rounds(out / "truth.jsonl")
    begin, end = (_middle(one) for one in (usual(truth)[0], usual(truth)[-1]))
    with av.open(str(out / "video.mp4")) as film, av.open(str(out / "cut.mp4"), "w") as part:
        inner = film.streams.video[0]
        outer = part.add_stream_from_template(inner)
        base, start = Fraction(inner.time_base or 1), None
        for packet in film.demux(inner):
            if packet.pts is None or packet.dts is None:
                continue
            at_s = packet.pts * base
            if start is None:
                if not packet.is_keyframe or at_s < begin:
                    continue
                start = at_s
            if at_s > end and packet.is_keyframe:
                break
            packet.pts -= round(start / base)
            packet.dts -= round(start / base)
            packet.stream = outer
            part.mux(packet)
    assert start is not None
    t0, t1 = float(start), float(end)
    kept = [_moved(one, t0, t1) for one in truth if float(one.end_s or 0) > t0 < t1]
    kept = [one for one in kept if float(one.start_s or 0) < t1 - t0]
    (out / "cut-truth.jsonl").write_text("".join(one.to_json() + "\n" for one in kept))
    lines = [json.loads(line) for line in (out / "feed.jsonl").read_text().splitlines()]
    moved = [{**line, "at_s": f"{max(0.0, float(line['at_s']) - t0):.3f}"} for line in lines]
    last = [line for line in moved if line["at_s"] == "0.000"][-1:]
    kept_lines = last + [line for line in moved if line["at_s"] != "0.000"]
    (out / "cut-feed.jsonl").write_text("".join(json.dumps(line) + "\n" for line in kept_lines))


def _middle(record: RoundRecord) -> Fraction:
    return (Fraction(record.start_s or 0) + Fraction(record.end_s or 0)) / 2


def _moved(record: RoundRecord, t0: float, t1: float) -> RoundRecord:
    start = max(0.0, float(record.start_s or 0) - t0)
    end = min(t1, float(record.end_s or 0)) - t0
    return record.model_copy(update={"start_s": f"{start:.3f}", "end_s": f"{end:.3f}"})


def found(shift: Shift, out: Path) -> dict[str, Any]:
    """What the audits of a shift found, beside the truth."""
    whole = _found(shift, out, "truth.jsonl", "audit")
    return {
        "shift": shift.number, "seed": shift.seed, "game": shift.game, "dealers": shift.dealers,
        "events": shift.events, "whole": whole,
        "cut": _found(shift, out, "cut-truth.jsonl", "audit-cut"),
    }  # fmt: skip


def _found(shift: Shift, out: Path, truth_name: str, audit: str) -> dict[str, Any]:
    truth = read_rounds(out / truth_name)
    seen = read_rounds(out / audit / "rounds.jsonl")
    pairs = match_rounds(truth, seen)
    events: dict[str, list[str]] = {}
    for line in (out / audit / "timeline.jsonl").read_text().splitlines():
        own = json.loads(line)
        if own["kind"] == "event":
            events.setdefault(own["round_id"], []).append(own["name"])
    partner = {true.round_id: one for true, one in pairs.pairs}
    rounds = []
    for place, true in enumerate(truth):
        kind = shift.kinds.get(int(true.round_id.rsplit("-", 1)[1]), "usual")
        if audit == "audit-cut":
            kind += "+begun" * (place == 0) + "+ended" * (place == len(truth) - 1)
        one = partner.get(true.round_id)
        broken = one is not None and any("broken off" in u.why for u in one.undecided)
        rounds.append({
            "round": true.round_id, "kind": kind, "as": None if one is None else one.round_id,
            "right": one is not None and broken == (not true.seats),
            "off_s": None if one is None else [
                round(float(one.start_s or 0) - float(true.start_s or 0), 1),
                round(float(one.end_s or 0) - float(true.end_s or 0), 1),
            ],
            "events": [] if one is None else events.get(one.round_id, []),
            "undecided": 0 if one is None else len(one.undecided),
        })  # fmt: skip
    alerts = read_alerts(out / audit / "alerts.jsonl")
    return {
        "rounds": rounds,
        "missed": [one.round_id for one in pairs.missed],
        "split": [one.round_id for one in pairs.split],
        "invented": [one.round_id for one in pairs.invented],
        "alerts": [
            {"round": a.round_id, "code": a.code, "seat": a.seat, "wager": a.wager,
             "message": a.message}
            for a in alerts if a.code != "UNDECIDED"
        ],
    }  # fmt: skip


def summary(name: str, shifts: Sequence[Shift], out: Path) -> dict[str, Any]:
    """The whole set: totals first, then each shift."""
    each = [found(shift, out / f"{shift.number:02d}") for shift in shifts]
    totals: dict[str, Any] = {}
    for part in ("whole", "cut"):
        kinds: dict[str, Counter[str]] = {}
        for own in each:
            for one in own[part]["rounds"]:
                for kind in one["kind"].split("+"):
                    kinds.setdefault(kind, Counter())["right" if one["right"] else "not"] += 1
        totals[part] = {
            "rounds": {kind: dict(count) for kind, count in sorted(kinds.items())},
            **{what: sum(len(own[part][what]) for own in each)
               for what in ("missed", "split", "invented", "alerts")},
        }  # fmt: skip
    scores = [
        score_files(folder / "truth.jsonl", folder / "audit" / "rounds.jsonl",
                    folder / "audit" / "alerts.jsonl", None, folder / "stacks.jsonl")
        for folder in (out / f"{shift.number:02d}" for shift in shifts)
    ]  # fmt: skip
    return {"name": name, **totals, "score": together(scores).as_dict(), "shifts": each}


def main() -> None:
    """Film and audit what is not there yet, and print the summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="Folder; what it holds is kept.")
    parser.add_argument("--name", required=True, help="Its hash draws the shifts.")
    parser.add_argument("--shifts", default="0-5", help="Numbers such as 0-3,7.")
    parser.add_argument("--keep", action="store_true", help="Keep the films.")
    given = parser.parse_args()
    shifts = [Shift.of(given.name, number) for number in numbers(given.shifts, MOST)]
    for shift in shifts:
        run(shift, given.out / f"{shift.number:02d}", keep=given.keep)
    print(json.dumps(summary(given.name, shifts, given.out), indent=1))


if __name__ == "__main__":
    main()
