"""Ways to notify people and programs: one module each, and here which is which."""

from collections.abc import Callable

from fleet_runner.adapters.files.notifications import Secrets
from fleet_runner.adapters.notifications import mail, slack, webhook
from fleet_runner.core.tickets.notifications.channel import Channel, ChannelKind
from fleet_runner.core.tickets.notifications.text import Message

Sent = Callable[[Channel, Secrets, Message], None]

KINDS: dict[ChannelKind, Sent] = {
    ChannelKind.WEBHOOK: webhook.send,
    ChannelKind.SLACK: slack.send,
    ChannelKind.MAIL: mail.send,
}


def send(of: Channel, secrets: Secrets, message: Message) -> None:
    """Send a message; TrackerError where it was not taken, or nobody knows whether it was."""
    KINDS[of.kind](of, secrets, message)
