"""A channel: who is notified, how they are reached, and what concerns them."""

from dataclasses import dataclass, field
from enum import StrEnum

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.tickets.notifications.lines import Line, Location, NewsKind
from fleet_runner.core.tickets.notifications.quiet_hours import Quiet, is_quiet


class ChannelKind(StrEnum):
    """How a channel is reached."""

    WEBHOOK = "webhook"
    SLACK = "slack"
    MAIL = "mail"


class Tls(StrEnum):
    """How a mail server is spoken to."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"  # on this machine alone


@dataclass(frozen=True, slots=True)
class Filters:
    """What concerns a channel. An empty field asks for nothing; states are those that a node moves to."""

    what: frozenset[NewsKind] = frozenset(NewsKind)
    sites: frozenset[str] = frozenset()
    device_types: frozenset[str] = frozenset()
    tenants: frozenset[str] = frozenset()
    states: frozenset[State] = frozenset()
    remedies: frozenset[Remedy] = frozenset()


@dataclass(frozen=True, slots=True)
class Post:
    """A mail server, and from whom to whom it carries."""

    host: str
    port: int
    tls: Tls
    sender: str
    to: tuple[str, ...]
    user: str = ""
    password_file: str = ""


@dataclass(frozen=True, slots=True)
class Channel:
    """One channel, as it is configured. Secrets are in files of their own, never here.

    `url_file` holds an address that is itself a secret; `urgent` is what breaks quiet hours.
    """

    name: str
    kind: ChannelKind
    url: str = ""
    url_file: str = ""
    token_file: str = ""
    secret_file: str = ""
    ca_file: str = ""
    post: Post | None = None
    filters: Filters = field(default_factory=Filters)
    quiet: Quiet | None = None
    urgent: Filters = field(default_factory=lambda: Filters(frozenset({NewsKind.BREAKER})))
    group_seconds: float = 60.0
    most_per_hour: int = 30


def concerns(filters: Filters, line: Line, place: Location) -> bool:
    """Whether a line is one of those that are asked for."""
    return (
        line.what in filters.what
        and (not filters.sites or place.site in filters.sites)
        and (not filters.device_types or place.device_type in filters.device_types)
        and (not filters.tenants or place.tenant in filters.tenants)
        and (not filters.states or line.what is not NewsKind.MOVED or line.to in filters.states)
        and (not filters.remedies or line.remedy in filters.remedies)
    )


def left_alone(channel: Channel, now: float) -> bool:
    """Whether only what is urgent may be told now."""
    return is_quiet(channel.quiet, now)
