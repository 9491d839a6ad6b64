"""NetBox's webhook: whoever signs with its secret has the pages looked at. What it says is not read, for they say it.

So a request that is sent again does no more than ring again, and one that is lost is no loss: the pages are looked at
every half a minute anyway.
"""

import asyncio
import hmac
from collections.abc import Callable
from hashlib import sha512
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

from fleet_runner.adapters.files import secret as secret_file
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.services.http.requests import Answer, Request, Unanswerable
from fleet_runner.services.signals.inputs import KIB
from fleet_runner.services.signals.push import Reception, Refused

WAY = "netbox"
"""What stands behind /signals/, and under which it is counted."""

MOST = 256 * KIB
"""Bytes of a body: a device with its config context, before and after the change."""

SIGNATURE = b"x-hook-signature"

DIGITS = 2 * sha512().digest_size

WANTED = "the secret of NetBox's webhook; fleet-runner netbox init makes it"


class Hook(NamedTuple):
    """The secret's file, and whom a signed request wakes."""

    secret: Path
    ring: Callable[[], object]


async def hooked(reception: Reception, request: Request, hook: Hook) -> Answer:
    """Take a request of NetBox's; each is counted, and each refusal."""
    now = reception.clock()
    try:
        await _signed(reception, request, hook)
    except Unanswerable as wrong:
        what = wrong.what if isinstance(wrong, Refused) else "body too large, too slow or broken off"
        reception.counts.add(WAY, f"refused: {what}", now, 1, f"from {request.source}")
        raise
    hook.ring()
    reception.counts.add(WAY, "taken", now, 1, f"from {request.source}")
    return Answer(HTTPStatus.OK, b"the pages are looked at\n")


async def _signed(reception: Reception, request: Request, hook: Hook) -> None:
    """Return where the body is signed with the secret, else raise Unanswerable."""
    if not reception.limits.take(request.source, reception.steady()):
        raise Refused(HTTPStatus.TOO_MANY_REQUESTS, "too many requests", "this address asks too often")
    shown = request.header(SIGNATURE)
    if len(shown) != DIGITS:
        text = "expected X-Hook-Signature with an HMAC-SHA512; set the webhook's secret in NetBox"
        raise Refused(HTTPStatus.UNAUTHORIZED, "no signature", text)
    body = await request.body(MOST)
    try:
        secret = (await asyncio.to_thread(secret_file.read, hook.secret, WANTED)).strip()  # it may be a new one
    except SettingsError as error:
        raise Refused(
            HTTPStatus.SERVICE_UNAVAILABLE, f"trouble here: {error}", "this cannot be judged now"
        ) from error
    expected = hmac.new(secret, body, sha512).hexdigest().encode()
    if not hmac.compare_digest(expected, shown.lower()):
        text = "the signature is not made with the secret here; set the same one in NetBox's webhook"
        raise Refused(HTTPStatus.UNAUTHORIZED, "wrong signature", text)
