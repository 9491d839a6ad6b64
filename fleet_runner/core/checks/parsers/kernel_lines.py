"""What stands before a message of the kernel, whoever wrote the log down.

Known are the forms of dmesg, /dev/kmsg, journalctl, syslog (both of its standards) and Talos, with colours and with
the kernel's own mark of who spoke (CONFIG_PRINTK_CALLER). Nothing else may stand there: a message that follows any
other word is quoted by that word's owner.
"""

import re

_STAMP = r"\[(?:\s{0,12}[+\d]|[A-Z][a-z]{2} )[^\]\n]{0,40}\]"
_LEVEL = (
    r"(?:kern|user|daemon|auth|syslog)\s{0,4}:\s{0,8}"
    r"(?:emerg|alert|crit|err|error|warn|warning|notice|info|debug)\s{0,4}: "
)

_DATA = r" - - (?:-|(?:\[[^\]\n]{0,200}\]){1,4}) "
"""What RFC 5424 has between the kernel's name and its message: no process, no kind, and data in brackets."""

PREFIX = (
    r"^(?:<\d{1,3}>)?(?:1 )?(?:\d{1,4},\d{1,20},\d{1,20},[^;\n]{0,80};)?"
    r"(?:[0-9A-Fa-f.:]{2,45}: (?=kern: ))?(?:" + _LEVEL + r")?"
    r"(?P<at>\d{4}-\d\d-\d\dT[0-9:.,+Z-]{8,24}|\d{9,11}\.\d{6}"
    r"|[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})? [A-Z0-9+-]{1,6}"
    r"|\S{2,6} {1,2}\d{1,2} \d\d:\d\d:\d\d(?:\.\d{1,9})?)?\s{0,4}"
    r"(?P<stamp>" + _STAMP + r":?)?\s{0,4}"
    r"(?:(?:[\w.:-]{1,255}\s(?:\w{1,8}\.\w{1,8}\s)?)?kernel(?:: ?|" + _DATA + r"))?"
    r"(?P<inner>" + _STAMP + r")?\s{0,4}(?:\[\s{0,8}[TC]\d{1,8}\])?\s{0,4}"
)
"""A pattern to put before that of a message; its groups "at", "stamp" and "inner" may hold the time."""

_PREFIX = re.compile(PREFIX)

_ISO = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:[.,]\d+)?(Z|[+-]\d\d:?\d\d)?")

_COLOUR = re.compile(r"\x1b\[[0-9;]{0,16}m")


def plain(line: str) -> str:
    """Return a line without the colours that dmesg gives it on a terminal."""
    return _COLOUR.sub("", line) if "\x1b" in line else line


def time(found: re.Match[str]) -> str:
    """Return the time that stands before a message, as it stands there; "" for none."""
    return (found["at"] or found["stamp"] or found["inner"] or "").strip("[]: ")


def readable(at: str) -> str:
    """Return a time of the log as people read it: ISO 8601 without its microseconds; others as they stand there."""
    found = _ISO.fullmatch(at)
    if found is None:
        return at
    day, clock, zone = found.groups()
    utc = zone in {"Z", "+00:00", "+0000"}
    return " ".join(each for each in (day, clock, "UTC" if utc else zone) if each)


def bare(line: str) -> tuple[str, str]:
    """Return the time that stands before a message ("" for none), and the message."""
    shown = plain(line)
    found = _PREFIX.match(shown)
    return (time(found), shown[found.end() :]) if found is not None else ("", shown)
