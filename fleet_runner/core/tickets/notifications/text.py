"""A message in words: for programs, for a chat, as mail. What nodes say in it is text, whatever it looks like."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from fleet_runner.core.base.printable import printable
from fleet_runner.core.tickets.notifications.grouping import NAMED, Collected, Item
from fleet_runner.core.tickets.notifications.lines import RANK, NewsKind
from fleet_runner.core.tickets.trackers.inert import BREAK, cut, unlinked

TITLE, SENTENCE, BLOCK = 150, 300, 2800
"""Characters of a title, of a sentence, and of a block of a chat, which takes 3,000."""

WORDS: Mapping[NewsKind, tuple[str, str]] = {
    NewsKind.BREAKER: ("circuit breaker", "circuit breakers"),
    NewsKind.ALARM_RAISED: ("alarm", "alarms"),
    NewsKind.MOVED: ("move", "moves"),
    NewsKind.TICKET_OPENED: ("ticket opened", "tickets opened"),
    NewsKind.RUN_FAILED: ("run without success", "runs without success"),
    NewsKind.HELD: ("hold", "holds"),
    NewsKind.CONDITION: ("condition", "conditions"),
    NewsKind.TICKET_CLOSED: ("ticket closed", "tickets closed"),
    NewsKind.ALARM_CLEARED: ("alarm cleared", "alarms cleared"),
}
"""One of a kind, and several."""

_MENTION = re.compile(r"@(?=\w)")
_MARKUP = re.compile(r"([*_~`])")
_UNSAFE_NAME = re.compile(r"[^A-Za-z0-9_.~-]")


@dataclass(frozen=True, slots=True)
class Message:
    """What one message says. `key` names it for good; `web` is where pages are, "" where there are none.

    `away_at` is since when the channel could not be told, None where nothing waited for that.
    """

    key: str
    channel: str
    lines: Collected
    web: str = ""
    away_at: float | None = None
    urgent: bool = False


def title(message: Message) -> str:
    """Return the message in one line."""
    lines = message.lines
    if len(lines.items) == 1 and not lines.rest:
        (item,) = lines.items
        return cut(f"{_nodes(item)}: {_plain(item.sentence)}", TITLE)
    if not lines.total:
        return "a test of notifications"
    counted = [f"{many} {WORDS[what][many > 1]}" for what, many in sorted(lines.counts.items(), key=_rank)]
    return cut(", ".join(counted), TITLE)


def span(message: Message) -> str:
    """Return what is said above the items: how many lines there are, from when, and why they come late."""
    lines = message.lines
    if not lines.total:
        return "This channel works. Nothing happened: this is a test."
    if message.away_at is not None:
        return (
            f"{_lines(lines.total)} while this could not be delivered, since {_moment(message.away_at)}: "
            f"from {_moment(lines.first_at)} to {_moment(lines.last_at)}."
        )
    if lines.total == 1:
        return f"At {_moment(lines.first_at)}."
    return f"{_lines(lines.total)} from {_moment(lines.first_at)} to {_moment(lines.last_at)}."


def rest(message: Message) -> str:
    """Return the line that counts what is not shown; "" where all is."""
    return f"… and {message.lines.rest} more." if message.lines.rest else ""


def text(message: Message) -> str:
    """Return the message as plain text, as a mail has it."""
    told = [
        f"- {_moment(item.at)}  {_nodes(item)}: {_plain(item.sentence)}{_link(message, item)}"
        for item in _items(message)
    ]
    more = [rest(message)] if message.lines.rest else []
    where = [f"Pages: {message.web}/fleet"] if message.web else []
    return "\n".join(
        [span(message), "", *told, *more, *([""] if where else []), *where, "", f"Message {message.key}"]
    )


def document(message: Message) -> dict[str, Any]:
    """Return the message for a program: the sentences as they are, within bounds."""
    lines = message.lines
    return {
        "key": message.key,
        "channel": message.channel,
        "title": title(message),
        "summary": span(message),
        "urgent": message.urgent,
        "away_since": message.away_at,
        "total": lines.total,
        "rest": lines.rest,
        "counts": {what.value: many for what, many in sorted(lines.counts.items(), key=_rank)},
        "first_at": lines.first_at,
        "last_at": lines.last_at,
        "items": [
            {
                "what": item.what.value,
                "at": item.at,
                "nodes": [_plain(node) for node in item.nodes],
                "lines": item.lines,
                "sentence": _plain(item.sentence),
                "ticket": item.ticket or None,
                "url": url(message, item) or None,
            }
            for item in lines.items
        ],
    }


def chat(message: Message) -> dict[str, Any]:
    """Return the message as Slack and what is compatible takes it: `text` for those who show no blocks."""
    told = [f"• {_chat_item(message, item)}" for item in _items(message)]
    blocks = [_section(f"*{escaped(title(message))}*\n{escaped(span(message))}")]
    blocks += [_section(part) for part in _parts(told)]
    if message.lines.rest:
        blocks.append(_section(escaped(rest(message))))
    return {"text": escaped(f"{title(message)}. {span(message)}"), "blocks": blocks, "unfurl_links": False}


def escaped(words: str) -> str:
    """Return text as a chat shows it: no markup of ours, no mention of people, no address made a link."""
    plain = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKUP.sub(rf"\1{BREAK}", _MENTION.sub(f"@{BREAK}", plain))


def url(message: Message, item: Item) -> str:
    """Return the page of an item's ticket or node; "" where there are no pages, or it names no one."""
    if not message.web:
        return ""
    if item.ticket:
        return f"{message.web}/tickets/{item.ticket}"
    named = _UNSAFE_NAME.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), item.nodes[0]
    )
    return f"{message.web}/nodes/{named}"


def _chat_item(message: Message, item: Item) -> str:
    said = f"`{_moment(item.at)}` *{escaped(_nodes(item))}*: {escaped(_plain(item.sentence))}"
    link = url(message, item)
    return f"{said} <{link}|open>" if link else said


def _section(words: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": words}}


def _parts(told: list[str]) -> list[str]:
    """Join lines into as few blocks as they fit into."""
    parts: list[str] = []
    for each in told:
        if parts and len(parts[-1]) + len(each) < BLOCK:
            parts[-1] = f"{parts[-1]}\n{each}"
        else:
            parts.append(each)
    return parts


def _items(message: Message) -> list[Item]:
    return list(message.lines.items)


def _nodes(item: Item) -> str:
    names = ", ".join(cut(_plain(node), 80) for node in item.nodes)
    return f"{names} and {item.lines - NAMED} more" if item.lines > NAMED else names


def _link(message: Message, item: Item) -> str:
    link = url(message, item)
    return f"\n  {link}" if link else ""


def _plain(words: str) -> str:
    """Return one line of hostile text, cut, with nothing in it that moves a terminal or becomes a link."""
    return cut(unlinked(" ".join(printable(words).split())), SENTENCE)


def _lines(many: int) -> str:
    return f"{many} {'line' if many == 1 else 'lines'}"


def _rank(row: tuple[NewsKind, int]) -> int:
    return RANK[row[0]]


def _moment(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
