"""Figures of a check as lines of text, for tables in a terminal, a page and the model card."""

from __future__ import annotations

from typing import Any

FINDING_HEADS = ("class", "labels", "AP50", "AP50-95", "precision", "recall")
SHARES = ("ap50", "ap50_95", "precision", "recall")


def percent(value: float | None) -> str:
    """A share as text, a dash where there is none."""
    return "–" if value is None else f"{100 * value:.2f}%"


def finding_rows(detector: dict[str, Any]) -> list[tuple[str, ...]]:
    """Lines of the table of what was found: group, labels, AP50, AP50-95, precision, recall."""
    groups: dict[str, dict[str, Any]] = dict(detector["classes"])
    groups |= {f"chip, {c} on top": own for c, own in detector.get("chip_colours", {}).items()}
    groups |= detector.get("together", {})
    rows = [
        (name, str(own["labels"]), *(percent(own[key]) for key in SHARES))
        for name, own in groups.items()
    ]
    return [
        *rows,
        ("mean of classes", "", percent(detector["map50"]), percent(detector["map50_95"]), "", ""),
    ]


def reading_rows(figures: dict[str, Any]) -> list[tuple[str, ...]]:
    """Lines of the table of what was found and read: what, figure."""
    work = figures["working"]
    one_in = work["wrong_one_in"]
    joker = work["joker"]
    rows: list[tuple[str, ...]] = [
        (f"mAP50 of {figures['cards_labelled']} cards", percent(figures["map50"])),
        ("mAP50-95", percent(figures["map50_95"])),
        ("mAP50 of the 52 indices", percent(figures["indices"]["map50"])),
        ("AP50 of the joker", percent(figures["joker"]["ap50"] if figures["joker"] else None)),
        ("indices labelled", str(work["labelled"])),
        ("found", str(work["seen"])),
        (f"read right, share {figures['sure']:g} or more", str(work["right"])),
        ("read wrong", f"{work['wrong']} (1 in {one_in:g})" if one_in else str(work["wrong"])),
        ("undecided", f"{work['undecided']} ({percent(work['undecided_share'])})"),
        ("a card read where none is", str(work["invented"])),
        ("labelled and read right", percent(work["read_right_of_labelled"])),
        ("jokers found", str(joker["seen"])),
        ("jokers read right, wrong, undecided",
         f"{joker['right']}, {joker['wrong']}, {joker['undecided']}"),
    ]  # fmt: skip
    return rows


def calibration_rows(calibration: dict[str, Any] | None) -> list[tuple[str, ...]]:
    """Lines of how each way of calibrating did on held-out images: what, ECE, log loss."""
    if calibration is None:
        return []
    parts: list[tuple[str, dict[str, Any]]] = []
    if calibration.get("reader"):
        parts.append(("reader", calibration["reader"]))
    kinds = (calibration.get("detector") or {}).get("kinds", {})
    parts += [(f"detector, {kind}", own) for kind, own in kinds.items()]
    return [
        (
            f"{name}, {way}{' *' if way == own['way'] else ''}",
            percent(held["ece"]),
            f"{held['log_loss']:.4f}",
        )
        for name, own in parts
        for way, held in own["held_out"].items()
    ]
