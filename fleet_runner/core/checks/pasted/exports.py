"""Logs as stores of logs give them out: Loki, Splunk, Elastic and Kibana, cloud consoles, as JSON, JSON lines or CSV.

Each entry's line is taken out, in the order in which it was written: most stores give the newest first. A line that
does not say itself which node wrote it, and when, gets what the entry says.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from fleet_runner.core.checks.pasted import lines
from fleet_runner.core.checks.pasted.kernel import WORDS

_LINE = ("_raw", "line", "message", "textPayload")
_TIME = ("@timestamp", "timestamp", "_time", "time", "ts", "date", "tsNs")
_HOST = ("host", "hostname", "node", "node_name", "nodename", "instance")
_INSIDE = ("labels", "stream", "fields", "agent", "beat", "jsonPayload", "kubernetes", "resource")
_WHO = ("appname", "syslog_identifier", "identifier", "program", "ident", "SYSLOG_IDENTIFIER")
_BESIDE = frozenset({*_TIME, *_HOST, "labels", "stream", "ingestionTime", "fields", "_source"})
_DEEPEST = 8
_DIGITS = {10: 1.0, 13: 1e3, 16: 1e6, 19: 1e9}
"""How many of its parts a second has, by the digits of a time since 1970."""

_LATEST = 253_402_300_800.0
"""The first second of the year 10000, which no clock has."""

_JSON = re.compile(r"[\ufeff\s]*(?:\{|\[\s*[{\[])")
_TITLES = re.compile(r"\A\ufeff?(?P<titles>[^\n{\[]{4,2000})\n", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,254}", re.ASCII)


class _Entry(NamedTuple):
    """What a store says of a line: when it was written (seconds, None where untold), by which node and program."""

    at: float | None
    host: str
    who: str
    line: str


def told(text: str) -> str | None:
    """Return the lines of a log that a store gave out; None for any other text."""
    found = [*(_documents(text) if _JSON.match(text) else _rows(text))]
    if not found:
        return None
    times = [each.at for each in found if each.at is not None]
    if len(times) == len(found) and times[0] > times[-1]:
        found.reverse()
    return "".join(map(_written, found))


def _written(entry: _Entry) -> str:
    """Return a line with its end, behind its time and its node unless it names them itself."""
    line = entry.line.strip("\r\n")
    mine = lines.read(line)
    if mine.host or not (mine.who or entry.who or any(word in line for word in WORDS)):
        return f"{line}\n"
    at = f"{datetime.fromtimestamp(entry.at, UTC):%Y-%m-%dT%H:%M:%S+00:00} " if entry.at is not None else ""
    kernel = entry.who.lower() in {"", "kernel"}
    who = f"{entry.host or 'localhost'} {'kernel' if kernel else f'{entry.who}[0]'}: " if at and entry.host else ""
    return f"{at}{who}{line}\n"


def _documents(text: str) -> Iterator[_Entry]:
    """Yield the entries of a JSON text, or of one on each line."""
    try:
        values = [json.loads(text)]
    except (ValueError, RecursionError):
        values = []
        for line in text.split("\n"):
            try:
                values.append(json.loads(line) if line.lstrip()[:1] in {"{", "["} else None)
            except (ValueError, RecursionError):
                continue
    for value in values:
        yield from _entries(value, _DEEPEST)


def _entries(value: Any, deep: int) -> Iterator[_Entry]:
    if isinstance(value, list) and deep:
        for each in value:
            yield from _entries(each, deep - 1)
    elif isinstance(value, dict) and deep:
        line = next((value[key] for key in _LINE if isinstance(value.get(key), str)), None)
        payload = value.get("jsonPayload")
        if line is None and isinstance(payload, dict) and isinstance(payload.get("message"), str):
            line = payload["message"]
        if line is not None and not isinstance(value.get("log"), str) and _BESIDE & value.keys():
            yield _entry(value, line)
        elif isinstance(value.get("stream"), dict) and isinstance(value.get("values"), list):
            for each in value["values"]:
                if isinstance(each, list) and len(each) > 1 and isinstance(each[1], str):
                    yield _entry({"stream": value["stream"], "timestamp": each[0]}, each[1])
        else:
            for each in value.values():
                yield from _entries(each, deep - 1)


def _rows(text: str) -> Iterator[_Entry]:
    """Yield the rows of a table whose titles have a line and a time; an event log of one BMC has a severity, too."""
    begun = _TITLES.match(text)
    if begun is None:
        return
    mark = max(",;\t", key=begun["titles"].count)
    rows = csv.reader(text.splitlines(keepends=True), delimiter=mark)
    try:
        names = {name.strip().lower(): name.strip() for name in next(rows)}
        titles = [name.removesuffix(".name").removesuffix(".hostname") for name in names]
        line = next((name.lower() for name in _LINE if name.lower() in titles), None)
        timed = any(name.lower() in titles for name in _TIME)
        if line is None or not timed or ("severity" in titles and not set(_HOST).intersection(titles)):
            return
        for row in rows:
            cells = dict(zip(titles, row, strict=False))
            if cells.get(line):
                yield _entry({**cells, "labels": _labels(cells.get("labels", ""))}, cells[line])
    except csv.Error:
        return


def _labels(cell: str) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return None


def _entry(record: Mapping[str, Any], line: str) -> _Entry:
    inside = [record, *(each for key in _INSIDE if isinstance(each := record.get(key), dict))]
    inside += [each for each in (_syslog(record.get("log")),) if each]
    who = next((name for each in inside for key in _WHO if (name := _name(each.get(key)))), "")
    host = next((name for each in inside for key in _HOST if (name := _host(each.get(key)))), "")
    at = next((at for key in _TIME if (at := _at(record.get(key) or record.get(key.lower()))) is not None), None)
    return _Entry(at, host, who, line)


def _syslog(log: Any) -> dict[str, Any]:
    """Return what Elastic's schema keeps of syslog's header."""
    found = log.get("syslog") if isinstance(log, dict) else None
    return found if isinstance(found, dict) else {}


def _host(value: Any) -> str:
    if isinstance(value, dict):
        return _host(value.get("name")) or _host(value.get("hostname"))
    return _name(value.partition(":")[0]) if isinstance(value, str) else ""


def _name(value: Any) -> str:
    return value if isinstance(value, str) and _NAME.fullmatch(value) else ""


def _at(value: Any) -> float | None:
    """Return seconds since 1970; None for what is no time."""
    said = str(value).strip() if isinstance(value, str | int | float) else ""
    digits = said.partition(".")[0]
    try:
        if digits.isdecimal() and len(digits) in _DIGITS:
            at = float(said) / _DIGITS[len(digits)]
        else:
            found = _moment(said)
            at = (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return at if 0 <= at < _LATEST else None


def _moment(said: str) -> datetime:
    try:
        return datetime.fromisoformat(said)
    except ValueError:
        return datetime.strptime(said, "%b %d, %Y @ %H:%M:%S.%f").replace(tzinfo=UTC)
