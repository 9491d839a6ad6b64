"""A webhook of one's own: each change as JSON, signed as Standard Webhooks says (standardwebhooks.com)."""

import base64
import binascii
import hmac
import json
import time
from hashlib import sha256
from typing import Any

from fleet_runner.adapters.trackers.tracker import Issue
from fleet_runner.adapters.trackers.wire import Access, SessionTracker, TrackerSession
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.tickets.trackers.configuration import Configured
from fleet_runner.core.tickets.trackers.draft import Draft, Update

SECRET = "whsec_"  # noqa: S105  how such a secret begins, not one


class Webhook(SessionTracker):
    """One receiver. It holds one ticket for each `key`, and takes each `webhook-id` once.

    A line of the outbox has one id however often it is sent, so a receiver that keeps ids sees nothing twice.
    """

    settles = 0.0

    def __init__(self, of: Configured, access: Access) -> None:
        self._secret = _key(access.token)
        self._wire = TrackerSession(of.name, of.url, {"Content-Type": "application/json"}, access)

    def find(self, draft: Draft, since: float) -> Issue | None:
        """Nobody can be asked: a receiver knows a ticket by its key, and may know of one that is closed meanwhile."""
        del since
        return None if draft.open else Issue(draft.marker, "")

    def create(self, draft: Draft, change: int) -> Issue:
        """Send that there is a ticket."""
        self._send(draft, change, "")
        return Issue(draft.marker, "")

    def said(self, remote: str, draft: Draft) -> int:
        """Nothing is known to be told; the ids keep a receiver from seeing it twice."""
        del remote, draft
        return 0

    def tell(self, remote: str, update: Update) -> None:
        """Send how a ticket stands, and what is to be added to it."""
        del remote
        self._send(update.draft, update.newest, update.note)

    def _send(self, draft: Draft, change: int, note: str) -> None:
        body = json.dumps(_body(draft, note), separators=(",", ":")).encode()
        sent, moment = f"{draft.marker}.{change}", str(int(time.time()))
        signed = hmac.new(self._secret, f"{sent}.{moment}.".encode() + body, sha256).digest()
        headers = {
            "webhook-id": sent,
            "webhook-timestamp": moment,
            "webhook-signature": f"v1,{base64.b64encode(signed).decode()}",
        }
        self._wire.ask("POST", "", body, headers=headers)


def _body(draft: Draft, note: str) -> dict[str, Any]:
    return {
        "type": "ticket.open" if draft.open else "ticket.closed",
        "key": draft.marker,
        "ticket": draft.ticket,
        "fault": draft.fault,
        "title": draft.title,
        "text": draft.text,
        "remedy": draft.remedy,
        "priority": draft.priority,
        "labels": list(draft.labels),
        "nodes": list(draft.nodes),
        "opened_at": draft.opened_at,
        "closed_because": draft.because,
        "note": note,
    }


def _key(token: str) -> bytes:
    """Return the bytes of a secret: those that its base64 stands for, if it begins as the standard says."""
    if not token.startswith(SECRET):
        return token.encode()
    try:
        return base64.b64decode(token.removeprefix(SECRET), validate=True)
    except binascii.Error:
        raise SettingsError(
            f"a webhook's secret begins with {SECRET}, but no base64 follows; copy it again"
        ) from None
