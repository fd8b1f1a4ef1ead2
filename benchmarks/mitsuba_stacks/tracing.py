"""Builds a table's scene for Mitsuba and renders its linear light."""

from __future__ import annotations

import math
from typing import Any

import drjit as dr
import mitsuba as mi
import numpy as np
import numpy.typing as npt

from benchmarks.mitsuba_stacks.piles import centres
from benchmarks.mitsuba_stacks.prints import (
    INLAY_SHARE,
    Image32,
    face_image,
    felt_image,
    rim_image,
)
from benchmarks.traced_stacks.truth import (
    Floats,
    Rgb,
    TracedCamera,
    TracedKind,
    TracedLamp,
    TracedTable,
)

Box = tuple[int, int, int, int]
Ints = npt.NDArray[np.uint32]

COARSE = 6
"""The rest of the frame is rendered at one pixel for so many along each axis."""

SAMPLES, COARSE_SAMPLES = 36, 20
_AT_ONCE = 6_000_000
_LEAST_LLVM = 16
"""Older ones end the process on Mitsuba's code."""

_RADIATION = 1.4388e-2
"""Planck's second constant, m K."""

_LOOKS = 7
_AROUND = 72
_ROUND = 4


class Tracer:
    """A table's scene. Space is right-handed: (x, -y, height) of the felt, mm."""

    def __init__(self, table: TracedTable) -> None:
        self.table = table
        self.scene: Any = mi.load_dict(_scene(table))

    def light(self, box: Box | None, samples: int) -> Image32:
        """Linear light (h, w, 3) of a box of the frame; None: of all of it, coarse."""
        if box is None:
            return self._rendered(COARSE, (0, 0, 3840 // COARSE, 2160 // COARSE), samples)
        x0, y0, x1, y1 = box
        rows = max(16, _AT_ONCE // (samples * (x1 - x0)))
        return np.concatenate([
            self._rendered(1, (x0, top, x1, min(top + rows, y1)), samples)
            for top in range(y0, y1, rows)
        ])  # fmt: skip

    def _rendered(self, shrink: int, box: Box, samples: int) -> Image32:
        x0, y0, x1, y1 = box
        camera = self.table.camera
        wide, high = camera.width_px // shrink, camera.height_px // shrink
        sensor = mi.load_dict({
            "type": "perspective",
            "fov": math.degrees(2 * math.atan(camera.width_px / 2 / camera.focal_px)),
            "fov_axis": "x",
            "near_clip": 50.0,
            "far_clip": 50000.0,
            "to_world": _look(camera),
            "sampler": {"type": "multijitter", "sample_count": samples},
            "film": {
                "type": "hdrfilm", "width": wide, "height": high, "crop_offset_x": x0,
                "crop_offset_y": y0, "crop_width": x1 - x0, "crop_height": y1 - y0,
                "pixel_format": "rgb", "component_format": "float32",
                "rfilter": {"type": "box"},
            },
        })  # fmt: skip
        seed = (self.table.seed * 7919 + self.table.number * 131 + y0) % 2**31
        image = mi.render(self.scene, sensor=sensor, spp=samples, seed=seed)
        return np.nan_to_num(np.array(image, np.float32))


def start(threads: int) -> None:
    """Choose how Mitsuba computes; call before anything else of this module.

    LLVM is what DRJIT_LIBLLVM_PATH names; without one that is new enough, rendering is slower.
    """
    usable = dr.detail.llvm_version()[0] >= _LEAST_LLVM
    mi.set_variant("llvm_ad_rgb" if usable else "scalar_rgb")
    dr.set_thread_count(threads)


def lamp_rgb(kelvin: float) -> Rgb:
    """The colour of a black body, linear RGB with green at 1."""
    waves = np.array([611e-9, 549e-9, 465e-9])
    # What a film calls white is daylight: the lamp's light is seen against it.
    own = np.expm1(_RADIATION / (waves * 5800)) / np.expm1(_RADIATION / (waves * kelvin))
    return (float(own[0] / own[1]), 1.0, float(own[2] / own[1]))


def _look(camera: TracedCamera) -> Any:
    right_down_ahead = camera.axes()
    x, y, height = camera.place_mm
    origin = np.array([x, -y, height])
    return mi.ScalarTransform4f().look_at(
        origin=origin.tolist(),
        target=(origin + 1000 * right_down_ahead[2]).tolist(),
        up=(-right_down_ahead[1]).tolist(),
    )


def _scene(table: TracedTable) -> dict[str, Any]:
    room = np.array(lamp_rgb(table.lamps[0].kelvin))
    parts: dict[str, Any] = {
        "type": "scene",
        "integrator": {"type": "path", "max_depth": 5, "rr_depth": 8},
        # Walls and carpet give the room's light back less strongly coloured.
        "room": {"type": "constant", "radiance": _rgb(table.ambient * room**0.8)},
    }
    for i, lamp in enumerate(table.lamps):
        parts[f"lamp{i}"] = _lamp(lamp, len(table.lamps))
    rng = np.random.default_rng([table.seed, table.number, 211])
    for name, felt in _felts(table).items():
        parts[name] = felt
    age = float(rng.beta(1.3, 1.8))
    shapes = _shapes(table)
    placed: dict[tuple[str, int], list[tuple[Floats, float]]] = {}
    for stack in [*table.stacks, *table.samples]:
        usual = rng.permutation(_LOOKS)[:4]
        for level, (at, name) in enumerate(zip(centres(stack), stack.chips, strict=True)):
            look = int(rng.choice(usual))
            where = np.array([at[0], -at[1], level * table.thickness_mm])
            placed.setdefault((name, look), []).append((where, stack.turns[level]))
    kinds = {kind.name: kind for kind in table.kinds}
    for (name, look), chips in placed.items():
        own = np.random.default_rng([table.seed, table.number, int(name), look])
        worn = float(np.clip(age + own.normal(0, 0.12), 0, 1))
        for part, draw in (("rim", rim_image), ("face", face_image)):
            image = draw(kinds[name], worn, own)
            parts[f"{part}_{name}_{look}"] = _mesh(
                *_copied(shapes[part], chips), _glossy(image, kinds[name])
            )
    return parts


def _lamp(lamp: TracedLamp, count: int) -> dict[str, Any]:
    x, y, height = lamp.place_mm
    aim = (lamp.target_mm[0], -lamp.target_mm[1], 0.0)
    far = math.dist((x, -y, height), aim)
    strength = lamp.power / count * far**2 / lamp.size_mm**2
    up = [0.0, 1.0, 0.0] if abs(aim[0] - x) + abs(aim[1] + y) < 50 else [0.0, 0.0, 1.0]
    turned = mi.ScalarTransform4f().look_at(origin=[x, -y, height], target=list(aim), up=up)
    return {
        "type": "rectangle",
        "to_world": turned @ mi.ScalarTransform4f().scale(lamp.size_mm / 2),
        "emitter": {"type": "area", "radiance": _rgb(strength * np.array(lamp_rgb(lamp.kelvin)))},
        "bsdf": {"type": "diffuse", "reflectance": _rgb(np.full(3, 0.1))},
    }


def _rgb(colour: npt.NDArray[Any]) -> dict[str, Any]:
    return {"type": "rgb", "value": [float(v) for v in colour]}


def _texture(image: Image32, wrap: str) -> dict[str, Any]:
    bitmap = mi.Bitmap(np.ascontiguousarray(image))
    return {"type": "bitmap", "bitmap": bitmap, "raw": True, "wrap_mode": wrap}


def _glossy(image: Image32, kind: TracedKind) -> Any:
    return mi.load_dict({
        "type": "roughplastic",
        "diffuse_reflectance": _texture(image, "repeat"),
        "alpha": kind.roughness,
        "int_ior": kind.coat,
    })  # fmt: skip


def _felts(table: TracedTable) -> dict[str, Any]:
    """The whole felt, and fine pieces of it, a hair higher, where stacks stand."""
    camera = table.camera
    corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1]]) * [camera.width_px, camera.height_px]
    seen = camera.to_felt(corners.astype(np.float64))
    low, high = seen.min(axis=0) - 400, seen.max(axis=0) + 400
    pieces = {"felt": (low, high, 2048 / float((high - low).max()), False, 0.0)}
    for i, group in enumerate(table.groups):
        middle = np.array(group.center_mm)
        pieces[f"place{i}"] = (middle - 210, middle + 210, 3.0, True, 0.03)
    row = np.array([one.base_mm for one in table.samples])
    pieces["row"] = (row.min(axis=0) - 110, row.max(axis=0) + 110, 2.5, True, 0.02)
    out: dict[str, Any] = {}
    for name, (start_at, end, per_mm, weave, height) in pieces.items():
        x0, y0, x1, y1 = (float(v) for v in (*start_at, *end))
        image = felt_image(table, (x0, y0), (x1 - x0, y1 - y0), per_mm, weave)
        points = np.array([[x0, -y0], [x1, -y0], [x1, -y1], [x0, -y1]])
        spots = np.column_stack([points, np.full(4, height)])
        # Texture rows run along y from the first.
        turn = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
        up = np.tile([0.0, 0.0, 1.0], (4, 1))
        matt = mi.load_dict({"type": "diffuse", "reflectance": _texture(image, "clamp")})
        faces = np.array([[0, 2, 1], [0, 3, 2]], np.uint32)
        out[name] = _mesh(spots, up, turn, faces, matt)
    return out


_Shape = tuple[Floats, Floats, Floats, Ints]


def _shapes(table: TracedTable) -> dict[str, _Shape]:
    """Points, normals, texture places and triangles of a chip's rim and of its face."""
    radius, thick, bevel = table.diameter_mm / 2, table.thickness_mm - 0.015, table.bevel_mm
    quarter = np.linspace(0, math.pi / 2, _ROUND + 1)
    low = [
        (
            radius - bevel + bevel * math.sin(a),
            bevel - bevel * math.cos(a),
            math.sin(a),
            -math.cos(a),
        )
        for a in quarter
    ]
    high = [
        (radius - bevel + bevel * math.cos(a), thick - bevel + bevel * math.sin(a), math.cos(a),
         math.sin(a))
        for a in quarter
    ]  # fmt: skip
    rim = _turned(np.array([(0.0, 0.0, 0.0, -1.0), (radius - bevel, 0.0, 0.0, -1.0), *low, *high]))
    inner, step = INLAY_SHARE * radius, 0.12
    face = _turned(np.array([
        (radius - bevel, thick, 0.0, 1.0), (inner + 0.3, thick, 0.0, 1.0),
        (inner + 0.25, thick, -0.7, 0.7), (inner, thick - step, -0.7, 0.7),
        (inner - 0.05, thick - step, 0.0, 1.0), (0.0, thick - step, 0.0, 1.0),
    ]))  # fmt: skip
    points = rim[0]
    about = np.tile(np.linspace(0, 1, _AROUND + 1), len(points) // (_AROUND + 1))
    rim_at = np.column_stack([about, 0.03 + 0.94 * np.clip(points[:, 2] / thick, 0, 1)])
    face_at = (face[0][:, :2] / radius * [1, -1] + 1) / 2  # rows go down
    return {"rim": (rim[0], rim[1], rim_at, rim[2]), "face": (face[0], face[1], face_at, face[2])}


def _turned(profile: Floats) -> tuple[Floats, Floats, Ints]:
    """A profile (n, 4) of radius, height and normal turned about the axis, outer side outwards."""
    angle = np.linspace(0, 2 * math.pi, _AROUND + 1)
    cos, sin = np.cos(angle), np.sin(angle)

    def swept(out: Floats, up: Floats) -> Floats:
        own = np.stack([out[:, None] * cos, out[:, None] * sin, up[:, None] + 0 * cos], axis=2)
        return np.asarray(own.reshape(-1, 3))

    first = np.arange(len(profile) - 1)[:, None] * (_AROUND + 1) + np.arange(_AROUND)
    one = first.ravel()
    over = one + _AROUND + 1
    faces = np.vstack([
        np.column_stack([one, one + 1, over + 1]), np.column_stack([one, over + 1, over])
    ])  # fmt: skip
    return (
        swept(profile[:, 0], profile[:, 1]),
        swept(profile[:, 2], profile[:, 3]),
        faces.astype(np.uint32),
    )


def _copied(shape: _Shape, chips: list[tuple[Floats, float]]) -> _Shape:
    """One shape at many places with turns (radians)."""
    points, normals, places, faces = shape
    all_points, all_normals, all_faces = [], [], []
    for i, (at, turn) in enumerate(chips):
        cos, sin = math.cos(turn), math.sin(turn)
        own = np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
        all_points.append(points @ own + at)
        all_normals.append(normals @ own)
        all_faces.append(faces + np.uint32(i * len(points)))
    return (
        np.concatenate(all_points), np.concatenate(all_normals),
        np.tile(places, (len(chips), 1)), np.concatenate(all_faces),
    )  # fmt: skip


def _mesh(points: Floats, normals: Floats, places: Floats, faces: Ints, surface: Any) -> Any:
    props = mi.Properties()
    props["bsdf"] = surface
    mesh = mi.Mesh(
        "chips", vertex_count=len(points), face_count=len(faces), has_vertex_normals=True,
        has_vertex_texcoords=True, props=props,
    )  # fmt: skip
    params = mi.traverse(mesh)
    params["vertex_positions"] = points.ravel().astype(np.float32)
    params["vertex_normals"] = normals.ravel().astype(np.float32)
    params["vertex_texcoords"] = places.ravel().astype(np.float32)
    params["faces"] = faces.ravel()
    params.update()
    return mesh
