"""One line of a log: which node wrote it, and what of it a kernel's parser reads."""

import json
import re
from datetime import UTC, datetime
from typing import Any, NamedTuple

from fleet_runner.core.checks.pasted.cleaning import clean

LONGEST = 4000
"""Characters of a line that are looked at."""

_SYSLOG = r"[A-Z]\S{1,5} {1,2}\d{1,2} \d\d:\d\d:\d\d(?:\.\d{1,9})?"
_ISO = r"\d{4}-\d\d-\d\dT[0-9:.+Z-]{8,30}"
_OTHERS = r"[A-Z][a-z]{2} \d{4}-\d\d-\d\d [0-9:.]{8,18} [A-Z0-9+-]{1,6}|\d{9,11}\.\d{6}|\[ {0,12}\d{1,10}\.\d{6}\]"
_HOST = re.compile(
    rf"(?:<\d{{1,3}}>)?(?:1 )?(?:{_SYSLOG}|{_ISO}|{_OTHERS}) (?P<host>[\w.-]{{1,255}}) "
    r"(?:\w{1,8}\.\w{1,8} )?(?:(?P<kernel>kernel)(?::| - - [-\[])|(?P<who>[A-Za-z][\w.@/-]{0,63})\[\d{1,10}\]:)",
    re.ASCII,
)
_GATHERED = re.compile(
    r"(?P<host>[A-Za-z][\w.-]{0,254}): (?=\[ {0,12}\d{1,10}\.\d{6}\] |\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d "
    rf"|{_ISO} |{_SYSLOG} |\d{{4}}-\d\d-\d\dT[\d:,+-]{{20,32}} )",
    re.ASCII,
)
"""How pdsh and clush begin a line: with the node that printed it."""

_RING = re.compile(
    r"(?:<\d{1,3}>)?(?:\w{2,8}\s{0,4}:\s?\w{2,8}\s{0,4}: )?(?:\[ {0,12}\d{1,10}\.\d{6}\](?: |\[|$)"
    r"|\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\] "
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{6}[+-]\d\d:\d\d )",
    re.ASCII,
)
"""How dmesg begins a line, and the kernel's ring buffer."""


_CONTAINER = re.compile(
    r"\[(?:pod|container)/[^\]\s]{1,300}\] (?:\d{4}-\d\d-\d\dT[0-9:.+Z-]{8,36} )?"
    r"|\d{4}-\d\d-\d\dT[0-9:.+Z-]{8,36} (?:stdout|stderr) [FP] "
    r"|\d{4}-\d\d-\d\dT[0-9:.+Z-]{8,36} \{(?:\w{1,60}=\"[^\"\n]{0,200}\"(?:, )?){1,40}\} "
    r"|[a-z][\w.-]{0,100}-\d{1,4} {1,40}\| ",
    re.ASCII,
)
"""What kubectl logs --prefix, container runtimes, logcli and docker compose put before a line."""


class Line(NamedTuple):
    """A line without what others put around it. `who` is "kernel", a daemon's name, or "" where nobody is named."""

    host: str
    who: str
    text: str


def read(raw: str) -> Line:
    """Return a line of any log; the host is "" where it names none."""
    text = clean(raw[:LONGEST]).lstrip()
    if found := _CONTAINER.match(text):
        text = text[found.end() :]
    if text.startswith("{"):
        return _json(text)
    host = ""
    if found := _GATHERED.match(text):
        host, text = found["host"], text[found.end() :]
    if found := _HOST.match(text):
        return Line(host or found["host"], found["kernel"] or found["who"], text)
    return Line(host, "kernel" if _RING.match(text) else "", text)


def _json(text: str) -> Line:
    """Return the line that an entry of a journal, or of a container's log, stands for."""
    try:
        entry: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError):
        return Line("", "", "")
    if isinstance(entry.get("MESSAGE"), str):
        return _journal(entry)
    told = entry.get("log")
    if not isinstance(told, str) or told.lstrip().startswith("{"):
        return Line("", "", "")
    node = entry.get("kubernetes")
    line = read(told)
    return line._replace(host=line.host or (_word(node, "host") if isinstance(node, dict) else ""))


def _journal(entry: dict[str, Any]) -> Line:
    """Return an entry of `journalctl -o json`; a process' word is not the kernel's."""
    host, kernel = _word(entry, "_HOSTNAME"), entry.get("_TRANSPORT") == "kernel"
    who = "kernel" if kernel else _word(entry, "_COMM") or _word(entry, "SYSLOG_IDENTIFIER") or "process"
    message = entry["MESSAGE"].replace("\n", " ")
    mark = "kernel" if kernel else f"{who}[{_word(entry, '_PID') or 0}]"
    return Line(
        host, who, f"{_at(entry.get('__REALTIME_TIMESTAMP'))}{host or 'localhost'} {mark}: {message}"[:LONGEST]
    )


def _word(entry: dict[str, Any], name: str) -> str:
    value = entry.get(name)
    return re.sub(r"[^\w.@-]", "_", value)[:255] if isinstance(value, str) else ""


def _at(told: object) -> str:
    """Return the journal's microseconds as a time with its zone, "" for what is none."""
    try:
        return f"{datetime.fromtimestamp(int(str(told)) / 1e6, UTC):%Y-%m-%dT%H:%M:%S+00:00} "
    except (ValueError, OverflowError, OSError):
        return ""
