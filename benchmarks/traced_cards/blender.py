"""Cards laid on the stage of the path tracer: bent sheets with rounded corners and an edge."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.traced_cards.faces import Image32, back, face
from benchmarks.traced_cards.scene import THICK_MM
from benchmarks.traced_cards.truth import (
    CARD_MM,
    PILE,
    UP,
    TracedCard,
    TracedCards,
    on_card,
    on_place,
)
from benchmarks.traced_stacks.blender import UNIT, Box, Part, Stage, box_about, paint
from benchmarks.traced_stacks.truth import Floats

SAMPLES, COARSER = 12, 4
CORNER_MM = 3.4
MARGIN_MM = 22.0
COLUMNS = 9

PRINTED_MM = ((-84.0, -12.0), (84.0, -12.0), (-106.0, 192.0), (106.0, 192.0))
"""Corners of what is printed for a hand, in its own frame."""


def paint_cards(cards: TracedCards, folder: Path) -> tuple[Image32, list[Part]]:
    """The table's linear light as `benchmarks.traced_stacks.blender.paint` gives it, with the
    hands and the stacks in full; `folder` holds the faces."""

    def lay(stage: Stage) -> None:
        _Cards(stage, cards, folder).lay()

    return paint(cards.table, regions(cards), lay, SAMPLES, COARSER)


def regions(cards: TracedCards) -> list[Box]:
    """Boxes (x0, y0, x1, y1) px of each hand's cards with their print, and of each stack."""
    camera = cards.table.camera
    half = np.array(CARD_MM) / 2 + MARGIN_MM
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * half
    out = []
    for hand in cards.hands:
        printed = on_place(hand.center_mm, hand.angle_deg, np.array(PRINTED_MM))
        points = np.concatenate([*(on_card(card, corners) for card in hand.cards), printed])
        out.append(box_about(camera, [(x, y, 0.0) for x, y in points.tolist()]))
    reach = cards.table.diameter_mm / 2 + 14.0
    for stack in cards.table.stacks:
        x, y = stack.base_mm
        top = len(stack.chips) * cards.table.thickness_mm
        out.append(
            box_about(
                camera,
                [(x + dx, y + dy, z) for dx in (-reach, reach) for dy in (-reach, reach)
                 for z in (0.0, top)],
            )
        )  # fmt: skip
    return [box for box in out if box[2] - box[0] > 2 and box[3] - box[1] > 2]


def sheet() -> tuple[Floats, list[tuple[int, int, int, int]]]:
    """Points (n, 2) mm of a card with rounded corners and its squares, row by row."""
    wide, high = CARD_MM[0] / 2, CARD_MM[1] / 2
    arc = CORNER_MM * (1 - np.cos(np.linspace(0, math.pi / 2, 5)))
    rows = np.concatenate([-high + arc, np.linspace(-high, high, 12)[1:-1], (high - arc)[::-1]])
    beyond = np.clip(np.abs(rows) - (high - CORNER_MM), 0, CORNER_MM)
    reach = wide - CORNER_MM + np.sqrt(CORNER_MM**2 - beyond**2)
    across = np.linspace(-1, 1, COLUMNS)
    points = np.stack(
        [reach[:, None] * across, np.broadcast_to(rows[:, None], (len(rows), COLUMNS))], axis=2
    )
    squares = [
        (j * COLUMNS + i, (j + 1) * COLUMNS + i, (j + 1) * COLUMNS + i + 1, j * COLUMNS + i + 1)
        for j in range(len(rows) - 1) for i in range(COLUMNS - 1)
    ]  # fmt: skip
    return points.reshape(-1, 2), squares


def heights(card: TracedCard, bow_mm: float, local_mm: Floats, flat: bool) -> Floats:
    """Heights (n,) mm of a card's underside: `flat` on what lies below it, else tilted from its
    left edge down to the felt; bent along its length."""
    u, v = local_mm[:, 0] / (CARD_MM[0] / 2), local_mm[:, 1] / (CARD_MM[1] / 2)
    bent = bow_mm * v**2 if bow_mm >= 0 else -bow_mm * (1 - v**2)
    lift = np.full(len(u), card.lift_mm) if flat else card.lift_mm * (1 - u) / 2
    out: Floats = 0.05 + lift + bent
    return out


class _Cards:
    """The hands of a table."""

    def __init__(self, stage: Stage, cards: TracedCards, folder: Path) -> None:
        self.stage, self.bpy, self.cards, self.folder = stage, stage.bpy, cards, folder
        self.rng = np.random.default_rng([cards.table.seed, cards.table.number, 4])
        self.points, self.squares = sheet()
        self.paper = self._material("paper", None)

    def lay(self) -> None:
        """Put all hands on the felt."""
        for hand in self.cards.hands:
            covered = None
            if hand.lies != UP:
                # One design for a table: the same draw for each of its hands.
                own = np.random.default_rng([self.cards.table.seed, self.cards.table.number, 5])
                covered = self._material("back", back(self.folder, hand.back, own))
            for card in hand.cards:
                top = covered or self._material(card.label, face(self.folder, card.label))
                self._card(card, hand.bow_mm, hand.lies == PILE, top)

    def _card(self, card: TracedCard, bow_mm: float, flat: bool, top: Any) -> None:
        felt = on_card(card, self.points)
        under = heights(card, bow_mm, self.points, flat)
        n = len(felt)
        rim = self._rim()
        m = len(rim)

        def at(rows: Floats, height: Floats) -> list[tuple[float, float, float]]:
            return [(x * UNIT, -y * UNIT, z * UNIT)
                    for (x, y), z in zip(rows.tolist(), height.tolist(), strict=True)]  # fmt: skip

        places = [
            *at(felt, under + THICK_MM), *at(felt[rim], under[rim] + THICK_MM),
            *at(felt[rim], under[rim]),
        ]  # fmt: skip
        walls = [(n + k, n + (k + 1) % m, n + m + (k + 1) % m, n + m + k) for k in range(m)]
        mesh = self.bpy.data.meshes.new(card.label)
        mesh.from_pydata(places, [], [*self.squares, *walls])
        layer = mesh.uv_layers.new(name="own").data
        share = self.points / CARD_MM + 0.5
        for polygon in mesh.polygons:
            over = polygon.index < len(self.squares)
            polygon.material_index = 0 if over else 1
            polygon.use_smooth = over
            for loop in polygon.loop_indices:
                vertex = mesh.loops[loop].vertex_index
                if over:
                    layer[loop].uv = (float(share[vertex, 0]), 1 - float(share[vertex, 1]))
        mesh.materials.append(top)
        mesh.materials.append(self.paper)
        self.bpy.context.scene.collection.objects.link(self.bpy.data.objects.new(card.label, mesh))

    def _rim(self) -> list[int]:
        """The points about the sheet, in turn."""
        rows = len(self.points) // COLUMNS
        return [
            *range(COLUMNS), *(j * COLUMNS + COLUMNS - 1 for j in range(1, rows)),
            *((rows - 1) * COLUMNS + i for i in range(COLUMNS - 2, -1, -1)),
            *(j * COLUMNS for j in range(rows - 2, 0, -1)),
        ]  # fmt: skip

    def _material(self, name: str, pixels: Image32 | None) -> Any:
        material = self.bpy.data.materials.new(name)
        material.use_nodes = True
        tree = material.node_tree
        shader = tree.nodes["Principled BSDF"]
        shader.inputs["Roughness"].default_value = self.cards.roughness
        shader.inputs["Specular IOR Level"].default_value = 0.4
        shader.inputs["Coat Weight"].default_value = self.cards.coat
        shader.inputs["Coat Roughness"].default_value = 0.2
        if pixels is None:
            shader.inputs["Base Color"].default_value = (0.7, 0.69, 0.66, 1.0)
            return material
        texture = tree.nodes.new("ShaderNodeTexImage")
        texture.extension = "EXTEND"
        texture.image = self.stage.image(name, pixels)
        tree.links.new(texture.outputs["Color"], shader.inputs["Base Color"])
        return material
