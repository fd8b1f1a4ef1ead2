"""Charts as SVG text: how far shares can be trusted, and how scores fall.

They carry their own light ground, name no font but the generic one and style each part by
itself, so that they look alike in a page, in a model card and on their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

INK, DIM, LINE, GROUND = "#1d2622", "#5c6b64", "#d5ddd9", "#ffffff"
BEFORE, AFTER = "#c2602a", "#1f7a52"
COLOURS = ("#1f7a52", "#c2602a", "#3c5fb0", "#8a4f9e", "#6b6b16")
SIDE, MARGIN, TOP = 240.0, 52.0, 46.0
FOOT = 62.0
DOT_LEAST, DOT_MOST = 2.5, 8.0


def _text(
    x: float, y: float, words: str, size: int = 12, anchor: str = "start", colour: str = INK
) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" '
        f'style="font:{size}px sans-serif;fill:{colour}">{escape(words)}</text>'
    )


def _svg(width: float, height: float, parts: Sequence[str], words: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" aria-label="{escape(words)}">'
        f'<rect width="{width:g}" height="{height:g}" style="fill:{GROUND}"/>'
        f"{''.join(parts)}</svg>\n"
    )


def _frame(x: float, y: float, across: str, up: str) -> list[str]:
    """Axes from 0 to 1 with a line at every fifth."""
    parts = []
    for k in range(6):
        share = k / 5
        at, low = x + share * SIDE, y + SIDE - share * SIDE
        parts.append(f'<path d="M{at:g} {y:g}V{y + SIDE:g}M{x:g} {low:g}H{x + SIDE:g}" '
                     f'stroke="{LINE}" fill="none"/>')  # fmt: skip
        parts.append(_text(at, y + SIDE + 15, f"{share:g}", 11, "middle", DIM))
        parts.append(_text(x - 6, low + 4, f"{share:g}", 11, "end", DIM))
    parts.append(_text(x + SIDE / 2, y + SIDE + 32, across, 12, "middle"))
    turn = f'transform="rotate(-90 {x - 36:g} {y + SIDE / 2:g})"'
    up_words = _text(x - 36, y + SIDE / 2, up, 12, "middle")
    parts.append(up_words.replace("<text ", f"<text {turn} ", 1))
    return parts


def reliability_chart(calibration: dict[str, Any]) -> str:
    """Reliability diagrams of the reader and the detector, before and after calibration.

    `calibration` is what `models.evaluate.calibration.Evidence.fit` gives. A dot is a bin of
    shares, its size how many; on the slanting line a share of 0.9 is right 9 times in 10.
    """
    parts: list[str] = []
    x = MARGIN
    for name, title in (("reader", "reader: card read"), ("detector", "detector: thing found")):
        own = calibration.get(name)
        if own is None:
            continue
        held = _held_out(own, name)
        parts += [_text(x, 22, title, 14), *_frame(x, TOP, "probability", "share right")]
        parts.append(f'<path d="M{x:g} {TOP + SIDE:g}L{x + SIDE:g} {TOP:g}" stroke="{DIM}" '
                     'stroke-dasharray="4 4"/>')  # fmt: skip
        for key, colour in (("before", BEFORE), ("after", AFTER)):
            parts += _dots(x, own[key], colour)
        parts.append(_text(x, 38, f"before: ECE {held[0]}", 11, colour=BEFORE))
        parts.append(_text(x + SIDE, 38, f"after: ECE {held[1]}", 11, "end", AFTER))
        x += SIDE + MARGIN + 24
    return _svg(max(x, SIDE), TOP + SIDE + FOOT - 18, parts, "Reliability diagrams")


def _held_out(own: dict[str, Any], name: str) -> tuple[str, str]:
    from_bins = [_bins_ece(own[key]) for key in ("before", "after")]
    if name == "reader":
        held = own["held_out"]
        from_bins = [held["as it is"]["ece"], held[own["way"]]["ece"]]
    return f"{100 * from_bins[0]:.1f}%", f"{100 * from_bins[1]:.1f}%"


def _bins_ece(bins: Sequence[Sequence[float]]) -> float:
    """Expected calibration error from the bins of a diagram.

    >>> _bins_ece([(0.9, 0.8, 1), (0.5, 0.5, 1)])
    0.05
    """
    total = sum(n for _, _, n in bins)
    return round(sum(n * abs(mean - hit) for mean, hit, n in bins) / max(1, total), 6)


def _dots(x: float, bins: Sequence[Sequence[float]], colour: str) -> list[str]:
    most = max((n for _, _, n in bins), default=1)
    places = [(x + m * SIDE, TOP + SIDE - hit * SIDE, n) for m, hit, n in bins]
    line = "L".join(f"{px:.1f} {py:.1f}" for px, py, _ in places)
    parts = [f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>']
    for px, py, n in places:
        size = DOT_LEAST + (DOT_MOST - DOT_LEAST) * (n / most) ** 0.5
        parts.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="{size:.1f}" fill="{colour}" '
                     f'fill-opacity="0.75"><title>{n:g}</title></circle>')  # fmt: skip
    return parts


def steps_chart(
    title: str, steps: Sequence[str], lines: Mapping[str, Sequence[float | None]],
    breaks: int | None, floor: float,
) -> str:  # fmt: skip
    """Shares by step of a change; `breaks` is the first step that counts as broken.

    `lines` are shares of the plain image's, 1 being as good; `floor` is drawn across.
    """
    wide = max(1, len(steps) - 1)
    x, y = MARGIN, TOP
    parts = [_text(x, 22, title, 14)]

    def place(n: int, value: float) -> tuple[float, float]:
        return x + SIDE * 1.4 * n / wide, y + SIDE - SIDE * min(1.1, value) / 1.1

    for k in range(6):
        low = place(0, k / 5)[1]
        parts.append(f'<path d="M{x:g} {low:.1f}H{x + SIDE * 1.4:g}" stroke="{LINE}"/>')
        parts.append(_text(x - 6, low + 4, f"{20 * k}%", 11, "end", DIM))
    limit = place(0, floor)[1]
    parts.append(f'<path d="M{x:g} {limit:.1f}H{x + SIDE * 1.4:g}" stroke="{DIM}" '
                 'stroke-dasharray="4 4"/>')  # fmt: skip
    if breaks is not None:
        at = place(breaks, 0)[0]
        parts.append(f'<path d="M{at:.1f} {y:g}V{y + SIDE:g}" stroke="{BEFORE}" '
                     'stroke-width="1.5" stroke-dasharray="2 3"/>')  # fmt: skip
    for n, step in enumerate(steps):
        parts.append(_text(place(n, 0)[0], y + SIDE + 16, step, 10, "middle", DIM))
    for n, (name, values) in enumerate(lines.items()):
        colour = COLOURS[n % len(COLOURS)]
        there = [place(k, v) for k, v in enumerate(values) if v is not None]
        path = "L".join(f"{px:.1f} {py:.1f}" for px, py in there)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{colour}"/>'
                  for px, py in there]  # fmt: skip
        parts.append(_text(x + 92 * n, 38, name, 11, colour=colour))
    return _svg(x + SIDE * 1.4 + 30, y + SIDE + 28, parts, title)
