"""Event logs of a BMC: what was logged, when by its own clock, and what was over again later."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.parsers.redfish import Gathered, linked, rows_in, text_in

EPOCH_YEAR = 2001
"""A clock that shows an earlier year was not set when the entry was written."""

MOST_ENTRIES = 20_000
"""Entries of one log that are looked at, the newest: more than any BMC keeps."""

_RAW = re.compile(r"0x[0-9A-Fa-f]{6}", re.ASCII)
_NAMED = re.compile(r"\[[A-Z]{2,5}-[0-9]{4}\] ([^,]{1,60}), ", re.ASCII)
_POWERED = re.compile(r"AC Power on", re.ASCII)
_CLEARED = re.compile(r"Log Area Reset|[Ll]og (?:was )?[Cc]leared", re.ASCII)
_LASTING = re.compile(r"Power Supply|Power Unit|Fan|Temperature|Voltage|Current|Cooling|Drive", re.ASCII)
"""Types of sensors that show a state: a BMC that starts logs it anew. Others log what happened once."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. `at` is by the BMC's clock (epoch seconds), None where that was not set; `part` is what it is about.

    `same` is equal for what begins and what ends one event. `over` says that this entry, or a later one, ended it.
    """

    log: str
    number: str
    at: float | None
    severity: str
    kind: str
    part: str
    message: str
    same: tuple[str, ...]
    ends: bool
    over: bool


@dataclass(frozen=True, slots=True)
class Log:
    """One log. `now` is what its BMC's clock shows, `most` how many entries it holds; None where it does not say.

    `wraps` says that new entries take the place of old ones; `whole` that all entries were read, and not links alone.
    """

    name: str
    now: float | None
    most: int | None
    wraps: bool
    whole: bool
    entries: tuple[Entry, ...]


def logs(found: Gathered) -> tuple[Log, ...]:
    """Return every log of which entries were read; one without its service's resource has no clock and no size."""
    return tuple(
        _log(uri.removesuffix("/Entries"), body, found.bodies.get(uri.removesuffix("/Entries"), {}))
        for uri, body in found.of("LogEntryCollection").items()
    )


def moment(text: str) -> float | None:
    """Return a time in epoch seconds, of UTC where it does not say; None where it is none, or of a clock not set."""
    try:
        found = datetime.fromisoformat(text)
        stamp = (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return stamp if found.year >= EPOCH_YEAR else None


def _log(uri: str, body: Mapping[str, Any], service: Mapping[str, Any]) -> Log:
    name = uri.removeprefix("/redfish/v1/")
    rows = rows_in(body, "Members")
    listed = number(body.get("Members@odata.count"))
    most = number(service.get("MaxNumberOfRecords"))
    read = [_entry(name, row) for row in rows]
    # Clocks are set and jump; the numbers of entries only grow, where there are any.
    numbered = all(_order(each.number) for each in read)
    entries = sorted(read, key=lambda each: _order(each.number) if numbered else each.at or 0.0)
    return Log(
        name,
        now=moment(text_in(service, "DateTime")),
        most=int(most) if most is not None and most > 0 else None,
        wraps=text_in(service, "OverWritePolicy") == "WrapsWhenFull",
        whole=not body.get("Members@odata.nextLink")
        and (listed is None or listed <= len(rows))
        and all("Severity" in row for row in rows),
        entries=_ended(entries[-MOST_ENTRIES:]),
    )


def _order(number: str) -> int:
    return int(number) if number.isdecimal() and number.isascii() and len(number) < 12 else 0  # noqa: PLR2004  an Id's digits


def _ended(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Mark what is over: a later entry says so, or the BMC lost its power and would have logged it anew."""
    over: set[tuple[str, ...]] = set()
    powered = cleared = False
    marked: list[Entry] = []
    for each in reversed(entries):
        powered = powered or _POWERED.search(each.message) is not None
        cleared = cleared or _CLEARED.search(each.message) is not None
        shown = powered and _LASTING.search(each.kind) is not None
        gone = each.over or each.ends or cleared or shown or each.same in over
        if each.ends:
            over.add(each.same)
        marked.append(
            Entry(
                each.log, each.number, each.at, each.severity, each.kind, each.part, each.message, each.same,
                ends=each.ends, over=gone,
            )
        )  # fmt: skip
    return tuple(reversed(marked))


def _entry(log: str, row: Mapping[str, Any]) -> Entry:
    message = text_in(row, "Message")
    kind = text_in(row, "SensorType")
    raw = text_in(row, "MessageId")
    part = _part(row, message, kind)
    code = text_in(row, "EntryCode")
    # Of IPMI's three bytes of event data the first one's low half names the event, the others may hold a reading.
    event = raw[3].upper() if _RAW.fullmatch(raw) else raw or message
    same = (log, kind, str(row.get("SensorNumber"))[:12], part, event)
    return Entry(
        log,
        text_in(row, "Id"),
        moment(text_in(row, "Created") or text_in(row, "EventTimestamp")),
        text_in(row, "Severity"),
        kind,
        part,
        message,
        same,
        ends=code.startswith("Deassert") or "Deassertion event" in message,
        over=row.get("Resolved") is True,
    )


def _part(row: Mapping[str, Any], message: str, kind: str) -> str:
    """Return what an entry is about: a sensor's name, a resource's, or a sensor's number."""
    named = _NAMED.match(message)
    if named:
        return named[1].removesuffix(" Status")
    links = row.get("Links")
    origin = linked(links.get("OriginOfCondition")) if isinstance(links, dict) else ""
    if origin and "/Managers/" not in origin:
        return origin.rpartition("/")[2][:60]
    arguments = row.get("MessageArgs")
    first = arguments[0] if isinstance(arguments, list) and arguments else None
    if isinstance(first, str) and first:
        return first[:60]
    sensor = number(row.get("SensorNumber"))
    return f"{kind or 'sensor'} {sensor:.0f}"[:60] if sensor is not None else kind[:60] or "the server"
