"""Do processes hang on the node: ones that wait and cannot be ended, ended ones that nobody took note of, orphans?"""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import files
from fleet_runner.core.checks.parsers import processes as parser
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.parsers.processes import KTHREADD, Process
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory.profile import Section, section

NAME = "processes"

OLD = 300
"""Seconds after which a process that is gone should have been taken note of (Meta's GCM)."""

WAITS, GONE = "D", "Z"

MOST_KEPT, MOST_NAMED = 200, 5

TENANTS = range(1000, 60_000)
"""Users who are people (or their jobs), not services (the usual UID_MIN to UID_MAX)."""

LOADAVG, FILE_NR = "/proc/loadavg", "/proc/sys/fs/file-nr"


def judge(readings: Readings, expected: Expected) -> Result:
    """One that waits in two looks in a row, minutes apart, hangs; in one look it may just be writing."""
    wanted = section(expected.profile, NAME)
    rows = parser.parse(text_of(readings["ps"]))
    ignored = wanted.texts("ignored") if wanted.has("ignored") else ()
    own = [row for row in rows if row.parent != KTHREADD and not any(fnmatchcase(row.name, each) for each in ignored)]
    waiting = {_key(row, readings["ps"].at): row for row in own if row.state == WAITS}
    gone = [row for row in own if row.state == GONE and row.seconds >= OLD]
    hung = [row for key, row in waiting.items() if key in _before(expected)]
    left = _left(rows, wanted)
    findings = [*_hung(hung, expected.node), *_gone(gone, wanted, expected.node), *_orphans(left, expected.node)]
    busy, unread = _load(readings, wanted, expected.node)
    findings += busy
    observed = {
        "processes": len(rows),
        "waiting": sorted(waiting)[:MOST_KEPT],
        "zombies": len(gone),
        "of_users": sum(row.user in TENANTS for row in rows),
    }
    passed = f"{len(rows)} processes, none of them hangs"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _key(row: Process, at: float) -> str:
    """Return what makes a process the same one: its number may be another's later. Ages are whole seconds."""
    return f"{row.pid} {round((at - row.seconds) / 10)}"


def _before(expected: Expected) -> frozenset[str]:
    """Return which processes waited in the last look, if that was long enough ago; a start is rounded both ways."""
    before = expected.run.get("before")
    mine: Any = before.get(NAME) if isinstance(before, Mapping) else None
    at = number(mine.get("at")) if isinstance(mine, Mapping) else None
    now = number(expected.run.get("now"))
    observed = mine.get("observed") if isinstance(mine, Mapping) else None
    kept = observed.get("waiting") if isinstance(observed, Mapping) else None
    if at is None or now is None or now - at < OLD or not isinstance(kept, list):
        return frozenset()
    found: set[str] = set()
    for each in kept[:MOST_KEPT]:
        pid, _, start = str(each).partition(" ")
        if start.isdecimal() and len(start) < len("1234567890123"):
            found |= {f"{pid} {int(start) + by}" for by in (-1, 0, 1)}
    return frozenset(found)


def _hung(rows: Sequence[Process], node: str) -> Iterator[Finding]:
    if rows:
        yield about(node, "process.hung", "processes")(
            message=f"processes that wait for more than {OLD / 60:.0f} min for a device or a file server and"
            f" cannot be ended: {_named(rows)}",
            remedy=Remedy.WATCH,
        )


def _gone(rows: Sequence[Process], wanted: Section, node: str) -> Iterator[Finding]:
    most = wanted.whole("zombies_max")
    if len(rows) > most:
        yield about(node, "process.zombies", "processes")(
            message=f"{len(rows)} processes have been zombies for more than {OLD / 60:.0f} min,"
            f" expected at most {most}: {_named(rows)}",
            remedy=Remedy.WATCH,
        )


def _left(rows: Sequence[Process], wanted: Section) -> list[Process]:
    """Return tenants' processes, not just begun, that nothing started which may: their job is over, or never was."""
    owners = wanted.texts("tenants_under") if wanted.has("tenants_under") else ()
    by_number = {row.pid: row for row in rows if row.pid > 1}
    return [
        row
        for row in rows
        if owners and row.user in TENANTS and row.state != GONE and row.seconds >= OLD
        if not any(fnmatchcase(each.name, owner) for each in _line(row, by_number) for owner in owners)
    ]


def _line(row: Process | None, by_number: Mapping[int, Process]) -> Iterator[Process]:
    """Yield a process and those above it, without the first of all; numbers that go in a circle are nobody's."""
    seen: set[int] = set()
    while row is not None and row.pid not in seen:
        seen.add(row.pid)
        yield row
        row = by_number.get(row.parent)


def _orphans(rows: Sequence[Process], node: str) -> Iterator[Finding]:
    if rows:
        yield about(node, "process.left", "processes")(
            message=f"processes of users that belong to no job: {_named(rows)}", remedy=Remedy.WATCH
        )


def _named(rows: Sequence[Process]) -> str:
    told = ", ".join(f"{row.name:.32} ({row.pid})" for row in rows[:MOST_NAMED])
    return told + (f" and {len(rows) - MOST_NAMED} more" if len(rows) > MOST_NAMED else "")


def _load(readings: Readings, wanted: Section, node: str) -> tuple[list[Finding], list[str]]:
    """Return what is beyond the profile's limits of load and of open files, and which of them cannot be told."""
    reading = readings.get("loads")
    found = files.parse(text_of(reading)) if reading is not None else {}
    findings: list[Finding] = []
    unread: list[str] = []
    load = _first(found.get(LOADAVG))
    if wanted.has("load_max"):
        if load is None:
            unread.append(f"{LOADAVG} was not read")
        elif load > wanted.number("load_max"):
            told = f"{load:g} processes want to run, expected at most {wanted.number('load_max'):g}"
            findings.append(about(node, "process.load", "CPUs")(message=told, remedy=Remedy.WATCH))
    if wanted.has("open_files_share_max"):
        share = _share(found.get(FILE_NR))
        if share is None:
            unread.append(f"{FILE_NR} was not read")
        elif share > wanted.number("open_files_share_max"):
            told = f"{share:.0%} of the files that may be open are open, expected at most"
            message = f"{told} {wanted.number('open_files_share_max'):.0%}"
            findings.append(about(node, "process.files", "open files")(message=message, remedy=Remedy.WATCH))
    return findings, unread


def _first(text: str | None) -> float | None:
    words = (text or "").split()
    try:
        return number(float(words[0])) if words else None
    except ValueError:
        return None


def _share(text: str | None) -> float | None:
    """Return the share of files that are open; a limit of nineteen digits, the kernel's default, is none."""
    words = (text or "").split()
    if len(words) != 3 or not all(each.isdecimal() for each in words):  # noqa: PLR2004  open, free, and the most
        return None
    if len(words[2]) > len("999999999999999"):
        return 0.0
    open_now, most = files.whole(words[0]), files.whole(words[2])
    return open_now / most if open_now is not None and most else None


CHECK = Check(
    name=NAME,
    question="Do processes hang on the node, or are there too many of them?",
    reads=("ps",),
    also=("loads",),
    judge=judge,
    remembers=True,
    section=NAME,
    codes=(
        Code(
            "process.hung", (Remedy.WATCH,), "processes that wait in two looks, 5 minutes apart, and cannot be ended"
        ),
        Code("process.zombies", (Remedy.WATCH,), "more zombies older than 5 minutes than `processes.zombies_max`"),
        Code("process.left", (Remedy.WATCH,), "processes of users that nothing of `processes.tenants_under` started"),
        Code("process.load", (Remedy.WATCH,), "a load over `processes.load_max`"),
        Code("process.files", (Remedy.WATCH,), "more files open than `processes.open_files_share_max` of the limit"),
    ),
    source="The profile's `processes`; Meta's GCM takes 5 minutes for both kinds, gpud 1,000 zombies and 80 % files.",
)
