"""Event logs of BMCs as other tools print them and BMCs' pages export them, in the form in which Redfish tells them.

Read are `ipmitool sel list -v` and its commas (`-c`), FreeIPMI's `ipmi-sel`, Dell's `racadm getsel` and `lclog view`,
and tables of commas that have a severity, a time and a message, as iDRAC, iLO, Supermicro's and Lenovo's pages write
them.
"""

import csv
import html
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.ipmi_sel import HARMLESS, MOST, NUMBERED, URI

_BLOCK = re.compile(r"^[ \t]*(?:SEL Record ID[ \t]+:|Record:|SeqNumber[ \t]+=)[ \t]*(\w{1,10})[ \t]*$", re.MULTILINE)
_WORD = re.compile(
    r"^[ \t]*([A-Z][A-Za-z/ ]{2,24}?)[ \t]*[:=][ \t]+(\S[^\n]{0,400}?)[ \t]*$", re.MULTILINE | re.ASCII
)
_EVENT = re.compile(
    r"<Event\b(?P<words>[^>]{0,1000})>\s*<Message>(?P<message>[^<]{1,1000})</Message>"
    r"(?:\s*<MessageID>(?P<code>[^<]{0,40})</MessageID>)?(?:\s*<FQDD>(?P<part>[^<]{0,200})</FQDD>)?",
    re.ASCII,
)
"""An event of the lifecycle log that iDRAC exports as XML."""

_FREE = re.compile(
    r"^(?P<id>\d{1,6}) +\| (?P<day>[A-Z][a-z]{2}-\d\d-\d{4}) +\| (?P<clock>[\d:]{8}) +\| (?P<name>[^|\n]{1,80}?) +"
    r"\| (?P<type>[^|\n]{1,60}?) +\| (?P<event>[^|\n]{1,200}?)[ \t]*$",
    re.MULTILINE | re.ASCII,
)
_COMMAS = re.compile(
    r"^(?P<id>[0-9a-fA-F]{1,4}),(?P<day>\d\d/\d\d/\d{2,4}),(?P<clock>[\d:]{8}),(?P<name>[^,\n]{1,80}),"
    r"(?P<event>[^,\n]{1,200})(?:,(?P<way>Asserted|Deasserted)[^\n]{0,80})?[ \t]*$",
    re.MULTILINE | re.ASCII,
)
_TABLE = re.compile(
    r"^(?=[^\n]{0,400}\b(?:Severity|Sensor)\b)(?=[^\n]{0,400}\b(?:Description|Message)\b)(?=[^\n]{0,400}(?:Date|Time|Update|Created))"
    r"[^\n]{0,40}[,;\t][^\n]{0,400}$",
    re.MULTILINE | re.ASCII | re.IGNORECASE,
)
_TITLES = {
    "id": ("id", "event id", "index", "record id", "no.", "#", "record", "seq"),
    "severity": ("severity",),
    "at": ("date/time", "timestamp", "date", "last update", "time", "created", "date and time", "time stamp"),
    "message": ("description", "message"),
    "kind": ("sensor type", "sensor", "class", "source", "category", "sensor name"),
    "code": ("message id", "common id", "event code"),
}
"""What the columns that are read may be called, the likeliest first."""

_WORDS = re.compile(r"(\w{1,40})=\"([^\"]{0,200})\"", re.ASCII)

_SEVERAL = frozenset({"host", "hostname", "node", "server", "instance", "device"})
"""Titles of tables of several machines, which are no BMC's own."""

_SEVERITIES = {
    **dict.fromkeys(("critical", "error", "fatal", "non-recoverable", "emergency", "major"), "Critical"),
    **dict.fromkeys(("warning", "non-critical", "noncritical", "caution", "degraded", "minor"), "Warning"),
}
_TIMES = (
    *(
        "%m/%d/%Y %H:%M:%S",
        "%m/%d/%Y %I:%M:%S %p",
        "%m/%d/%Y, %I:%M:%S %p",
        "%m/%d/%Y %H:%M",
        "%m/%d/%y %H:%M:%S",
        "%Y/%m/%d %H:%M:%S",
    ),
    *("%a %b %d %Y %H:%M:%S", "%a %b %d %H:%M:%S %Y", "%b-%d-%Y %H:%M:%S", "%b %d, %Y %I:%M:%S %p"),
)


class _Told(NamedTuple):
    """One entry; `severity` is "" where the form tells none."""

    number: str
    at: str
    severity: str
    kind: str
    message: str
    ends: bool = False


def begins(text: str) -> bool:
    """Whether a text has entries of one of these forms."""
    return any(form.search(text) for form in (_BLOCK, _FREE, _COMMAS, _EVENT, _TABLE))


def entries(text: str) -> dict[str, Any]:
    """Return the log as a Redfish collection with its entries; EvidenceError for a text without one."""
    found = [_entry(each) for read in (_blocks, _lines, _events, _rows) for each in read(text) if each.message][:MOST]
    if not found:
        raise EvidenceError("the BMC's event log has no entry with a message; export it again")
    return {URI: {"@odata.type": "#LogEntryCollection.LogEntryCollection", "Members": found}}


def _entry(told: _Told) -> dict[str, Any]:
    quiet = HARMLESS.search(told.message) is not None and "uncorrect" not in told.message.lower()
    severity = _SEVERITIES.get(told.severity.lower(), "OK") if told.severity else "OK" if quiet else "Warning"
    kind = NUMBERED.sub("", told.kind)
    return {
        "Id": told.number.lower(),
        "Created": _created(told.at),
        "Severity": severity,
        "EntryCode": "Deassert" if told.ends else "Assert",
        "SensorType": kind,
        "MessageId": told.message.removesuffix(" - Deasserted").removesuffix(" - Asserted"),
        "Message": f"{told.message} (Deassertion event)" if told.ends else told.message,
        "MessageArgs": [told.kind] if told.kind else [],
    }


def _blocks(text: str) -> Iterator[_Told]:
    """Yield entries of which each word has a line of its own."""
    _, *pieces = _BLOCK.split(text)
    for number, below in zip(pieces[::2], pieces[1::2], strict=True):
        words: dict[str, str] = {}
        for key, value in _WORD.findall(below):
            words.setdefault(key.lower(), value)
        message = words.get("message") or words.get("description", "")
        code = words.get("message id", "")
        yield _Told(
            number,
            words.get("timestamp") or words.get("date/time", ""),
            words.get("severity", ""),
            words.get("sensor type", ""),
            f"{code} {message}".strip() if message else "",
            words.get("event direction", "").startswith("Deassert"),
        )


def _lines(text: str) -> Iterator[_Told]:
    """Yield entries of ipmi-sel, and of ipmitool with commas."""
    for each in _FREE.finditer(text):
        number, day, clock, name, kind, event = each.groups()
        yield _Told(number, f"{day} {clock}", "", f"{kind} {name}", event)
    for each in _COMMAS.finditer(text):
        number, day, clock, name, event, way = each.groups()
        yield _Told(number, f"{day} {clock}", "", name, event, way == "Deasserted")


def _events(text: str) -> Iterator[_Told]:
    """Yield the events of a lifecycle log in XML, the oldest first."""
    found = [(dict(_WORDS.findall(each["words"])), each) for each in _EVENT.finditer(text)]
    for words, each in sorted(found, key=lambda event: int(event[0].get("Sequence", "0"))):
        message = html.unescape(f"{each['code'] or ''} {each['message']}".strip())
        number, at, severity = (words.get(name, "") for name in ("Sequence", "Timestamp", "Severity"))
        yield _Told(number, at, severity or "unknown", each["part"] or "", message)


def _rows(text: str) -> Iterator[_Told]:
    """Yield the rows of a table whose titles have a severity, a time and a message."""
    begun = _TABLE.search(text)
    if begun is None:
        return
    mark = max(",;\t", key=begun[0].count)
    try:
        first, *rows = csv.reader(text[begun.start() :].splitlines(), delimiter=mark)
    except csv.Error:
        return
    if _SEVERAL.intersection(title.strip().lower() for title in first):
        return
    titles = {title.strip().lower(): at for at, title in reversed(list(enumerate(first)))}
    columns = {name: next((titles[each] for each in words if each in titles), -1) for name, words in _TITLES.items()}
    told = [
        {name: row[at].strip() if at >= 0 else "" for name, at in columns.items()}
        for row in rows
        if len(row) >= len(first)
    ]
    times = [at for cells in told if (at := _created(cells["at"]))]
    if times and times[0] > times[-1]:  # pages show the newest first
        told.reverse()
    for line, cells in enumerate(told, start=1):
        yield _told(cells, str(line), "" if columns["severity"] < 0 else "unknown")


def _told(cells: Mapping[str, str], line: str, untold: str) -> _Told:
    message = cells["message"]
    ends = message.endswith("Deasserted")
    words = f"{cells['code']} {message}".strip() if message else ""
    number = cells["id"] if re.fullmatch(r"\w{1,10}", cells["id"], re.ASCII) else line
    return _Told(number, cells["at"], cells["severity"] or untold, cells["kind"], words, ends)


def _created(at: str) -> str:
    """Return an ISO time, "" for one that cannot be read."""
    for form in _TIMES:
        try:
            return datetime.strptime(at, form).replace(tzinfo=UTC).isoformat()
        except ValueError:
            continue
    try:
        told = datetime.fromisoformat(at)
    except ValueError:
        return ""
    return (told if told.tzinfo is not None else told.replace(tzinfo=UTC)).isoformat()
