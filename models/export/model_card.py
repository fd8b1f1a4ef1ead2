"""The model card: what the shipped weights are, for programs (JSON) and for people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from models.data.provenance import Provenance, read_object
from models.evaluate.reliability import AS_IS
from models.evaluate.rows import (
    FINDING_HEADS,
    calibration_rows,
    finding_rows,
    percent,
    reading_rows,
)
from models.export.card_texts import chain_lines, evaluation_lines, front_matter, use_lines
from settlement.errors import FeltwatchError

LICENCE = "AGPL-3.0-or-later"
CHART_FILE = "reliability.svg"
PAGE_FILE = "MODEL_CARD.md"


def read_figures(path: Path) -> dict[str, Any]:
    """Figures as `feltwatch model val --json` prints them; raises FeltwatchError."""
    figures = read_object(path)
    for key in ("detector", "reader", "stacks"):
        # A set without stacks gives none of them.
        if not isinstance(figures.get(key), dict) and not (key == "stacks" and key in figures):
            raise FeltwatchError(
                f"{path}: no figures of the {key}; 'feltwatch model val --json' prints them"
            )
    return figures


def build_card(
    models: dict[str, dict[str, Any]],
    provenance: Provenance,
    figures: dict[str, Any] | None,
    versions: dict[str, str],
    date: str,
    calibration: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The machine-readable card; `models` holds file, sha256, classes and settings by part."""
    return {
        "form": 1,
        "licence": LICENCE,
        "date": date,
        "versions": versions,
        "recipe": (
            "The networks are trained from scratch (no pretrained weights) on rendered views: "
            "feltwatch model build, or feltwatch model render, train and export one by one."
        ),
        "models": models,
        "data": provenance.model_dump(mode="json"),
        "figures": figures,
        "calibration": calibration,
    }


def card_json(card: dict[str, Any]) -> str:
    """The card as JSON text."""
    return json.dumps(card, indent=1, ensure_ascii=False) + "\n"


def card_markdown(card: dict[str, Any]) -> str:
    """The card as a page for people."""
    parts = [
        *front_matter(card),
        "# Model card",
        "",
        "Small networks read the table. The *detector* finds what lies on the felt in a "
        "view: card indices, jokers, backs, chips and lammers. The *reader* says which of the 53 "
        "cards an upright crop of an index shows, or none. The *strips* network reads the "
        "unrolled side of a chip stack against samples of the table's own chips; a semi-Markov "
        "chain over its rows gives the probabilities of number and colours. Where the table's own "
        "deck was sampled, the *likeness* network computes the features by which an "
        "index is compared with its samples.",
        "",
        f"- Made: {card['date']}, with "
        + ", ".join(f"{name} {version}" for name, version in card["versions"].items()),
        f"- Licence: {card['licence']} (trained with ultralytics, which is AGPL-3.0)",
        f"- Recipe: {card['recipe']}",
        "",
        "## Files",
        "",
        "| part | file | bytes | weights | input | sha256 |",
        "|---|---|---|---|---|---|",
    ]
    for name, own in card["models"].items():
        shape = " x ".join(str(n) for n in own["input"])
        parts.append(
            f"| {name} | `{own['file']}` | {own['bytes']:,} | {own['weights']} | {shape} "
            f"| `{own['sha256']}` |"
        )
        parts += [
            f"| {name}, int8 | `{file['file']}` | {file['bytes']:,} | int8 | {shape} "
            f"| `{file['sha256']}` |"
            for file in _int8_files(own)
        ]
    parts += [
        "",
        *_settings_lines(card["models"]),
        *chain_lines(card),
        "## Data",
        "",
        *_data_lines(card["data"]),
    ]
    parts += ["## Figures", "", *_figure_lines(card["figures"])]
    parts += evaluation_lines(card)
    parts += _calibration_lines(card.get("calibration")) or _confidence_lines(card["figures"])
    parts += use_lines(card)
    parts += [
        "## Files and programs",
        "",
        "The files are meant for feltwatch's own views; `model-card.json` beside them is what the "
        "program reads and checks them against. They are no proof of anything alone: a person "
        "looks at what they point to.",
    ]
    return "\n".join(parts) + "\n"


def _int8_files(own: dict[str, Any]) -> list[dict[str, Any]]:
    """The int8 files of a network that the card names; empty without any."""
    return [own["int8"], own["int8"]["weights"]] if "int8" in own else []


def _settings_lines(models: dict[str, dict[str, Any]]) -> list[str]:
    lines = ["## Training and export", ""]
    for name, own in models.items():
        settings = ", ".join(f"{key} {value}" for key, value in own["training"].items())
        check = ", ".join(f"{key} {value}" for key, value in own["check"].items())
        lines += [
            f"- **{name}**: {settings}.",
            f"  OpenVINO against the checkpoint: {check}.",
        ]
        if "int8" in own:
            cost = ", ".join(f"{key} {value}" for key, value in own["int8"]["cost"].items())
            lines.append(f"  In int8, which is what runs: {cost}.")
    return [*lines, ""]


def _data_lines(data: dict[str, Any]) -> list[str]:
    lines = []
    for one in data["rendered"]:
        decks = ", ".join(one["decks"]) or "none"
        lines.append(
            f"- Rendered views: {one['views']:,} of {one['size_px']} px, seed {one['seed']}; decks "
            f"drawn by feltwatch with {one['fonts'] or 'no'} fonts; folders of faces: {decks}."
        )
    for one in data["stacks"]:
        seed = "seed unknown" if one["seed"] is None else f"seed {one['seed']}"
        kind = "Painted" if one["name"].startswith("painted") else "Ray-cast"
        lines.append(f"- {kind} strips of chip stacks: {one['strips']:,}, {seed}.")
    for one in data.get("patches", []):
        source = f" ({one['source']})" if one["source"] else ""
        lines.append(
            f"- Rendered patches about indices: {one['patches']:,}, seed {one['seed']}; decks "
            f"drawn by feltwatch with {one['fonts']} fonts; folders of faces, plain and under "
            f"drawn indices: {', '.join(one['decks']) or 'none'}{source}."
        )
    for one in data["photographs"]:
        parts = [
            f"version {one['version']}" if one["version"] else None,
            one["licence"] or "licence unknown",
            one["attribution"],
        ]
        lines.append(f"- Photographs: {one['name']}, {', '.join(p for p in parts if p)}.")
    if not lines:
        lines.append("- Not recorded.")
    elif not data["photographs"]:
        lines.append("- No photographs.")
    return [*lines, ""]


def reader_rows(reader: dict[str, Any]) -> list[tuple[str, str]]:
    """Lines of the reader's table, of crops of indices: what, figure."""
    sure = f"{reader['threshold']:g}"
    return [
        ("index crops", str(reader["indices"])),
        ("card right", percent(reader["card"])),
        ("rank right", percent(reader["rank"])),
        ("suit right", percent(reader["suit"])),
        (f"read, share {sure} or more", percent(reader["confident"])),
        (f"read wrong, share {sure} or more", percent(reader["confident_wrong"])),
        ("crops of none", str(reader["crops"] - reader["indices"])),
        ("read as none", percent(reader["none"])),
        (f"taken for a card, share {sure} or more", percent(reader["none_confident_wrong"])),
        ("calibration error (ECE)", percent(reader["calibration_error"])),
        ("temperature, and the best", f"{reader['temperature']:g}, {reader['best_temperature']:g}"),
    ]


def stack_rows(figures: dict[str, Any]) -> list[tuple[str, str]]:
    """Rows of the stack reader's table: what, figure; none where it was not checked."""
    stacks = figures["stacks"]
    if stacks is None:
        return []
    rows = [("strips", f"{stacks['strips']:,}"), ("temperature", f"{stacks['temperature']:g}")]
    for name, own in stacks["parts"].items():
        if own["stacks"]:
            rows.append((
                f"{name} ({own['stacks']:,})",
                f"{percent(own['read'])} read, {percent(own['wrong'])} wrong, "
                f"{percent(own['undecided'])} undecided",
            ))  # fmt: skip
    nothing = stacks["no stack"]
    rows.append((f"no stack ({nothing['strips']})", f"{nothing['invented']} invented"))
    return rows


def _figure_lines(figures: dict[str, Any] | None) -> list[str]:
    if figures is None:
        return [
            "None yet: `feltwatch model val --json` gives them, `export --figures` puts them in.",
            "",
        ]
    detector, reader = figures["detector"], figures["reader"]
    lines = [
        f"On held-out images of a rendered set ({detector['pictures']:,} views; decks of their "
        f"own), precision and recall at score {detector['threshold']:g} and IoU 0.5. Rendered "
        "images are easier than a camera's; figures of photographs and shifts are in "
        "docs/accuracy.md.",
        "",
        *_held_lines(figures.get("data", {}).get("held_out")),
        *_table(FINDING_HEADS, finding_rows(detector)),
    ]
    whole = figures.get("end_to_end")
    if whole is not None:
        lines += _table(("found and read", ""), reading_rows(whole))
        lines += _confusions(whole["confusions"]["cards"])
    for scene, own in figures.get("scenes", {}).items():
        lines += [f"Of these, {scene} scenes ({own['detector']['pictures']:,} views):", ""]
        lines += _table(FINDING_HEADS, finding_rows(own["detector"]))
        if own["end_to_end"] is not None:
            lines += _table(("found and read", ""), reading_rows(own["end_to_end"]))
    if reader is None and "reader" in figures["weights"]:
        lines += ["The reader was not checked on crops by itself: the set has none.", ""]
    elif reader is None:
        lines += ["The reader was replaced after these figures: they do not describe it.", ""]
    else:
        lines += _table(("reader, on crops", ""), reader_rows(reader))
        lines += _confusions(reader["confusions"])
    stacks = stack_rows(figures)
    if stacks:
        lines += _table(("chip stacks, on strips", ""), stacks)
    else:
        lines += ["The stack reader was not checked on this set.", ""]
    return lines


def _held_lines(held: dict[str, Any] | None) -> list[str]:
    """Whether the set is the listed one to the byte, or was rendered again."""
    if held is None:
        return []
    again = "" if held["unchanged"] == held["of"] else (
        "; the rest was rendered again with the list's commands, by a later version"
    )  # fmt: skip
    return [
        f"{held['unchanged']} of {held['of']} files of the list {held['name']} (models/heldout) "
        f"are unchanged{again}.",
        "",
    ]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(heads)} |",
        f"|{'---|' * len(heads)}",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]


def _confusions(pairs: Sequence[Sequence[Any]]) -> list[str]:
    pairs_text = ", ".join(f"{taken} for {true} ({n})" for true, taken, n in pairs[:10])
    return [f"Commonest mistakes (read for true): {pairs_text}.", ""] if pairs_text else []


def _calibration_lines(calibration: dict[str, Any] | None) -> list[str]:
    if calibration is None:
        return []
    data = calibration["data"]
    return [
        "## Confidence",
        "",
        f"Fitted on {calibration['pictures']:,} images of {data['name']} ({data['split']}), the "
        "figures on images held out of each fit. The detector's scores are carried along the "
        "points in `model-card.json`, the reader's shares are taken at its temperature: 0.9 then "
        "means right nine times in ten.",
        "",
        f"![Reliability diagrams]({CHART_FILE})",
        "",
        *_table(("way (*: chosen)", "ECE", "log loss"), calibration_rows(calibration)),
    ]


def _confidence_lines(figures: dict[str, Any] | None) -> list[str]:
    """How far the scores as they are hold on the images of the figures."""
    calibration = figures and figures.get("calibration")
    if not figures or not calibration:
        return []
    # The other ways stand in the output of `model val`; they are not what runs.
    every = calibration_rows(calibration)
    rows = [row for row in every if row[0].removesuffix(" *").endswith(AS_IS)]
    return [
        "## How far scores hold",
        "",
        f"Scores and shares as feltwatch goes by them, on {calibration['pictures']:,} views of "
        f"{figures['data']['name']}: 0.9 should mean right nine times in ten. The calibration "
        "error (ECE) is the mean difference.",
        "",
        *_table(
            ("network", "ECE", "log loss"),
            [(name.removesuffix(" *").removesuffix(f", {AS_IS}"), *more) for name, *more in rows],
        ),
    ]
