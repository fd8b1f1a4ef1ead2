"""The metrics endpoint for Prometheus."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from surveillance.web.access import Viewer
from surveillance.web.metrics import CONTENT_TYPE, Metrics

router = APIRouter(include_in_schema=False)


@router.get("/metrics")
def metrics(_: Viewer, request: Request) -> Response:
    """All metrics in Prometheus' text form; fetched with a viewer's API token."""
    numbers: Metrics = request.app.state.metrics
    return Response(numbers.text(), headers={"content-type": CONTENT_TYPE})
