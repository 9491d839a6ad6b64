"""The channels of a fleet, read from plain data: everything that is wrong with them is told at once."""

import re
from collections.abc import Callable
from typing import Any

from fleet_runner.core.base import fields, named_list
from fleet_runner.core.base.fields import Problem, Section, Unfit
from fleet_runner.core.base.named_list import like
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.schedules.times import check_zone
from fleet_runner.core.tickets.notifications.channel import Channel, ChannelKind, Filters, Post, Tls
from fleet_runner.core.tickets.notifications.lines import NewsKind
from fleet_runner.core.tickets.notifications.quiet_hours import DAYS, EVERY, Quiet, Window, quiet, window
from fleet_runner.core.tickets.trackers.configuration import url

MOST = 20
"""Channels of one fleet."""

MOST_TO = 50
PORTS = {Tls.STARTTLS: 587, Tls.TLS: 465, Tls.NONE: 25}
HERE = frozenset({"127.0.0.1", "::1", "localhost"})

_HOST = re.compile(r"[A-Za-z0-9.:-]{1,253}")
_MAIL = re.compile(r"[A-Za-z0-9._%+=-]{1,64}@[A-Za-z0-9.-]{1,190}")


def read(raw: object) -> tuple[Channel, ...]:
    """Return the channels of a fleet, each name once.

    Raises:
        ListError: with everything that is wrong.
    """
    return named_list.read(raw, "channels", MOST, _one)


def _one(row: Section) -> Channel:
    kind = row.take("kind", fields.one_of(ChannelKind), None, needed=True)
    if kind is None:  # which other fields there may be is not known
        return Channel("", ChannelKind.WEBHOOK)
    name = named_list.name(row)
    reached = _KINDS[kind](row)
    filters = _filters(row, frozenset(NewsKind))
    hours, urgent = _quiet(row.below("quiet_hours"))
    found = Channel(
        name,
        kind,
        **reached,
        ca_file=row.take("ca_file", fields.text, ""),
        filters=filters,
        quiet=hours,
        urgent=urgent,
        group_seconds=row.take("group_seconds", fields.number(0, 3600), 60.0),
        most_per_hour=row.take("most_per_hour", fields.whole(1, 3600), 30),
    )
    row.strangers()
    return found


def _webhook(row: Section) -> dict[str, Any]:
    return _address(row) | {
        "token_file": row.take("token_file", fields.text, ""),
        "secret_file": row.take("secret_file", fields.text, ""),
    }


def _address(row: Section) -> dict[str, Any]:
    found = {"url": row.take("url", url, ""), "url_file": row.take("url_file", fields.text, "")}
    if row.sound and ("url" in row.rows) == ("url_file" in row.rows):
        both = "both url and url_file" if "url" in row.rows else "neither url nor url_file"
        row.problems.append(Problem(row.path, both, "one of the two"))
    return found


def _slack(row: Section) -> dict[str, Any]:
    if "url" in row.rows:
        row.wrong("url", "an address", "url_file, a file of mode 0600: who knows a Slack address can post there")
    row.known.append("url")
    return {"url_file": row.take("url_file", fields.text, "", needed="url" not in row.rows)}


def _mail(row: Section) -> dict[str, Any]:
    tls = row.take("tls", fields.one_of(Tls), Tls.STARTTLS)
    host = row.take("host", like(_HOST, "a host's name or address"), "", needed=True)
    mail = like(_MAIL, "an address like fleet@example.org")
    post = Post(
        host,
        row.take("port", fields.whole(1, 65_535), PORTS[tls]),
        tls,
        row.take("from", mail, "", needed=True),
        row.several("to", mail),
        row.take("user", fields.text, ""),
        row.take("password_file", fields.text, ""),
    )
    if row.sound and not 0 < len(post.to) <= MOST_TO and not _wrong_below(row, "to"):
        row.wrong("to", f"{len(post.to)} addresses", f"at least one and at most {MOST_TO}")
    if tls is Tls.NONE and host and host not in HERE:
        row.wrong("tls", "'none'", "starttls or tls: without either, mail goes to a server of this machine alone")
    if bool(post.user) != bool(post.password_file):
        row.problems.append(Problem(row.path, "one of user and password_file", "both, or neither"))
    return {"post": post}


_KINDS: dict[ChannelKind, Callable[[Section], dict[str, Any]]] = {
    ChannelKind.WEBHOOK: _webhook,
    ChannelKind.SLACK: _slack,
    ChannelKind.MAIL: _mail,
}


def _filters(row: Section, otherwise: frozenset[NewsKind]) -> Filters:
    return Filters(
        frozenset(row.several("what", fields.one_of(NewsKind))) or otherwise,
        frozenset(row.several("sites", fields.text)),
        frozenset(row.several("device_types", fields.text)),
        frozenset(row.several("tenants", fields.text)),
        frozenset(row.several("states", fields.one_of(State))),
        frozenset(row.several("remedies", fields.one_of(Remedy))),
    )


def _quiet(row: Section | None) -> tuple[Quiet | None, Filters]:
    """Return the hours, and what is told in them all the same: the breaker, where nothing is said."""
    urgent = Filters(frozenset({NewsKind.BREAKER}))
    if row is None:
        return None, urgent
    zone = row.take("timezone", _zone, "UTC", needed=True)
    windows = {day: row.several(day, _window) for day in (EVERY, *DAYS)}
    if row.sound and not any(windows.values()) and not row.problems:
        row.problems.append(Problem(row.path, "no window", f"one like {EVERY}: ['22:00-07:00']"))
    below = row.below("urgent")
    if below is not None:
        urgent = _filters(below, frozenset(NewsKind))
        below.strangers()
    row.strangers()
    return quiet(zone, windows), urgent


def _zone(value: object) -> str:
    try:
        check_zone(fields.text(value))
    except ValueError:
        raise Unfit("a time zone such as UTC or Europe/Berlin") from None
    return str(value)


def _window(value: object) -> Window:
    try:
        return window(fields.text(value))
    except ValueError:
        raise Unfit("a span of the day like 22:00-07:00, quoted") from None


def _wrong_below(row: Section, key: str) -> bool:
    return any(each.path[: len(row.path) + 1] == (*row.path, key) for each in row.problems)
