"""Tokens of a NetBox: one made for fleet-runner's user, and what the one that it has may do."""

import re
import string
from collections.abc import Mapping
from secrets import choice

from fleet_runner.adapters.netbox.client import Client, ForbiddenError, Json, RefusedError, Timeouts
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.netbox.init.objects import MARK, Kind
from fleet_runner.core.inventory.netbox.init.rights import GRANT

SECOND = (4, 5)
"""The version of NetBox that keeps only digests of tokens: its v2."""

V2 = 2
"""The version of a token that has a key beside its secret, and is sent with both."""

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
    """Make a token, use it, and return it as it is sent; NetBox may never show it again.

    Raises RefusedError where NetBox does not take the token that it has made.
    """
    row: Json = {**fields, "description": f"fleet-runner; made by {MARK}"}
    if _numbers(version) < SECOND:
        secret = "".join(choice(string.ascii_letters + string.digits) for _ in range(LENGTH))
        made = _add(client, {**row, "key": secret})
        made["token"] = secret  # a NetBox that shows no tokens takes one all the same
    else:
        try:
            made = _add(client, {**row, "version": 2}, "token", "version")
        except RefusedError:  # it has no API_TOKEN_PEPPERS
            made = _add(client, {**row, "version": 1}, "token", "version")
    token = _sent(client, made)
    _use(client, token, made)
    return token


def may(client: Client) -> Mapping[str, frozenset[str]]:
    """Return what a token may add or change of what fleet-runner ever writes, by object type."""
    return {object_type: client.allowed(path) for object_type, path in LISTS.items()}


def _sent(client: Client, made: Json) -> str:
    """Return a token as NetBox wants it sent, of what NetBox says that it has made: what was asked for may differ."""
    secret = made.get("token")
    if not isinstance(secret, str) or not secret:
        raise RefusedError(f"NetBox created a token and did not return it; {_again(client, made)}")
    return f"nbt_{made['key']}.{secret}" if made.get("version") == V2 else secret


def _use(client: Client, token: str, made: Json) -> None:
    """Ask NetBox for something with a new token. Raises RefusedError where NetBox does not take it."""
    try:
        with Client(client.url, token, Timeouts()) as own:
            own.version()
    except ForbiddenError as error:
        text = f"NetBox created a token and does not accept it ({error})"
        raise RefusedError(
            f"{text}; {_again(client, made)}; if that gives the same, make one there by hand"
        ) from None


def _again(client: Client, made: Json) -> str:
    return f"delete it in its page, {client.url}/users/tokens/{made.get('id')}/, and run this again"


def _add(client: Client, row: Json, *more: str) -> Json:
    try:
        return client.add(Kind.TOKEN, [row], ",".join(dict.fromkeys(("id", "key", *row, *more))))[0]
    except ForbiddenError:
        text = f"{client.url}: this token may not create tokens for another user"
        raise ForbiddenError(f"{text}; give its user {' and '.join(GRANT)}, then run it again") from None


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"([0-9]{1,3})\.([0-9]{1,3})", version)
    if found is None:
        raise SourceError(f"found the NetBox version {version[:40]!r}, expected one such as 4.7.3")
    return int(found[1]), int(found[2])
