"""Painting a traced table with Blender's Cycles, used as a Python module (bpy)."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.traced_stacks.textures import (
    BLOTCHES_MM,
    PATCH_MM,
    WEAVE_MM,
    Image32,
    blotches,
    face,
    felt_print,
    felt_weave,
    rim,
)
from benchmarks.traced_stacks.truth import Rgb, TracedCamera, TracedKind, TracedStack, TracedTable

UNIT = 0.01
"""Blender units to a millimetre."""

SAMPLES, COARSE_SAMPLES = 8, 4
COARSER = 8
SEGMENTS = 72
MARGIN_MM = 42.0
"""Felt that is painted in full about the stacks of a group."""

Box = tuple[int, int, int, int]
Part = tuple[Box, Image32]

HOW_TO_INSTALL = (
    "rendering needs Blender as a Python module, in an environment of its own: "
    "python3.11 -m venv bpyenv && bpyenv/bin/pip install bpy==4.5.15 av pillow, then "
    "bpyenv/bin/python -m benchmarks.traced_stacks render ..."
)


class NoBlenderError(RuntimeError):
    """Blender's module cannot be imported; the message says how to install it."""


def blender() -> Any:
    """The module bpy; NoBlenderError where it is missing."""
    try:
        import bpy
    except ImportError as error:
        raise NoBlenderError(HOW_TO_INSTALL) from error
    return bpy


def paint(
    table: TracedTable, boxes: Sequence[Box] | None = None,
    lay: Callable[[Stage], None] | None = None, samples: int = SAMPLES, coarser: int = COARSER,
) -> tuple[Image32, list[Part]]:  # fmt: skip
    """The table's linear light: the frame `coarser` times smaller, float32 (h, w, 3) RGB, and
    the parts in `boxes` (x0, y0, x1, y1; px) in full, without them those about the stacks.

    `lay` puts more things on the stage."""
    bpy = blender()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    stage = Stage(bpy, table)
    stage.build()
    if lay is not None:
        lay(stage)
    wide, high = table.camera.width_px, table.camera.height_px
    coarse = _render(bpy, None, wide // coarser, high // coarser, COARSE_SAMPLES)
    parts = []
    for x0, y0, x1, y1 in regions(table) if boxes is None else boxes:
        # Blender cuts shares down to whole pixels: a part of one keeps float32 from losing it.
        border = tuple(
            min(1.0, (px + 0.3) / side)
            for px, side in ((x0, wide), (high - y1, high), (x1, wide), (high - y0, high))
        )
        parts.append(((x0, y0, x1, y1), _render(bpy, border, wide, high, samples)))
    return coarse, parts


def regions(table: TracedTable) -> list[Box]:
    """Boxes (x0, y0, x1, y1) px of each group's stacks with the felt about them."""
    out = []
    for group in range(len(table.groups) + 1):
        own = [one for one in (*table.stacks, *table.samples) if one.group == group]
        if not own:
            continue
        points = []
        for one in own:
            x, y = one.base_mm
            top = len(one.chips) * table.thickness_mm
            for dx in (-MARGIN_MM, MARGIN_MM):
                for dy in (-MARGIN_MM, MARGIN_MM):
                    points += [(x + dx, y + dy, 0.0), (x + dx * 0.6, y + dy * 0.6, top)]
        out.append(box_about(table.camera, points))
    return out


def box_about(camera: TracedCamera, points: Sequence[tuple[float, float, float]]) -> Box:
    """The box (x0, y0, x1, y1) px of points (felt mm and height), within the image."""
    px = camera.to_image(np.array(points))
    low, high = np.floor(px.min(axis=0)), np.ceil(px.max(axis=0))
    x0, y0 = np.clip(low, 0, [camera.width_px, camera.height_px]).astype(int)
    x1, y1 = np.clip(high, 0, [camera.width_px, camera.height_px]).astype(int)
    return int(x0), int(y0), int(x1), int(y1)


def kelvin_rgb(kelvin: float) -> Rgb:
    """Linear RGB of a black body's light, green 1 (the locus by Kim and others, 2002)."""
    t = 1000 / kelvin
    x = (
        -0.2661239 * t**3 - 0.2343589 * t**2 + 0.8776956 * t + 0.179910
        if kelvin <= 4000
        else -3.0258469 * t**3 + 2.1070379 * t**2 + 0.2226347 * t + 0.240390
    )
    y = (
        -0.9549476 * x**3 - 1.37418593 * x**2 + 2.09137015 * x - 0.16748867
        if kelvin <= 4000
        else 3.0817580 * x**3 - 5.87338670 * x**2 + 3.75112997 * x - 0.37001483
    )
    xyz = np.array([x / y, 1.0, (1 - x - y) / y])
    rgb = np.array([[3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415],
                    [0.0557, -0.2040, 1.0570]]) @ xyz  # fmt: skip
    red, green, blue = (np.clip(rgb, 0.01, None) / rgb[1]).tolist()
    return red, green, blue


class Stage:
    """Everything of one table, put into Blender's scene."""

    def __init__(self, bpy: Any, table: TracedTable) -> None:
        self.bpy, self.table = bpy, table
        self.rng = np.random.default_rng([table.seed, table.number, 1])

    def build(self) -> None:
        """Put up the camera, the lamps, the felt and all chips."""
        self._settings()
        self._camera()
        for lamp in self.table.lamps:
            color = kelvin_rgb(lamp.kelvin)
            data = self.bpy.data.lights.new("lamp", "AREA")
            data.shape, data.size = "DISK", lamp.size_mm * UNIT
            far = math.dist(lamp.place_mm, (*lamp.target_mm, 0.0)) * UNIT
            data.energy, data.color = 40.0 * lamp.power * far**2, color
            self._aimed(data, lamp.place_mm, lamp.target_mm)
        self._world()
        self._felt()
        meshes = {kind.name: self._chip(kind) for kind in self.table.kinds}
        for stack in (*self.table.stacks, *self.table.samples):
            self._stack(stack, meshes)

    def _settings(self) -> None:
        scene = self.bpy.context.scene
        scene.render.engine = "CYCLES"
        scene.cycles.device = "CPU"
        scene.render.threads_mode, scene.render.threads = "FIXED", 1
        scene.render.use_persistent_data = True
        scene.cycles.use_adaptive_sampling = True
        scene.cycles.adaptive_threshold = 0.1
        scene.cycles.adaptive_min_samples = 4
        scene.cycles.max_bounces, scene.cycles.diffuse_bounces = 3, 3
        scene.cycles.glossy_bounces, scene.cycles.transmission_bounces = 2, 0
        scene.cycles.caustics_reflective = scene.cycles.caustics_refractive = False
        scene.cycles.sample_clamp_indirect = 4.0
        scene.cycles.use_denoising = True
        scene.cycles.denoiser = "OPENIMAGEDENOISE"
        scene.cycles.denoising_prefilter = "NONE"
        scene.cycles.denoising_quality = "BALANCED"
        scene.cycles.seed = self.table.number
        scene.cycles.filter_width = 1.2
        scene.render.image_settings.file_format = "OPEN_EXR"
        scene.render.image_settings.color_depth = "32"
        scene.render.image_settings.exr_codec = "NONE"

    def _camera(self) -> None:
        own = self.table.camera
        scene = self.bpy.context.scene
        data = self.bpy.data.cameras.new("camera")
        data.sensor_fit, data.sensor_width = "HORIZONTAL", 36.0
        data.lens = own.focal_px * 36.0 / own.width_px
        data.clip_start, data.clip_end = 0.1, 1000.0
        thing = self.bpy.data.objects.new("camera", data)
        right, down, ahead = own.axes()
        x, y, z = own.place_mm
        place = np.array([x, -y, z]) * UNIT
        matrix = np.eye(4)
        matrix[:3, 0], matrix[:3, 1], matrix[:3, 2], matrix[:3, 3] = right, -down, -ahead, place
        thing.matrix_world = matrix.T.tolist()
        scene.collection.objects.link(thing)
        scene.camera = thing

    def _aimed(self, data: Any, place_mm: Sequence[float], target_mm: Sequence[float]) -> None:
        x, y, z = place_mm
        place = np.array([x, -y, z]) * UNIT
        back = place - np.array([target_mm[0], -target_mm[1], 0.0]) * UNIT
        back /= np.linalg.norm(back)
        side = np.cross([0.3, 0.9, 0.1], back)
        side /= np.linalg.norm(side)
        matrix = np.eye(4)
        matrix[:3, 0], matrix[:3, 1] = side, np.cross(back, side)
        matrix[:3, 2], matrix[:3, 3] = back, place
        thing = self.bpy.data.objects.new("lamp", data)
        thing.matrix_world = matrix.T.tolist()
        self.bpy.context.scene.collection.objects.link(thing)

    def _world(self) -> None:
        world = self.bpy.data.worlds.new("world")
        self.bpy.context.scene.world = world
        world.use_nodes = True
        node = world.node_tree.nodes["Background"]
        # The room is a little warmer or cooler than the lamps.
        tint = np.array(kelvin_rgb(float(self.table.lamps[0].kelvin))) ** 0.6
        node.inputs["Color"].default_value = (*tint.tolist(), 1.0)
        node.inputs["Strength"].default_value = 4.0 * self.table.ambient
        world.cycles.sampling_method = "NONE"

    def image(self, name: str, pixels: Image32) -> Any:
        """An image of Blender, rows from the bottom up."""
        high, wide, channels = pixels.shape
        full = np.ones((high, wide, 4), np.float32)
        full[..., :3] = pixels if channels == 3 else np.repeat(pixels, 3, axis=2)
        image = self.bpy.data.images.new(name, wide, high, float_buffer=True, is_data=True)
        image.pixels.foreach_set(full.ravel())
        image.update()
        return image

    def _felt(self) -> None:
        half = 45.0
        corners = [(-half, -half, 0), (half, -half, 0), (half, half, 0), (-half, half, 0)]
        mesh = self.bpy.data.meshes.new("felt")
        mesh.from_pydata(corners, [], [(0, 1, 2, 3)])
        material = self.bpy.data.materials.new("felt")
        material.use_nodes = True
        tree = material.node_tree
        tree.nodes.remove(tree.nodes["Principled BSDF"])
        shader = tree.nodes.new("ShaderNodeBsdfDiffuse")
        shader.inputs["Roughness"].default_value = 0.8
        surface = tree.nodes["Material Output"].inputs["Surface"]
        tree.links.new(shader.outputs[0], surface)
        where = tree.nodes.new("ShaderNodeTexCoord").outputs["Object"]
        color = self._tiled(tree, where, felt_weave(self.table.felt, self.rng), WEAVE_MM)
        shade = self._tiled(tree, where, blotches(self.rng), BLOTCHES_MM)
        node = tree.nodes.new("ShaderNodeVectorMath")
        node.operation = "MULTIPLY"
        tree.links.new(color, node.inputs[0])
        tree.links.new(shade, node.inputs[1])
        color = node.outputs[0]
        for place in range(len(self.table.groups)):
            cover = self._print(tree, where, place)
            mix = tree.nodes.new("ShaderNodeMix")
            mix.data_type = "RGBA"
            tree.links.new(cover, mix.inputs["Factor"])
            tree.links.new(color, mix.inputs[6])
            mix.inputs[7].default_value = (*self.table.print_rgb, 1.0)
            color = mix.outputs[2]
        tree.links.new(color, shader.inputs["Color"])
        mesh.materials.append(material)
        self.bpy.context.scene.collection.objects.link(self.bpy.data.objects.new("felt", mesh))

    def _print(self, tree: Any, where: Any, place: int) -> Any:
        """How much a group's print covers, as a node's output."""
        group = self.table.groups[place]
        turn = math.radians(group.angle_deg)
        # From felt to the group's own frame and to its image, u to the right and v upwards.
        node = tree.nodes.new("ShaderNodeMapping")
        node.vector_type = "POINT"
        x, y = group.center_mm[0] * UNIT, -group.center_mm[1] * UNIT
        scale = 1 / (PATCH_MM * UNIT)
        cos, sin = math.cos(turn), math.sin(turn)
        # Felt angles run clockwise; Blender's y points the other way.
        node.inputs["Rotation"].default_value = (0.0, 0.0, turn)
        node.inputs["Scale"].default_value = (scale, scale, scale)
        node.inputs["Location"].default_value = (
            0.5 - scale * (cos * x - sin * y), 0.5 - scale * (sin * x + cos * y), 0.0,
        )  # fmt: skip
        tree.links.new(where, node.inputs["Vector"])
        texture = tree.nodes.new("ShaderNodeTexImage")
        texture.image = self.image(f"print{place}", felt_print(group))
        texture.extension = "CLIP"
        tree.links.new(node.outputs["Vector"], texture.inputs["Vector"])
        covered = tree.nodes.new("ShaderNodeMath")
        covered.operation = "MULTIPLY"
        tree.links.new(texture.outputs["Color"], covered.inputs[0])
        # Outside of the image its alpha is 0; its colour may be anything.
        tree.links.new(texture.outputs["Alpha"], covered.inputs[1])
        return covered.outputs[0]

    def _tiled(self, tree: Any, where: Any, pixels: Image32, side_mm: float) -> Any:
        """An image repeated over the felt, as a node's output."""
        node = tree.nodes.new("ShaderNodeMapping")
        node.inputs["Scale"].default_value = (1 / (side_mm * UNIT),) * 3
        node.inputs["Rotation"].default_value = (0.0, 0.0, float(self.rng.uniform(0, 3)))
        tree.links.new(where, node.inputs["Vector"])
        texture = tree.nodes.new("ShaderNodeTexImage")
        texture.image = self.image("tile", pixels)
        tree.links.new(node.outputs["Vector"], texture.inputs["Vector"])
        return texture.outputs["Color"]

    def _scaled(self, tree: Any, color: Any, share: Any, low: float, high: float) -> Any:
        """A node's colour multiplied by a value that runs from `low` to `high`."""
        span = tree.nodes.new("ShaderNodeMapRange")
        span.inputs["To Min"].default_value, span.inputs["To Max"].default_value = low, high
        tree.links.new(share, span.inputs["Value"])
        node = tree.nodes.new("ShaderNodeVectorMath")
        node.operation = "SCALE"
        tree.links.new(color, node.inputs[0])
        tree.links.new(span.outputs["Result"], node.inputs["Scale"])
        return node.outputs[0]

    def _chip(self, kind: TracedKind) -> Any:
        """The mesh of one kind: a turned profile, its rim and its faces with their own images."""
        table = self.table
        radius, thick, bevel = table.diameter_mm / 2, table.thickness_mm, table.bevel_mm
        arc = np.linspace(0, math.pi / 2, 4)
        lower = [(radius - bevel + bevel * math.sin(a), bevel - bevel * math.cos(a)) for a in arc]
        upper = [(r, thick - z) for r, z in reversed(lower)]
        profile = [*lower, *upper]
        turns = np.linspace(0, 2 * math.pi, SEGMENTS + 1)
        points = [
            (r * math.cos(t) * UNIT, r * math.sin(t) * UNIT, z * UNIT)
            for r, z in profile for t in turns
        ]  # fmt: skip
        row = SEGMENTS + 1
        faces: list[tuple[int, ...]] = [
            (k * row + s, k * row + s + 1, (k + 1) * row + s + 1, (k + 1) * row + s)
            for k in range(len(profile) - 1) for s in range(SEGMENTS)
        ]  # fmt: skip
        rims = len(faces)
        last = (len(profile) - 1) * row
        faces.append(tuple(last + s for s in range(SEGMENTS)))
        faces.append(tuple(reversed(range(SEGMENTS))))
        mesh = self.bpy.data.meshes.new(kind.name)
        mesh.from_pydata(points, [], faces)
        layer = mesh.uv_layers.new(name="own").data
        for polygon in mesh.polygons:
            around = polygon.index < rims
            polygon.material_index = 0 if around else 1
            polygon.use_smooth = around
            for loop in polygon.loop_indices:
                at = mesh.loops[loop].vertex_index
                x, y, z = points[at]
                layer[loop].uv = (
                    ((at % row) / SEGMENTS, z / UNIT / thick) if around
                    else (0.5 + x / UNIT / radius / 2, 0.5 + y / UNIT / radius / 2)
                )  # fmt: skip
        for name, pixels in (("rim", rim(kind, self.rng)), ("face", face(kind, self.rng))):
            mesh.materials.append(self._plastic(f"{kind.name} {name}", kind, pixels))
        return mesh

    def _plastic(self, name: str, kind: TracedKind, pixels: Image32) -> Any:
        material = self.bpy.data.materials.new(name)
        material.use_nodes = True
        tree = material.node_tree
        shader = tree.nodes["Principled BSDF"]
        shader.inputs["Roughness"].default_value = kind.roughness
        shader.inputs["Specular IOR Level"].default_value = 0.35
        shader.inputs["Coat Weight"].default_value = kind.coat
        shader.inputs["Coat Roughness"].default_value = 0.25
        texture = tree.nodes.new("ShaderNodeTexImage")
        texture.image = self.image(name, pixels)
        info = tree.nodes.new("ShaderNodeObjectInfo")
        color = self._scaled(
            tree, texture.outputs["Color"], info.outputs["Random"], 0.9, 1.06
        )  # fmt: skip
        tree.links.new(color, shader.inputs["Base Color"])
        return material

    def _stack(self, stack: TracedStack, meshes: dict[str, Any]) -> None:
        collection = self.bpy.context.scene.collection
        x, y = stack.base_mm
        rows = zip(stack.chips, stack.offsets_mm, stack.turns, strict=True)
        for level, (name, (dx, dy), turn) in enumerate(rows):
            chip = self.bpy.data.objects.new(f"{name}{level}", meshes[name])
            height = stack.over_mm + level * self.table.thickness_mm + 0.02
            chip.location = ((x + dx) * UNIT, -(y + dy) * UNIT, height * UNIT)
            chip.rotation_euler = (0.0, 0.0, turn)
            collection.objects.link(chip)


def _render(
    bpy: Any, border: tuple[float, ...] | None, wide: int, high: int, samples: int
) -> Image32:
    """Linear light of the frame, or of a part of it (left, bottom, right, top; shares)."""
    scene = bpy.context.scene
    scene.render.resolution_x, scene.render.resolution_y = wide, high
    scene.cycles.samples = samples
    scene.render.use_border = scene.render.use_crop_to_border = border is not None
    if border is not None:
        render = scene.render
        render.border_min_x, render.border_min_y = border[0], border[1]
        render.border_max_x, render.border_max_y = border[2], border[3]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part.exr"
        scene.render.filepath = str(path)
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(str(path))
        across, down = image.size
        pixels = np.empty(across * down * 4, np.float32)
        image.pixels.foreach_get(pixels)
        bpy.data.images.remove(image)
    return without_holes(np.ascontiguousarray(pixels.reshape(down, across, 4)[::-1, :, :3]))


def without_holes(light: Image32) -> Image32:
    """Light in which single pixels that are no number have the median of those about them."""
    for y, x in np.argwhere(~np.isfinite(light).all(axis=2)):
        about = light[max(0, y - 2) : y + 3, max(0, x - 2) : x + 3].reshape(-1, 3)
        about = about[np.isfinite(about).all(axis=1)]
        light[y, x] = np.median(about, axis=0) if len(about) else 0.0
    return light
