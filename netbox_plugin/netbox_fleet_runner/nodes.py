"""A device as fleet-runner's node: what its custom fields say, and the request that is put into them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dcim.models import Device
from django.core.exceptions import ValidationError
from django.db import transaction
from extras.models import CustomField

from netbox_fleet_runner.brief import moment, plain
from netbox_fleet_runner.states import LONGEST_REASON, NODE_ROLES, REASON, SINCE, STATE, WISH, WISHES, Tone, tone

NO_FIELD = "NetBox has no field 'fleet_wish' on devices. Run 'fleet-runner netbox init' first."


class WishError(Exception):
    """Why a request was not taken, in a sentence."""


@dataclass(frozen=True, slots=True)
class Fields:
    """What a device's custom fields say: its state and since when, and the request that waits in them."""

    state: str
    since: datetime | None
    wish: str
    reason: str

    @property
    def tone(self) -> Tone:
        """How the state looks."""
        return tone(self.state)


def is_node(device: Device) -> bool:
    """Whether fleet-runner may know a device: one of a node's role, or that was given a state."""
    return device.role.slug in NODE_ROLES or bool(device.custom_field_data.get(STATE))


def fields(device: Device) -> Fields:
    """Return what a device's custom fields say."""
    held = device.custom_field_data
    return Fields(plain(held.get(STATE)), _since(held.get(SINCE)), plain(held.get(WISH)), plain(held.get(REASON)))


def offered() -> frozenset[str]:
    """Return the requests that NetBox's field takes and the plugin knows; none where there is no such field."""
    field = _custom_fields().get(WISH)
    known = {value for value, _ in field.choices} if field is not None else set()
    return frozenset(known.intersection(WISHES))


def ask(pk: int, kind: str, reason: str) -> None:
    """Put a request into a device's fields, as its page in NetBox does. WishError where NetBox does not take it."""
    known = offered()
    if kind not in known:
        raise WishError(f"'{plain(kind)}' cannot be requested in NetBox." if known else NO_FIELD)
    with transaction.atomic():
        device = Device.objects.select_for_update().get(pk=pk)  # fleet-runner may write the state beside it
        device.snapshot()
        device.custom_field_data[WISH] = kind
        if REASON in _custom_fields():
            device.custom_field_data[REASON] = reason[:LONGEST_REASON] or None
        try:
            device.full_clean()
        except ValidationError as error:
            raise WishError(f"NetBox does not save the device: {plain(' '.join(error.messages))}") from error
        device.save()


def _custom_fields() -> dict[str, CustomField]:
    return {field.name: field for field in CustomField.objects.get_for_model(Device)}


def _since(value: Any) -> datetime | None:
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            return None
        return found if found.tzinfo is not None else None
    return moment(value)
