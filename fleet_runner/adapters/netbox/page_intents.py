"""Devices' pages in which people ask for something: read, with who asked, emptied, and answered in their journal."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple

from fleet_runner.adapters.netbox.cable_status import tag
from fleet_runner.adapters.netbox.client import Client, ForbiddenError, Json, NetBoxBusyError, RefusedError
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.netbox.custom_fields import REASON, REQUEST
from fleet_runner.core.inventory.netbox.page_intents import Change, Page

DEVICES, CHANGES, JOURNAL = "dcim/devices", "core/object-changes", "extras/journal-entries"
DEVICE = "dcim.device"

FIELDS = "id,name,role,custom_fields,created,last_updated"
CHANGE_FIELDS = "id,time,user_name,message,prechange_data,postchange_data"

MOST_CHANGES = 100
"""The newest changes of a device that are looked through for who asked."""

MOST_ENTRIES = 50
"""The newest entries of a journal among which an answer is looked for before it is written."""

WHY = "fleet-runner took the request."
"""What NetBox's change log says, from 4.4 on: by it the change is known."""


class Seen(NamedTuple):
    """A page as it was read; `tag` is its entity tag, `fields` are those of it that exist."""

    page: Page
    tag: str
    fields: tuple[str, ...]


def waiting(client: Client, devices: list[int] | None = None) -> list[Seen]:
    """Return the pages that hold a request, all or some devices', by the device's number.

    Raises:
        SourceError: they cannot be read, or there is no such field.
    """
    some = {} if devices is None else {"id": devices}
    rows = client.rows(DEVICES, FIELDS, **{f"cf_{REQUEST}__empty": "false"}, **some)
    with _shaped(client, DEVICES):
        if any(REQUEST not in row["custom_fields"] for row in rows):  # NetBox ignores filters that it does not know
            text = f"{client.url}: its devices have no custom field {REQUEST}; `fleet-runner netbox init` makes it"
            raise SourceError(text)
        return sorted(
            (_seen(row) for row in rows if row["custom_fields"][REQUEST]), key=lambda seen: seen.page.device
        )


def changes(client: Client, device: int) -> tuple[Change, ...]:
    """Return a device's newest changes; none where the token may not read them."""
    try:
        rows = client.newest(
            CHANGES, CHANGE_FIELDS, MOST_CHANGES, changed_object_type=DEVICE, changed_object_id=device
        )
    except ForbiddenError:
        return ()
    with _shaped(client, CHANGES):
        return tuple(_change(row) for row in rows)


def empty(client: Client, seen: Seen) -> bool:
    """Empty a page's field, if nobody changed the page since it was read; False where somebody did.

    A NetBox before 4.6 does not look at the entity tag.
    """
    device = seen.page.device
    asked: Json = {"id": device, "custom_fields": dict.fromkeys(seen.fields), "changelog_message": WHY}
    try:
        rows = client.change(DEVICES, [asked], "id,custom_fields,changelog_message", [seen.tag])
    except NetBoxBusyError:
        return False
    with _shaped(client, DEVICES):
        held = {row["id"]: row["custom_fields"][REQUEST] for row in rows}
    if device not in held:
        text = f"{client.url}/{DEVICES}/{device}/: not in NetBox's answer: deleted meanwhile, or the token may not"
        raise ForbiddenError(f"{text} change it; give the token's user dcim.change_device")
    if held[device]:
        text = f"{client.url}/{DEVICES}/{device}/: {REQUEST} is not empty although NetBox accepted the change"
        raise RefusedError(f"{text}; check its log")
    return True


def said(client: Client, device: int, mark: str) -> bool:
    """Whether a device's journal has an entry with a mark already."""
    rows = client.newest(JOURNAL, "id,comments", MOST_ENTRIES, assigned_object_type=DEVICE, assigned_object_id=device)
    with _shaped(client, JOURNAL):
        return any(mark in row["comments"] for row in rows)


def say(client: Client, device: int, comments: str) -> None:
    """Write an entry into a device's journal."""
    entry = {
        "assigned_object_type": DEVICE,
        "assigned_object_id": device,
        "kind": "warning",
        "comments": comments,
    }
    client.add(JOURNAL, [entry], ",".join(entry))


@contextmanager
def _shaped(client: Client, path: str) -> Iterator[None]:
    """Say plainly that an answer is not what NetBox gives."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        text = f"{path} has an unexpected format ({type(error).__name__}: {error}), expected that of NetBox 4"
        raise SourceError(f"{client.url}: {text}") from error


def _seen(row: Json) -> Seen:
    held, role = row["custom_fields"], row["role"]
    at = _moment(row["last_updated"] or row["created"])
    page = Page(int(row["id"]), row["name"] or "", role["slug"], str(held[REQUEST]), str(held.get(REASON) or ""), at)
    return Seen(page, tag(row), tuple(name for name in (REQUEST, REASON) if name in held))


def _change(row: Json) -> Change:
    before, after = _held(row["prechange_data"]), _held(row["postchange_data"])
    intents = str(before.get(REQUEST) or ""), str(after.get(REQUEST) or "")
    by, reason, ours = str(row["user_name"]), str(after.get(REASON) or ""), row["message"] == WHY
    return Change(int(row["id"]), _moment(row["time"]), by, *intents, reason, ours)


def _held(data: Any) -> Json:
    """Return the custom fields of a device as its change log keeps them; {} where it was made or deleted."""
    return {} if data is None else dict(data.get("custom_fields") or {})


def _moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
