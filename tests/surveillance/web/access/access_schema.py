"""Plausible paths and bodies for any route, made from the OpenAPI."""

from __future__ import annotations

import re
from typing import Any

from tests.surveillance.web.access.access_made import CAMERA

PARAMETERS = {"dataset": "cards", "camera": CAMERA, "number": "0", "n": "0", "name": CAMERA}


def path_of(template: str) -> str:
    """A path with plausible values for its parameters; 1 for every number."""
    return re.sub(r"{(\w+)(?::\w+)?}", lambda found: PARAMETERS.get(found.group(1), "1"), template)


def body_of(schema: dict[str, Any], whole: dict[str, Any]) -> Any:
    """The smallest value that a JSON schema takes, near enough."""
    if "$ref" in schema:
        return body_of(whole["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], whole)
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return body_of(schema[key][0], whole)
    kind = schema.get("type")
    if kind == "object":
        wanted = schema.get("required", [])
        return {name: body_of(schema["properties"][name], whole) for name in wanted}
    if "prefixItems" in schema:
        return [body_of(item, whole) for item in schema["prefixItems"]]
    if kind == "array":
        return [body_of(schema["items"], whole)] * schema.get("minItems", 0)
    if kind == "string":
        if schema.get("format") == "date-time":
            return "2026-01-02T03:04:05Z"
        return "x" * max(1, schema.get("minLength", 1))
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    return kind == "boolean" or None
