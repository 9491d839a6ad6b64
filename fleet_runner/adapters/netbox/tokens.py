"""Tokens of a NetBox: one made for fleet-runner's user, and what the one that it has may do."""

import re
import string
from collections.abc import Mapping
from secrets import choice

from fleet_runner.adapters.netbox.client import Client, ForbiddenError, Json, RefusedError
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.netbox.init.objects import MARK, Kind
from fleet_runner.core.inventory.netbox.init.rights import GRANT

SECOND = (4, 5)
"""The version of NetBox that keeps only digests of tokens: its v2."""

LENGTH = 40
"""Characters of a token, as NetBox makes them itself."""

LISTS = {
    "dcim.cable": "dcim/cables",
    "dcim.device": "dcim/devices",
    "dcim.inventoryitem": "dcim/inventory-items",
    "dcim.module": "dcim/modules",
    "extras.journalentry": "extras/journal-entries",
}
"""Objects that are written, with their lists."""


def make(client: Client, version: str, fields: Json) -> str:
    """Make a token and return it, as it is sent; NetBox may never show it again."""
    secret = "".join(choice(string.ascii_letters + string.digits) for _ in range(LENGTH))
    row: Json = {**fields, "description": f"fleet-runner; made by {MARK}"}
    if _numbers(version) < SECOND:
        _add(client, {**row, "key": secret})
        return secret
    try:
        key = _add(client, {**row, "token": secret, "version": 2})["key"]
    except RefusedError:  # it has no API_TOKEN_PEPPERS
        _add(client, {**row, "token": secret, "version": 1})
        return secret
    return f"nbt_{key}.{secret}"


def may(client: Client) -> Mapping[str, frozenset[str]]:
    """Return what a token may add or change of what fleet-runner ever writes, by object type."""
    return {object_type: client.allowed(path) for object_type, path in LISTS.items()}


def _add(client: Client, row: Json) -> Json:
    try:
        return client.add(Kind.TOKEN, [row], ",".join(("id", "key", *row)))[0]
    except ForbiddenError:
        text = f"{client.url}: NetBox lets this token make none for another user"
        raise ForbiddenError(f"{text}; give its user {' and '.join(GRANT)}, then run it again") from None


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"([0-9]{1,3})\.([0-9]{1,3})", version)
    if found is None:
        raise SourceError(f"NetBox says that its version is {version[:40]!r}; expected one such as 4.6.8")
    return int(found[1]), int(found[2])
