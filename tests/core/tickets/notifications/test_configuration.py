"""The list of channels: read, or refused with everything that is wrong."""

from typing import Any

import pytest

from fleet_runner.core.base.named_list import ListError
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.tickets.notifications.channel import ChannelKind, Filters, Post, Tls
from fleet_runner.core.tickets.notifications.configuration import MOST, read
from fleet_runner.core.tickets.notifications.lines import NewsKind

SLACK: dict[str, Any] = {"name": "ops", "kind": "slack", "url_file": "ops.url"}
HOOK: dict[str, Any] = {"name": "hook", "kind": "webhook", "url": "https://hooks.example/x"}
MAIL: dict[str, Any] = {
    "name": "post", "kind": "mail", "host": "mail.example", "from": "fleet@example.org", "to": ["ops@example.org"],
}  # fmt: skip


def wrong(*rows: Any) -> list[str]:
    """Where a list of channels is wrong, with what was expected."""
    with pytest.raises(ListError) as raised:
        read({"channels": list(rows)})
    assert str(raised.value)
    return [f"{'.'.join(map(str, each.path))}: {each.expected}" for each in raised.value.problems]


def test_nothing_configured_notifies_nobody() -> None:
    """As without a file."""
    assert read(None) == read({}) == read({"channels": []}) == ()


def test_each_kind_is_read_with_its_defaults() -> None:
    """All kinds of news, a minute together, the breaker at any hour."""
    slack, hook, mail = read(
        {"channels": [SLACK, HOOK | {"token_file": "t", "secret_file": "s", "ca_file": "c"}, MAIL]}
    )
    assert (slack.kind, slack.url_file, slack.filters) == (ChannelKind.SLACK, "ops.url", Filters())
    assert (slack.quiet, slack.group_seconds, slack.most_per_hour) == (None, 60.0, 30)
    assert (hook.url, hook.token_file, hook.secret_file, hook.ca_file) == ("https://hooks.example/x", "t", "s", "c")
    assert mail.post == Post("mail.example", 587, Tls.STARTTLS, "fleet@example.org", ("ops@example.org",))


def test_filters_and_quiet_hours_are_read() -> None:
    """What may break them, too."""
    hours = {"timezone": "Europe/Berlin", "every": ["22:00-07:00"], "sun": ["00:00-24:00"]}
    more = {
        "what": ["moved", "breaker"], "sites": ["hall-1"], "device_types": ["hgx"], "tenants": ["Acme"],
        "states": ["triage"], "remedies": ["RMA"], "group_seconds": 0, "most_per_hour": 5,
        "quiet_hours": hours | {"urgent": {"what": ["moved"], "states": ["firmware_failed"]}},
    }  # fmt: skip
    (found,) = read({"channels": [SLACK | more]})
    assert found.filters == Filters(
        frozenset({NewsKind.MOVED, NewsKind.BREAKER}), frozenset({"hall-1"}), frozenset({"hgx"}), frozenset({"Acme"}),
        frozenset({State.TRIAGE}), frozenset({Remedy.RMA}),
    )  # fmt: skip
    assert found.urgent == Filters(frozenset({NewsKind.MOVED}), states=frozenset({State.FIRMWARE_FAILED}))
    assert found.quiet is not None
    assert [len(day) for day in found.quiet.days] == [1] * 6 + [2]
    (found,) = read({"channels": [SLACK | {"quiet_hours": hours}]})
    assert found.urgent == Filters(frozenset({NewsKind.BREAKER}))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ([], "channels.0: a mapping"),
        ({"name": "x"}, "channels.0.kind: it to be given"),
        (SLACK | {"name": "Not good"}, "channels.0.name: a name in small letters, digits and dashes"),
        ({"name": "x", "kind": "slack"}, "channels.0.url_file: it to be given"),
        (SLACK | {"url": "https://hooks.slack.com/x"}, "channels.0.url: url_file, a file of mode 0600"),
        (HOOK | {"url_file": "f"}, "channels.0: one of the two"),
        ({"name": "x", "kind": "webhook"}, "channels.0: one of the two"),
        (HOOK | {"url": "http://far.example/"}, "channels.0.url: an address like https"),
        (HOOK | {"token": "t"}, "channels.0.token: 'token_file'"),
        (MAIL | {"tls": "none"}, "channels.0.tls: starttls or tls"),
        (MAIL | {"user": "bot"}, "channels.0: both, or neither"),
        (MAIL | {"to": []}, "channels.0.to: a list of at least one"),
        ({k: v for k, v in MAIL.items() if k != "to"}, "channels.0.to: at least one"),
        (MAIL | {"to": ["a@b\nBcc: c@d"]}, "channels.0.to.0: an address like fleet@example.org"),
        (SLACK | {"states": ["broken"]}, "channels.0.states.0: one of registered"),
        (
            SLACK | {"quiet_hours": {"timezone": "Mars", "every": ["22:00-07:00"]}},
            "channels.0.quiet_hours.timezone: a",
        ),
        (
            SLACK | {"quiet_hours": {"timezone": "UTC", "mon": ["22-7"]}},
            "channels.0.quiet_hours.mon.0: a span of the",
        ),
        (SLACK | {"quiet_hours": {"timezone": "UTC"}}, "channels.0.quiet_hours: one like every"),
        (
            SLACK | {"quiet_hours": {"timezone": "UTC", "monday": ["22:00-07:00"]}},
            "channels.0.quiet_hours.monday: 'mon'",
        ),
        (
            SLACK | {"quiet_hours": {"timezone": "UTC", "mon": ["22:00-07:00"], "urgent": {"wat": []}}},
            "channels.0.quiet_hours.urgent.wat: 'what'",
        ),
        (SLACK | {"most_per_hour": 0}, "channels.0.most_per_hour: a whole number"),
    ],
)
def test_each_slip_is_named(row: Any, said: str) -> None:
    """With where it is and what was expected."""
    assert any(each.startswith(said) for each in wrong(row)), wrong(row)


def test_names_are_there_once_and_channels_are_bounded() -> None:
    """A name is what the store remembers a channel by."""
    assert wrong(SLACK, SLACK) == ["channels.1.name: each name only once"]
    assert wrong(*[SLACK | {"name": f"c{at}"} for at in range(MOST + 1)]) == [f"channels: at most {MOST}"]
    with pytest.raises(ListError, match="expected a mapping"):
        read([SLACK])


def test_a_mail_server_of_this_machine_needs_no_tls() -> None:
    """Nothing leaves it."""
    (found,) = read({"channels": [MAIL | {"host": "127.0.0.1", "tls": "none"}]})
    assert found.post is not None
    assert (found.post.tls, found.post.port) == (Tls.NONE, 25)
