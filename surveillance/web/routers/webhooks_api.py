"""The JSON API of webhooks: how each stands, and a test."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request

from surveillance.alerts.webhooks import Delivery, Webhooks
from surveillance.web.access import Admin, audit
from surveillance.web.schemas.access import DeliveryForm, WebhookForm
from surveillance.web.schemas.review import ErrorForm
from surveillance.web.services.errors import NotThereError

router = APIRouter(prefix="/api", tags=["webhooks"])


@router.get("/webhooks")
def webhooks(_: Admin, request: Request) -> list[WebhookForm]:
    """The webhooks of the site file and their last deliveries."""
    hooks = _webhooks(request)
    return [
        WebhookForm(
            number=state.number,
            url=state.url,
            codes=list(state.codes),
            waiting=state.waiting,
            delivered=state.delivered,
            failed=state.failed,
            dropped=state.dropped,
            last=[_form(delivery) for delivery in state.last],
        )
        for state in (hooks.states() if hooks else ())
    ]


@router.post("/webhooks/{number}/test", status_code=202, responses={404: {"model": ErrorForm}})
def send_test(
    _: Admin, number: Annotated[int, Path(ge=0, le=10_000)], request: Request
) -> DeliveryForm:
    """Send a test; what became of it stands in the list a little later."""
    hooks = _webhooks(request)
    delivery = hooks.test(number) if hooks else None
    if delivery is None:
        raise NotThereError(f"there is no webhook {number}")
    audit(request, "webhook tested", f"webhook {number}")
    return _form(delivery)


def _webhooks(request: Request) -> Webhooks | None:
    hooks: Webhooks | None = request.app.state.settings.webhooks
    return hooks


def _form(delivery: Delivery) -> DeliveryForm:
    return DeliveryForm.model_validate(delivery, from_attributes=True)
