"""Slack's incoming webhooks, and those of chats that take the same (Mattermost, Rocket.Chat)."""

import json

from fleet_runner.adapters.files.notifications import Secrets
from fleet_runner.adapters.notifications.posting import OutgoingMessage, post
from fleet_runner.core.tickets.notifications.channel import Channel
from fleet_runner.core.tickets.notifications.text import Message, chat


def send(of: Channel, secrets: Secrets, message: Message) -> None:
    """POST a message."""
    body = json.dumps(chat(message), separators=(",", ":")).encode()
    post(
        of.name, secrets, OutgoingMessage(body, {"Content-Type": "application/json", "Idempotency-Key": message.key})
    )
