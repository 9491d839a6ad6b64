"""Kernel lines as log shippers send them in JSON: an object a line, a list of objects, or one object.

Which fields are understood is one table; Vector, Fluent Bit, and journald's export have their rows.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.kernel_lines import bare
from fleet_runner.core.faults.signals.clock import moment
from fleet_runner.core.faults.signals.kernel import LONGEST, MOST_LINES, Line

TEXT = ("MESSAGE", "message", "msg", "log")
"""Fields that hold the line: journald, Vector, Fluent Bit's kmsg and tail."""

HOST = ("_HOSTNAME", "host", "hostname", "_hostname", "host.name", "nodename", "node")
"""Fields that name the host; an object in one of them is Elastic's way of writing `host.name`."""

TIME = ("_SOURCE_REALTIME_TIMESTAMP", "__REALTIME_TIMESTAMP", "timestamp", "@timestamp", "time", "date")
"""Fields that hold the time, in ISO 8601 or since the epoch in any usual unit."""

SPEAKER = ("_TRANSPORT", "SYSLOG_IDENTIFIER", "appname", "ident")
"""Fields that say who spoke; the first that is there decides. journald's own word comes first: nobody forges it."""

KERNEL = frozenset({"kernel", "kmsg"})
"""What they say when it was the kernel. A line that names no speaker may be any program's, and is nobody's."""

KMSG = frozenset({"msg", "sequence", "priority"})
"""Fields that only Fluent Bit's reader of the kernel's own device writes, which names no speaker."""

_LIST = "["


def read(text: str, host: str, heard: float) -> tuple[list[Line], int]:
    """Return the kernel's lines, and how many lines are no objects that were understood.

    `host` is whose they are where they do not say. EvidenceError where nothing is understood, or there is too much.
    """
    found: list[Line] = []
    bad = total = 0
    for row in _rows(text):
        total += 1
        if total > MOST_LINES:
            raise EvidenceError(f"more than {MOST_LINES} lines in one push; send fewer at a time")
        line = _line(row, host, heard) if isinstance(row, dict) else None
        if line is None:
            bad += 1
        elif _kernels(row):
            found.append(line)
    if bad == total:
        raise EvidenceError(
            f"none of {total} JSON lines has a text in {', '.join(TEXT)} and a host in {', '.join(HOST)};"
            " look at what the log shipper sends"
        )
    return found, bad


def _rows(text: str) -> Iterator[Any]:
    """Yield what each line is, None for one that is no JSON; of a list, or of one object over lines, its parts."""
    begun = text.lstrip("\ufeff \t\r\n")
    if begun.startswith(_LIST):
        whole = _parsed(begun)
        yield from whole if isinstance(whole, list) else (None,)
        return
    rows = [line for line in begun.split("\n") if not line.isspace() and line]
    whole = _parsed(begun) if len(rows) > 1 and _parsed(rows[0]) is None else None
    yield from (_parsed(line) for line in rows) if whole is None else (whole,)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _line(row: Mapping[str, Any], host: str, heard: float) -> Line | None:
    text = next((row[name] for name in TEXT if isinstance(row.get(name), str)), None)
    who = next((said for name in HOST if (said := _host(row.get(name)))), host)
    if text is None or not who:
        return None
    told = next((row[name] for name in TIME if row.get(name) is not None), "")
    stamp, message = bare(text[:LONGEST].replace("\n", " "))
    at = moment(told, heard)
    return Line(who, message, at if at is not None else moment(stamp, heard), f"{told}"[:40] or stamp)


def _host(said: Any) -> str:
    named = said.get("name") if isinstance(said, dict) else said
    return named.strip()[:255] if isinstance(named, str) else ""


def _kernels(row: Mapping[str, Any]) -> bool:
    speaker = next((row[name] for name in SPEAKER if isinstance(row.get(name), str)), None)
    return speaker in KERNEL or (speaker is None and row.keys() >= KMSG)
