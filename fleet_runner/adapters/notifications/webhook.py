"""A webhook of one's own: each message as JSON, with a key that stays, and signed where there is a secret."""

import hmac
import json
import time
from hashlib import sha256

from fleet_runner.adapters.files.notifications import Secrets
from fleet_runner.adapters.notifications.posting import OutgoingMessage, post
from fleet_runner.core.tickets.notifications.channel import Channel
from fleet_runner.core.tickets.notifications.text import Message, document


def send(of: Channel, secrets: Secrets, message: Message) -> None:
    """POST a message. What is signed is the time of sending, a dot and the body, so that neither can be exchanged."""
    body = json.dumps(document(message), separators=(",", ":")).encode()
    headers: dict[str, str | bytes] = {"Content-Type": "application/json", "Idempotency-Key": message.key}
    if secrets.token:
        headers["Authorization"] = f"Bearer {secrets.token}".encode()
    if secrets.secret:
        moment = str(int(time.time()))
        signed = hmac.new(secrets.secret, f"{moment}.".encode() + body, sha256).hexdigest()
        headers |= {"X-Fleet-Timestamp": moment, "X-Fleet-Signature": f"sha256={signed}"}
    post(of.name, secrets, OutgoingMessage(body, headers))
