"""A look at a BMC as lines of a screen: what is bad comes first, and every list is short."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fleet_runner.core.bmc.look import Logged, Look, Sensed
from fleet_runner.core.bmc.parts import KINDS, Device, Firmware

MOST_BAD = 12
MOST_LOGGED = 5
MOST_NAMED = 4
MOST_FIRMWARE = 40
MOST_UNREAD = 8
LONGEST = 200
"""Characters of a message."""

NO_PART = "the server"
"""What an entry of a log is about that names no part."""


class Line(NamedTuple):
    """One line, and how it is meant: "title", "bad", "note" or ""."""

    text: str
    style: str = ""


def lines(found: Look, width: int = 80) -> Iterator[Line]:
    """Yield the lines of a look, none of them wider than the screen where words can be broken."""
    yield from _machine(found, width)
    yield from _bad(found, width)
    yield from _log(found, width)
    yield from _rows("PARTS", _parts(found), width)
    yield from _firmware(found.firmware, width)
    if found.notes:
        yield Line("NOTES", "title")
        for note in found.notes:
            yield from _wrapped(note[:LONGEST], width, "note")
    yield from _unread(found, width)


def _machine(found: Look, width: int) -> Iterator[Line]:
    who = found.machine
    name = " ".join(filter(None, (who.maker, who.model))) or "unknown machine"
    yield from _wrapped(f"{name}, serial {who.serial or 'not reported'}", width, "title", indent="")
    told = (
        f"power {who.power or 'not reported'}",
        f"BIOS {who.bios or 'not reported'}",
        f"BMC {who.bmc or 'not reported'}",
        f"Redfish {who.redfish or 'not reported'}",
    )
    yield from _wrapped(", ".join(told), width, indent="")


def _bad(found: Look, width: int) -> Iterator[Line]:
    if not found.bad:
        but = "" if found.whole else " in what was read"
        yield Line(f"No problem found{but}.")
        return
    yield Line(f"BAD ({len(found.bad)})", "bad")
    for each in found.bad[:MOST_BAD]:
        yield from _wrapped(each.message[:LONGEST], width, "bad")
    if len(found.bad) > MOST_BAD:
        yield Line(f"  and {len(found.bad) - MOST_BAD} more; --json lists all", "bad")


def _log(found: Look, width: int) -> Iterator[Line]:
    """Yield what was logged and is not over; what is among the bad already is not said twice."""
    told = " ".join(" ".join(each.message.split()) for each in found.bad)
    log = [each for each in found.log if each.message[:LONGEST] not in told]
    if not log:
        return
    more = f", newest {MOST_LOGGED} of {len(log)}" if len(log) > MOST_LOGGED else ""
    yield Line(f"LOG: entries that no later entry cleared{more}", "title")
    for each in log[:MOST_LOGGED]:
        yield from _wrapped(_entry(each), width)


def _entry(each: Logged) -> str:
    times = f" ({each.count} times)" if each.count > 1 else ""
    plain = each.part == NO_PART or each.part.lower() in each.message.lower()
    about = "" if plain else f"{each.part}: "
    return f"{each.at or 'undated':16}  {each.severity}  {about}{each.message[:LONGEST]}{times}"


def _parts(found: Look) -> Iterator[tuple[str, str]]:
    """Yield each kind of part with what is there of it, and the sensors below."""
    for kind, called in KINDS.items():
        mine = [each for each in found.devices if each.kind == kind]
        yield called, _groups(mine) if mine else "none listed"
    yield from _sensed(found.sensed)


def _groups(mine: Sequence[Device]) -> str:
    counted = Counter((each.model or "model not reported", _figures(each)) for each in mine)
    return "; ".join(
        f"{count} x {model}{f', {figures}' if figures else ''}" for (model, figures), count in counted.items()
    )


def _figures(each: Device) -> str:
    return ", ".join(
        text
        for value, text in (
            (each.cores, f"{each.cores} cores"),
            (each.gib, f"{each.gib:g} GiB" if each.gib is not None else ""),
            (each.megatransfers, f"{each.megatransfers} MT/s"),
            (each.gigabytes, f"{each.gigabytes} GB"),
            (each.protocol, each.protocol),
        )
        if value
    )


def _sensed(found: Sensed) -> Iterator[tuple[str, str]]:
    speed = f"{found.slowest} to {found.fastest}" if found.slowest != found.fastest else found.slowest
    yield "fans", f"{found.fans}{f', {speed}' if speed else ''}" if found.fans else "none listed"
    told = [f"{found.sensors} in use"]
    if found.warmest:
        told.append(f"nearest to their limits: {'; '.join(found.warmest)}")
    if found.silent:
        told.append(f"{len(found.silent)} without a reading: {_few(found.silent)}")
    yield "sensors", ". ".join(told)


def _firmware(found: Sequence[Firmware], width: int) -> Iterator[Line]:
    if not found:
        yield Line("FIRMWARE: none listed", "title")
        return
    shown = found[:MOST_FIRMWARE]
    more = f", {len(found) - MOST_FIRMWARE} more by --json" if len(found) > MOST_FIRMWARE else ""
    yield Line(f"FIRMWARE ({sum(each.count for each in found)}{more})", "title")
    yield from _columns([(_called(each), each.version or "version not reported") for each in shown], width)


def _called(each: Firmware) -> str:
    times = f" ({each.count})" if each.count > 1 else ""
    return f"{each.name or each.id}{times}"


def _columns(rows: Sequence[tuple[str, str]], width: int) -> Iterator[Line]:
    """Yield names with their versions, two pairs a line where all of them are short enough."""
    half = (width - 4) // 2
    texts = [f"{name}: {version}" for name, version in rows]
    wide = [text for text in texts if len(text) > half]
    short = [text for text in texts if len(text) <= half]
    for place in range(0, len(short), 2):
        yield Line("  " + "  ".join(f"{text:{half}}" for text in short[place : place + 2]).rstrip())
    for text in wide:
        yield from _wrapped(text, width)


def _rows(title: str, rows: Iterable[tuple[str, str]], width: int) -> Iterator[Line]:
    yield Line(title, "title")
    for name, text in rows:
        yield from _wrapped(f"{name:17} {text}", width, hanging=" " * 20)


def _unread(found: Look, width: int) -> Iterator[Line]:
    for each in found.unread[:MOST_UNREAD]:
        yield from _wrapped(f"not read: {each[:LONGEST]}", width, "note", indent="")
    if len(found.unread) > MOST_UNREAD:
        yield Line(f"not read: {len(found.unread) - MOST_UNREAD} more; --json lists all", "note")
    if found.absent:
        count = f"{len(found.absent)} resources are" if len(found.absent) > 1 else "1 resource is"
        yield from _wrapped(f"{count} listed but absent (404): {_few(found.absent)}", width, "note", indent="")


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _wrapped(text: str, width: int, style: str = "", *, indent: str = "  ", hanging: str = "    ") -> Iterator[Line]:
    for line in textwrap.wrap(
        " ".join(text.split(" ")), width, initial_indent=indent, subsequent_indent=hanging, break_on_hyphens=False
    ):
        yield Line(line, style)
