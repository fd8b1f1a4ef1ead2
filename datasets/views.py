"""Training views: pieces of felt with cards, chips and lammers, and the boxes on them.

Two kinds: views as a calibrated ceiling camera gives them (a fixed scale, hands in rows),
and loose pictures as a telephone takes them (any scale, any turn).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from datasets.deck import Deck, Picture
from datasets.look import (
    CameraFaults,
    chip_looks,
    degrade,
    felt_rgb,
    felt_texture,
    lammer_sprites,
    photo_faults,
    print_rgb,
    random_chips,
    random_light,
    table_faults,
)
from datasets.paint import Painter, card_corners, card_points, painting_order
from datasets.scene import CardItem, Item, LammerItem, StackItem
from settlement.record import DECK_LABELS, JOKER
from vision.table import CHIP_DIAMETER_MM, CHIP_THICKNESS_MM, VIEW_MM, FloatArray, LammerKind

CLASSES = ("index", "joker", "back", "chip", "lammer_envy", "lammer_dealer")
"""What the detector finds; rank and suit of an index are read from its crop."""

LAMMER_WORDS = {
    "envy": LammerKind(word="ENVY", rgb=(250, 214, 40)),
    "dealer": LammerKind(word="DEALER", rgb=(60, 140, 220)),
}
MIN_VISIBLE = {"index": 0.7, "joker": 0.55, "back": 0.3, "chip": 0.55, "lammer_envy": 0.6}
CHIP_COLOURS = ("white", "red", "green", "black", "purple", "orange", "blue", "pink", "grey")


@dataclass(frozen=True)
class Box:
    """A labelled box in px of the picture; `card` is the face's label for indices.

    `quad` (4, 2) is the index as it reads: its top left, top right, bottom right and
    bottom left corner, in px.
    """

    kind: str
    xyxy: tuple[float, float, float, float]
    visible: float
    card: str | None = None
    quad: FloatArray | None = None


@dataclass(frozen=True)
class LabelledView:
    """A rendered picture, uint8 (h, w, 3) BGR, and what is on it."""

    image: Picture
    boxes: tuple[Box, ...]


def _hand(
    rng: np.random.Generator, labels: Sequence[str], center: tuple[float, float],
    pitch: float, angle: float, face_up: bool, key: str,
) -> list[Item]:  # fmt: skip
    """Cards of one hand in an overlapping row, left to right."""
    items: list[Item] = []
    a = math.radians(angle)
    first = -pitch * (len(labels) - 1) / 2
    for i, label in enumerate(labels):
        along = first + i * pitch + rng.normal(0, 1.2)
        across = rng.normal(0, 1.5)
        x = center[0] + along * math.cos(a) - across * math.sin(a)
        y = center[1] + along * math.sin(a) + across * math.cos(a)
        turn = angle + rng.normal(0, 2.5)
        items.append(CardItem(f"{key}{i}", label, (float(x), float(y)), float(turn), face_up))
    return items


def _stack(rng: np.random.Generator, key: str, center: tuple[float, float]) -> StackItem:
    n = int(min(20, 1 + rng.geometric(0.28)))
    kinds = int(rng.integers(1, 4))
    names = rng.choice(CHIP_COLOURS, kinds)
    cuts = np.sort(rng.integers(0, n + 1, kinds - 1))
    colours: list[str] = []
    for name, count in zip(names, np.diff([0, *cuts, n]), strict=True):
        colours += [str(name)] * int(count)
    return StackItem(key, center, tuple(colours))


def table_items(rng: np.random.Generator) -> list[Item]:
    """A seat or the dealer's place at some moment of a round, in a frame of VIEW_MM."""
    deck = list(DECK_LABELS)
    rng.shuffle(deck)
    items: list[Item] = []
    base = float(rng.normal(0, 4)) + (180.0 if rng.random() < 0.4 else 0.0)
    # The later card lies over the earlier to its right, as seen by whoever spread them.
    way = -1.0 if rng.random() < 0.12 else 1.0
    dealerish = rng.random() < 0.25
    state = rng.random()
    face_up = state < 0.75
    if state > 0.93:
        pass
    elif state > 0.88:
        where = (float(rng.normal(0, 25)), float(rng.normal(90, 30)))
        items += _hand(rng, deck[:7], where, float(rng.uniform(0.5, 2)), base, False, "p")
    else:
        y_low, y_high = (42.0, -62.0) if dealerish else (37.0, 135.0)
        if rng.random() < 0.12:
            pitch = float(rng.uniform(16, 40))
            items += _hand(rng, deck[:7], (0, y_high), way * pitch, base, face_up, "s")
        else:
            low_pitch = float(rng.uniform(20, 66))
            high_pitch = float(rng.uniform(15, 27))
            shift = rng.normal(0, 5, 4)
            turned = rng.normal(0, 4, 2)
            low_up = face_up or rng.random() < 0.1
            items += _hand(
                rng, deck[:2], (shift[0], y_low + shift[1]), way * low_pitch,
                base + float(turned[0]), low_up, "l",
            )  # fmt: skip
            items += _hand(
                rng, deck[2:7], (shift[2], y_high + shift[3]), way * high_pitch,
                base + float(turned[1]), face_up, "h",
            )  # fmt: skip
    spots = [(-98, -113), (0, -115), (98, -113), (0, -40)]
    if not dealerish:
        for k, (u, v) in enumerate(spots):
            if rng.random() < 0.6:
                at = (u + float(rng.normal(0, 5)), v + float(rng.normal(0, 5)))
                items.append(_stack(rng, f"b{k}", at))
                if rng.random() < 0.35:
                    side = (-43, 0) if k == 3 else (0, -43)
                    beside = (at[0] + side[0] + rng.normal(0, 3), at[1] + side[1] + rng.normal(0, 3))
                    items.append(_stack(rng, f"w{k}", (float(beside[0]), float(beside[1]))))
        for k, (u, v, kind) in enumerate(((98, -71, "envy"), (-98, -71, "dealer"))):
            if rng.random() < 0.4:
                at = (u + float(rng.normal(0, 6)), v + float(rng.normal(0, 6)))
                items.append(LammerItem(f"m{k}", kind, at, float(rng.uniform(-180, 180))))
    for k in range(int(rng.integers(0, 3))):
        at = (float(rng.uniform(-195, 195)), float(rng.uniform(-195, 195)))
        item: Item = _stack(rng, f"x{k}", at)
        if rng.random() < 0.35:
            kind = "envy" if rng.random() < 0.5 else "dealer"
            item = LammerItem(f"y{k}", kind, at, float(rng.uniform(-180, 180)))
        items.append(item)
    return items


def loose_items(rng: np.random.Generator, size_mm: float) -> list[Item]:
    """Cards lying anyhow, some in fans, now and then chips."""
    deck = list(DECK_LABELS)
    rng.shuffle(deck)
    if rng.random() < 0.25:
        deck.remove(JOKER)
        deck.insert(int(rng.integers(0, 3)), JOKER)
    items: list[Item] = []
    half = size_mm * 0.5
    at = 0
    for g in range(int(rng.integers(1, 4 + int(size_mm / 150)))):
        n = int(rng.choice([1, 1, 2, 3, 5]))
        where = (float(rng.uniform(-half, half)), float(rng.uniform(-half, half)))
        items += _hand(
            rng, deck[at : at + n], where, float(rng.uniform(14, 70)),
            float(rng.uniform(0, 360)), rng.random() < 0.93, f"g{g}",
        )  # fmt: skip
        at += n
    if rng.random() < 0.2:
        for k in range(int(rng.integers(1, 4))):
            where = (float(rng.uniform(-half, half)), float(rng.uniform(-half, half)))
            items.append(_stack(rng, f"x{k}", where))
    return items


def _ground(rng: np.random.Generator, n: int, scale: float, table: bool) -> Picture:
    """What the cards lie on."""
    if table or rng.random() < 0.3:
        rgb = felt_rgb(rng)
        ground = felt_texture(rng, n, n, rgb, float(rng.uniform(1, 8)))
        _print_lines(rng, ground, scale, print_rgb(rng, rgb))
        return ground
    if rng.random() < 0.4:
        level = rng.uniform(120, 245)
        rgb = tuple(int(v) for v in np.clip(rng.normal(level, 10, 3), 0, 255))
    else:
        rgb = tuple(int(v) for v in rng.integers(5, 235, 3))
    ground = felt_texture(rng, n, n, rgb, float(rng.uniform(0.5, 14)))  # type: ignore[arg-type]
    kind = rng.random()
    if kind < 0.35:
        period = rng.uniform(8, 120)
        ys, xs = np.mgrid[0:n, 0:n].astype(np.float32)
        a = rng.uniform(0, math.pi)
        wave = np.sin((xs * math.cos(a) + ys * math.sin(a)) / period + 2 * np.sin(ys / 90))
        ground = np.clip(ground + (wave * rng.uniform(4, 30))[..., None], 0, 255).astype(np.uint8)
    elif kind < 0.65:
        for _ in range(int(rng.integers(3, 40))):
            points = rng.uniform(0, n, 2) + rng.normal(0, rng.uniform(5, n / 6), (int(rng.integers(3, 7)), 2))
            cv2.fillPoly(ground, [points.astype(np.int32)], rng.integers(0, 255, 3).tolist(), cv2.LINE_AA)
    return ground


def _print_lines(rng: np.random.Generator, ground: Picture, scale: float, rgb: tuple[int, int, int]) -> None:
    n = ground.shape[0]
    ink = rgb[::-1]
    wide = max(1, round(rng.uniform(1.2, 3) * scale))
    mid = n / 2
    for u, v, r in ((-98, -113, 27), (0, -115, 27), (98, -113, 27), (0, -40, 27)):
        if rng.random() < 0.7:
            center = (round(mid + u * scale), round(mid + v * scale))
            cv2.circle(ground, center, round(r * scale), ink, wide, cv2.LINE_AA)
    for u0, v0, u1, v1 in ((-75, -10, 75, 84), (-85, 88, 85, 182)):
        if rng.random() < 0.7:
            cv2.rectangle(
                ground, (round(mid + u0 * scale), round(mid + v0 * scale)),
                (round(mid + u1 * scale), round(mid + v1 * scale)), ink, wide, cv2.LINE_AA,
            )  # fmt: skip
    words = ("PAI GOW", "INSURANCE", "TREASURE", "HIGH", "LOW", "ENVY", "8 to 1", "10", "9", "A", "DEALER", "5")
    fonts = (cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_COMPLEX, cv2.FONT_HERSHEY_DUPLEX)
    for _ in range(int(rng.integers(0, 9))):
        at = (int(rng.uniform(0, n)), int(rng.uniform(0, n)))
        cv2.putText(
            ground, str(rng.choice(words)), at, int(rng.choice(fonts)),
            float(rng.uniform(0.1, 0.6) * scale), ink, max(1, wide // 2), cv2.LINE_AA,
        )  # fmt: skip


def draw_arm(
    canvas: Picture, shoulder: FloatArray, hand: FloatArray, scale: float,
    sleeve: tuple[int, int, int], skin: tuple[int, int, int],
) -> None:  # fmt: skip
    """A sleeve, a wrist and a hand from `shoulder` to `hand`, canvas px; `scale` px per mm."""
    h, w = canvas.shape[:2]
    d = hand - shoulder
    length = float(np.hypot(*d)) or 1.0
    d = d / length
    side = np.array([-d[1], d[0]])
    wrist, cuff = hand - d * 85 * scale, hand - d * 125 * scale
    pad = 70 * scale
    lo = np.maximum(np.minimum(shoulder, hand) - pad, 0).astype(int)
    hi = np.minimum(np.maximum(shoulder, hand) + pad, (w, h)).astype(int)
    if (hi - lo).min() < 2:
        return
    spot = canvas[lo[1] : hi[1], lo[0] : hi[0]]
    shadow = np.zeros(spot.shape[:2], np.uint8)
    fall = np.array([14.0, 18.0]) * scale
    body = np.array([
        shoulder + side * 62 * scale, cuff + side * 42 * scale,
        cuff - side * 42 * scale, shoulder - side * 62 * scale,
    ])  # fmt: skip
    palm = np.array([
        wrist + side * 27 * scale, hand - d * 62 * scale + side * 40 * scale,
        hand - d * 18 * scale + side * 40 * scale, hand - d * 18 * scale - side * 40 * scale,
        hand - d * 62 * scale - side * 40 * scale, wrist - side * 27 * scale,
    ])  # fmt: skip
    arm = np.array([
        cuff + side * 33 * scale, wrist + side * 27 * scale,
        wrist - side * 27 * scale, cuff - side * 33 * scale,
    ])  # fmt: skip

    def poly(target: Picture, points: FloatArray, value: tuple[int, ...], off: FloatArray) -> None:
        cv2.fillPoly(
            target, [np.round((points - lo + off) * 8).astype(np.int32)], value, cv2.LINE_AA, 3
        )

    for part in (body, palm, arm):
        poly(shadow, part, (255,), fall)
    small = cv2.resize(shadow, (max(1, shadow.shape[1] // 6), max(1, shadow.shape[0] // 6)))
    small = cv2.GaussianBlur(small, (0, 0), max(1.0, 14 * scale / 6))
    gain = 1 - cv2.resize(small, (shadow.shape[1], shadow.shape[0])).astype(np.float32) / 255 * 0.4
    np.copyto(spot, (spot * gain[..., None]).astype(np.uint8))
    zero = np.zeros(2)
    ink, flesh = sleeve[::-1], skin[::-1]
    poly(spot, body, ink, zero)
    for k in range(3):
        fold = body + (side * (k - 1) * 24 * scale)
        cv2.line(
            spot, tuple(np.round(fold[0] - side * 60 * scale - lo).astype(int).tolist()),
            tuple(np.round(fold[1] - side * 40 * scale - lo).astype(int).tolist()),
            tuple(round(v * 0.8) for v in ink), max(1, round(4 * scale)), cv2.LINE_AA,
        )  # fmt: skip
    poly(spot, arm, flesh, zero)
    poly(spot, palm, flesh, zero)
    dark = tuple(round(v * 0.82) for v in flesh)
    for k, reach in enumerate((18, 27, 24, 12)):
        root = hand - d * 26 * scale + side * (k - 1.5) * 20 * scale - lo
        tip = root + d * (26 + reach) * scale
        a, b = (tuple(np.round(p).astype(int).tolist()) for p in (root, tip))
        cv2.line(spot, a, b, flesh, max(2, round(17 * scale)), cv2.LINE_AA)
        if k:
            edge = side * -10 * scale
            a, b = (tuple(np.round(p + edge).astype(int).tolist()) for p in (root, tip))
            cv2.line(spot, a, b, dark, max(1, round(2 * scale)), cv2.LINE_AA)
    thumb = (hand - d * 52 * scale + side * 40 * scale) - lo
    a, b = (tuple(np.round(p).astype(int).tolist()) for p in (thumb, thumb + (d * 38 + side * 18) * scale))
    cv2.line(spot, a, b, flesh, max(2, round(18 * scale)), cv2.LINE_AA)


SKINS = ((232, 190, 165), (205, 150, 115), (160, 110, 80), (110, 72, 52), (245, 210, 190))
SLEEVES = ((20, 20, 24), (235, 235, 235), (120, 20, 30), (30, 50, 110), (70, 90, 60), (90, 90, 95))


def _arms(rng: np.random.Generator, canvas: Picture, scale: float) -> list[FloatArray]:
    """Arms at random over the picture; what they cover as polygons in canvas px."""
    covered = []
    n = canvas.shape[0]
    for _ in range(1 + int(rng.random() < 0.3)):
        hand = rng.uniform(0.1, 0.9, 2) * n
        a = rng.uniform(0, 2 * math.pi)
        d = np.array([math.cos(a), math.sin(a)])
        shoulder = hand - d * 1.6 * n
        draw_arm(
            canvas, shoulder, hand, scale, SLEEVES[int(rng.integers(len(SLEEVES)))],
            SKINS[int(rng.integers(len(SKINS)))],
        )  # fmt: skip
        side = np.array([-d[1], d[0]])
        wide = 52 * scale
        covered.append(
            np.array([
                shoulder + side * wide * 1.2, hand + d * 25 * scale + side * wide * 0.8,
                hand + d * 25 * scale - side * wide * 0.8, shoulder - side * wide * 1.2,
            ])
        )  # fmt: skip
    return covered


def item_outlines(
    item: Item, painter: Painter
) -> list[tuple[str, FloatArray, str | None]]:
    """Labelled outlines (kind, (n, 2) felt mm, card) of one item, hidden or not."""
    if isinstance(item, CardItem):
        size = painter.deck.size_mm
        if not item.face_up:
            return [("back", card_corners(item, size), None)]
        kind = "joker" if item.label == JOKER else "index"
        out: list[tuple[str, FloatArray, str | None]] = []
        for index in painter.deck.faces[item.label].indices:
            x0, y0, x1, y1 = index.rect_mm
            corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
            if index.inverted:
                corners = np.roll(corners, 2, axis=0)
            out.append((kind, card_points(item, size, corners), item.label))
        return out
    turn = np.linspace(0, 2 * math.pi, 16, endpoint=False)
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    if isinstance(item, LammerItem):
        r = painter.lammer_mm[item.kind] / 2
        return [(f"lammer_{item.kind}", ring * r + painter.lift(item.center_mm, 3.0), None)]
    r = CHIP_DIAMETER_MM / 2
    top = painter.lift(item.center_mm, len(item.colours) * CHIP_THICKNESS_MM)
    hull = np.vstack([ring * r + item.center_mm, ring * r + top])
    return [("chip", cv2.convexHull(hull.astype(np.float32)).reshape(-1, 2).astype(np.float64), None)]


def boxes_of(
    items: Sequence[Item], painter: Painter, to_view: FloatArray, size: int,
    covered: Sequence[FloatArray] = (),
) -> tuple[Box, ...]:  # fmt: skip
    """Boxes of what is seen. `to_view` (3, 3) maps canvas px to the picture's px."""
    small = 4
    h, w = painter.canvas.shape[:2]
    owner = np.zeros((h // small + 1, w // small + 1), np.int32)

    def fill(points_px: FloatArray, value: int) -> None:
        cv2.fillPoly(owner, [np.round(points_px / small).astype(np.int32)], value)

    outlines = []
    for number, item in enumerate(items, start=1):
        own = item_outlines(item, painter)
        outlines.append(own)
        solid = (
            card_corners(item, painter.deck.size_mm) if isinstance(item, CardItem) else own[0][1]
        )
        fill(painter.px(solid), number)
    for polygon in covered:
        fill(polygon, -1)
    boxes = []
    for number, own in enumerate(outlines, start=1):
        for kind, outline, card in own:
            px = painter.px(outline)
            mask = np.zeros_like(owner, np.uint8)
            cv2.fillPoly(mask, [np.round(px / small).astype(np.int32)], 1)
            inside = owner[mask > 0]
            if inside.size == 0:
                continue
            visible = float((inside == number).mean())
            seen = cv2.perspectiveTransform(px.reshape(-1, 1, 2), to_view).reshape(-1, 2)
            x0, y0 = seen.min(axis=0)
            x1, y1 = seen.max(axis=0)
            cx0, cy0 = max(0.0, float(x0)), max(0.0, float(y0))
            cx1, cy1 = min(float(size), float(x1)), min(float(size), float(y1))
            if cx1 <= cx0 or cy1 <= cy0:
                continue
            inside_share = (cx1 - cx0) * (cy1 - cy0) / max(1e-6, float((x1 - x0) * (y1 - y0)))
            visible *= inside_share
            if visible < MIN_VISIBLE.get(kind, 0.6) or min(cx1 - cx0, cy1 - cy0) < 4:
                continue
            quad = seen.astype(np.float64) if card else None
            boxes.append(Box(kind, (cx0, cy0, cx1, cy1), visible, card, quad))
    return tuple(boxes)


def render_view(rng: np.random.Generator, decks: Sequence[Deck], *, size: int = 640) -> LabelledView:
    """One training view, of a table two times out of three, else loose."""
    deck = decks[int(rng.integers(len(decks)))]
    if rng.random() < 0.62:
        return _table_view(rng, deck, size)
    return _loose_view(rng, deck, size)


def _painter(rng: np.random.Generator, deck: Deck, ground: Picture, scale: float,
             foot: tuple[float, float], height: float) -> Painter:  # fmt: skip
    n = ground.shape[0]
    chips = random_chips(rng)
    sprites, sizes = lammer_sprites(rng, LAMMER_WORDS, vary=True)
    return Painter(
        canvas=ground,
        to_px=np.array([[scale, 0, n / 2], [0, scale, n / 2]]),
        foot_mm=foot,
        height_mm=height,
        deck=deck,
        chips=chip_looks(rng, chips),
        lammers=sprites,
        lammer_mm=sizes,
        light=random_light(rng),
    )


def _table_view(rng: np.random.Generator, deck: Deck, size: int) -> LabelledView:
    scale = 2.4
    n = round((VIEW_MM + 60) * scale)
    height = float(rng.uniform(2300, 3600))
    a = rng.uniform(0, 2 * math.pi)
    away = height * math.tan(math.radians(rng.uniform(15, 54)))
    foot = (float(away * math.cos(a)), float(away * math.sin(a)))
    painter = _painter(rng, deck, _ground(rng, n, scale, True), scale, foot, height)
    items = painting_order(table_items(rng), foot)
    for item in items:
        painter.paint(item)
    covered = _arms(rng, painter.canvas, scale) if rng.random() < 0.18 else []
    # The camera sees the felt foreshortened along the line to its foot, at its own density.
    density = float(rng.uniform(1.25, 2.2))
    tilt = math.atan2(away, height)
    squeeze = math.cos(tilt)
    across = density / math.sqrt(squeeze)
    along = across * squeeze
    d = np.array([math.cos(a), math.sin(a)])
    turn = float(rng.uniform(0, 2 * math.pi))
    r = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    axes = np.array([d, [-d[1], d[0]]])
    linear = r @ np.diag([along, across]) @ axes / scale
    m = round(VIEW_MM * density * 1.5)
    to_camera = np.eye(3)
    to_camera[:2, :2] = linear
    to_camera[:2, 2] = m / 2 - linear @ np.array([n / 2, n / 2])
    # A touch of true perspective: the far side is seen smaller.
    pull = np.eye(3)
    pull[2, :2] = (linear @ (d * -1)) * rng.uniform(0.2, 1.0) * 2.5e-5 / max(density, 1)
    pull[2, 2] = 1 - float(pull[2, :2] @ np.array([m / 2, m / 2]))
    to_camera = pull @ to_camera
    seen = cv2.warpPerspective(painter.canvas, to_camera, (m, m), flags=cv2.INTER_AREA)
    faults = table_faults(rng)
    seen = degrade(rng, np.asarray(seen, np.uint8), faults)
    zoom = size / VIEW_MM * float(rng.uniform(0.95, 1.05)) / scale
    shift = rng.normal(0, 6, 2)
    to_view = np.array([
        [zoom, 0, size / 2 - zoom * n / 2 + shift[0]],
        [0, zoom, size / 2 - zoom * n / 2 + shift[1]],
        [0, 0, 1],
    ])  # fmt: skip
    view = cv2.warpPerspective(seen, to_view @ np.linalg.inv(to_camera), (size, size))
    if rng.random() < 0.15:
        view = _glare(rng, np.asarray(view, np.uint8))
    return LabelledView(np.asarray(view, np.uint8), boxes_of(items, painter, to_view, size, covered))


def _loose_view(rng: np.random.Generator, deck: Deck, size: int) -> LabelledView:
    view_mm = float(np.exp(rng.uniform(math.log(75), math.log(520))))
    n = round(size * 1.35)
    scale = size / view_mm
    height = float(rng.uniform(300, 2500))
    foot = tuple(float(v) for v in rng.normal(0, height * 0.5, 2))
    painter = _painter(rng, deck, _ground(rng, n, scale, False), scale, foot, height)  # type: ignore[arg-type]
    items = painting_order(loose_items(rng, view_mm), foot)  # type: ignore[arg-type]
    for item in items:
        painter.paint(item)
    covered = _arms(rng, painter.canvas, scale) if rng.random() < 0.08 else []
    corners = np.array([[0, 0], [n, 0], [n, n], [0, n]], np.float32)
    off = (n - size) / 2
    target = corners - off + rng.normal(0, size * 0.07, (4, 2)).astype(np.float32)
    if rng.random() < 0.2:
        target[:, int(rng.integers(2))] *= rng.uniform(0.75, 1.0)
    to_view = cv2.getPerspectiveTransform(corners, target.astype(np.float32))
    view = np.asarray(
        cv2.warpPerspective(painter.canvas, to_view, (size, size), borderMode=cv2.BORDER_REPLICATE),
        np.uint8,
    )
    if rng.random() < 0.3:
        view = _glare(rng, view)
    if rng.random() < 0.25:
        k = float(rng.uniform(0.4, 0.9))
        small = cv2.resize(view, None, fx=k, fy=k, interpolation=cv2.INTER_AREA)
        view = np.asarray(cv2.resize(small, (size, size), interpolation=cv2.INTER_LINEAR), np.uint8)
    view = degrade(rng, view, photo_faults(rng))
    if rng.random() < 0.15:
        grey = cv2.cvtColor(view, cv2.COLOR_BGR2GRAY)
        view = np.asarray(cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR), np.uint8)
    if rng.random() < 0.08:
        dots = rng.random(view.shape[:2]) < 0.004
        view[dots] = np.where(rng.random((int(dots.sum()), 1)) < 0.5, 255, 0)
    return LabelledView(view, boxes_of(items, painter, to_view, size, covered))


def _glare(rng: np.random.Generator, view: Picture) -> Picture:
    """A light's reflection, or the edge of a shadow."""
    n = view.shape[0]
    small = np.zeros((32, 32), np.float32)
    center = rng.uniform(0, 32, 2)
    cv2.ellipse(
        small, (int(center[0]), int(center[1])), (int(rng.integers(2, 12)), int(rng.integers(2, 12))),
        float(rng.uniform(0, 180)), 0, 360, 1.0, -1,
    )  # fmt: skip
    small = cv2.GaussianBlur(small, (0, 0), float(rng.uniform(1, 4)))
    mask = cv2.resize(small, (n, n), interpolation=cv2.INTER_CUBIC)[..., None]
    if rng.random() < 0.5:
        out = view + (255 - view) * mask * rng.uniform(0.15, 0.6)
    else:
        out = view * (1 - mask * rng.uniform(0.2, 0.6))
    return np.asarray(np.clip(out, 0, 255), np.uint8)


__all__ = [
    "CLASSES", "Box", "CameraFaults", "LabelledView", "boxes_of", "draw_arm", "item_outlines",
    "loose_items", "render_view", "table_items",
]  # fmt: skip
