"""A message in words: hostile text stays text, everywhere."""

import json
from email.policy import SMTP

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.tickets.notifications.grouping import Collected, collect
from fleet_runner.core.tickets.notifications.lines import Line, NewsKind
from fleet_runner.core.tickets.notifications.text import (
    BLOCK,
    SENTENCE,
    TITLE,
    Message,
    chat,
    document,
    escaped,
    text,
    title,
    url,
)

HOSTILE = "<!here> <@U1> <https://evil.example|click> @channel *bold* \u202e\x1b[31m https://evil.example\r\nBcc: x"
LINE = Line(5, 1_795_000_000.0, NewsKind.TICKET_OPENED, "gpu/01 ", "Ticket 12: worn out", ticket=12)


def of(*lines: Line, **more: object) -> Message:
    """A message of these lines."""
    return Message("key.1-5", "ops", collect(Collected(), lines), **more)  # type: ignore[arg-type]  # passed through


def test_one_line_is_its_own_title_and_many_are_counted() -> None:
    """The most pressing first."""
    assert title(of(LINE)) == "gpu/01: Ticket 12: worn out"
    moved = Line(6, LINE.at + 60, NewsKind.MOVED, "gpu-02", "It moved.")
    closed = [Line(7 + at, LINE.at, NewsKind.TICKET_CLOSED, "gpu-02", f"{at}") for at in range(2)]
    message = of(LINE, moved, *closed)
    assert title(message) == "1 move, 1 ticket opened, 2 tickets closed"
    assert "4 lines from 2026-11-18 11:06 UTC to 2026-11-18 11:07 UTC." in text(message)
    assert "Message key.1-5" in text(message)


def test_what_waited_for_the_channel_says_so() -> None:
    """With how many lines, and since when."""
    lines = [Line(at, LINE.at + at, NewsKind.MOVED, "gpu-02", f"moved {at}") for at in range(412)]
    message = of(*lines, away_at=LINE.at)
    assert "412 lines while this could not be delivered, since 2026-11-18 11:06 UTC" in text(message)
    assert "… and 392 more." in text(message)
    assert document(message)["away_since"] == LINE.at
    assert "… and 392 more." in chat(message)["blocks"][-1]["text"]["text"]


def test_many_nodes_of_one_sentence_are_named_up_to_eight() -> None:
    """The others are counted."""
    lines = [Line(at, LINE.at, NewsKind.MOVED, f"gpu-{at:02}", "All at once.") for at in range(10)]
    message = of(*lines)
    assert title(message).startswith("gpu-00, gpu-01,")
    assert "gpu-07 and 2 more: All at once." in title(message)


def test_links_lead_to_pages_where_there_are_any() -> None:
    """To the ticket, or to the node with its name as an address takes it."""
    node = Line(6, LINE.at, NewsKind.MOVED, "gpu/01 ü", "It moved.")
    message = of(LINE, node, web="https://fleet.example")
    (moved, ticket) = message.lines.items
    assert url(message, ticket) == "https://fleet.example/tickets/12"
    assert url(message, moved) == "https://fleet.example/nodes/gpu%2F01%20%C3%BC"
    assert "https://fleet.example/fleet" in text(message)
    assert "<https://fleet.example/tickets/12|open>" in json.dumps(chat(message))
    assert url(of(LINE), ticket) == ""
    assert document(of(LINE))["items"][0]["url"] is None


def test_a_test_says_that_it_is_one() -> None:
    """Nothing happened."""
    assert title(of()) == "a test of notifications"
    assert "This channel works." in text(of())
    assert chat(of())["blocks"]


def test_nothing_that_a_node_says_is_markup_mention_or_link() -> None:
    """In a chat, in a mail, anywhere."""
    message = of(Line(5, LINE.at, NewsKind.ALARM_RAISED, "<!channel>", HOSTILE), web="https://fleet.example")
    said = json.dumps(chat(message), ensure_ascii=False)
    for bad in ("<!", "<@", "@channel", "https://evil", "\u202e", "\x1b", "*bold*"):
        assert bad not in said
    plain = text(message)
    assert "https://evil" not in plain
    assert "\nBcc" not in plain
    assert "\r" not in title(message) + plain


@given(st.lists(st.text(max_size=600), min_size=1, max_size=30), st.text(min_size=1, max_size=300))
def test_whatever_is_said_a_message_stays_within_bounds(sentences: list[str], node: str) -> None:
    """One line a title, blocks that a chat takes, and text that can be written."""
    lines = [Line(at, LINE.at, NewsKind.ALARM_RAISED, node, said) for at, said in enumerate(sentences)]
    message = of(*lines, web="https://fleet.example")
    assert len(title(message)) <= TITLE
    assert "\n" not in title(message)
    for block in chat(message)["blocks"]:
        assert len(block["text"]["text"]) <= BLOCK + 2 * SENTENCE
    SMTP.header_store_parse("Subject", title(message))
    text(message).encode()
    json.dumps(document(message)).encode()


def test_ampersands_and_angles_are_escaped_once() -> None:
    """As Slack asks for it."""
    assert escaped("a & b < c > d @x") == "a &amp; b &lt; c &gt; d @\u200bx"
