"""A history to replay, and its form as JSON lines: one object a line, with `kind` and the fields of that kind."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.budgets.disruption_budget import Location
from fleet_runner.core.checks.verdicts import Remedy

LONGEST = 20_000
"""Characters of a line; no fault has so much to say."""

MOST = 1_000_000
"""Lines of a history."""


@dataclass(frozen=True, slots=True)
class Known:
    """A node: what it is and where it belongs; "" where nobody says."""

    node: str
    device_type: str
    rack: str = ""
    domain: str = ""
    tenant: str = ""
    nvlink: str = ""

    @property
    def place(self) -> Location:
        """Return where it belongs."""
        return Location(self.rack, self.domain, self.tenant, self.nvlink)


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that was there from `begins` until `ends`, 0 where it did not end.

    `check` saw it, "" where it was pushed. `remedy` is what the check or the signal proposed.
    """

    node: str
    code: str
    component: str
    fault: str
    message: str
    remedy: str
    begins: float
    ends: float = 0.0
    check: str = ""


@dataclass(frozen=True, slots=True)
class Use:
    """A tenant's work on a node."""

    node: str
    begins: float
    ends: float


@dataclass(frozen=True, slots=True)
class PastRemedy:
    """A remedy that was carried out, and whether it helped: null where nobody knows."""

    node: str
    remedy: str
    faults: tuple[str, ...]
    at: float
    helped: bool | None = None


Line = Known | Fault | Use | PastRemedy
KINDS: Mapping[str, type[Line]] = {"node": Known, "fault": Fault, "use": Use, "tried": PastRemedy}


@dataclass(slots=True)
class FleetHistory:
    """All that is replayed, each by time."""

    nodes: dict[str, Known] = field(default_factory=dict[str, Known])
    faults: list[Fault] = field(default_factory=list[Fault])
    uses: list[Use] = field(default_factory=list[Use])
    tried: list[PastRemedy] = field(default_factory=list[PastRemedy])

    def span(self) -> tuple[float, float]:
        """Return when its first fault begins and when the last thing in it happens; FleetError where nothing does."""
        if not self.faults:
            raise FleetError("this history has no fault to decide about; a longer span may have one")
        ends = [max(fault.begins, fault.ends) for fault in self.faults]
        return min(fault.begins for fault in self.faults), max([*ends, *(tried.at for tried in self.tried)])


class HistoryError(FleetError):
    """A history cannot be read; it says which line."""


def past(lines: Iterable[Line]) -> FleetHistory:
    """Return a history in order, whatever order its lines came in; a node that no line describes has no place."""
    found = FleetHistory()
    for line in lines:
        match line:
            case Known():
                found.nodes[line.node] = line
            case Fault():
                found.faults.append(line)
            case Use():
                found.uses.append(line)
            case _:
                found.tried.append(line)
    told: list[Fault | Use | PastRemedy] = [*found.faults, *found.uses, *found.tried]
    for each in told:
        found.nodes.setdefault(each.node, Known(each.node, ""))
    found.nodes = dict(sorted(found.nodes.items()))
    found.faults.sort(key=lambda fault: (fault.begins, fault.node, fault.fault))
    found.uses.sort(key=lambda use: (use.begins, use.node))
    found.tried.sort(key=lambda tried: (tried.at, tried.node))
    return found


def written(found: FleetHistory) -> Iterator[str]:
    """Return a history line by line."""
    names = {kind: name for name, kind in KINDS.items()}
    told: list[Line] = [*found.nodes.values(), *found.faults, *found.uses, *found.tried]
    for each in told:
        yield json.dumps({"kind": names[type(each)]} | asdict(each), separators=(",", ":"))


def read(lines: Iterable[str], where: str) -> FleetHistory:
    """Read what `written` wrote, or what somebody else did.

    Raises:
        HistoryError: a line is no such object; it says which and what was expected.
    """
    return past(_line(text, f"{where}:{number}") for number, text in enumerate(lines, 1) if text.strip())


def _line(text: str, where: str) -> Line:
    if len(text) > LONGEST:
        raise HistoryError(f"{where}: found {len(text)} characters, expected at most {LONGEST}")
    if int(where.rpartition(":")[2]) > MOST:
        raise HistoryError(f"{where}: expected at most {MOST} lines; replay a shorter span")
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise HistoryError(f"{where}: found no JSON object ({type(error).__name__}); expected one a line") from error
    kind = KINDS.get(str(raw.get("kind"))) if isinstance(raw, dict) else None
    if kind is None:
        raise HistoryError(f'{where}: expected an object with "kind": one of {", ".join(KINDS)}')
    given = {str(name): value for name, value in raw.items() if name != "kind"}
    known = {each.name: str(each.type) for each in fields(kind)}
    strangers = sorted(given.keys() - known.keys())
    if strangers:
        raise HistoryError(f"{where}: found the field {strangers[0]!r:.60}, expected one of {', '.join(known)}")
    for name, value in given.items():
        if not _fits(value, name):
            raise HistoryError(f"{where}: {name}: found {value!r:.60}, expected {_EXPECTED.get(name, 'a text')}")
    make: Any = kind
    try:
        made: Line = make(**{name: tuple(value) if name == "faults" else value for name, value in given.items()})
    except TypeError as error:
        missing = sorted(name for name in ("node", *known) if name not in given)
        raise HistoryError(f"{where}: expected these fields too: {', '.join(dict.fromkeys(missing))}") from error
    return made


_TIMES = frozenset({"begins", "ends", "at"})
_EXPECTED = {
    **dict.fromkeys(_TIMES, "seconds since 1970, a number of 0 or more"),
    "faults": "a list of texts",
    "helped": "true, false or null",
    "remedy": f"one of {', '.join(Remedy)}",
}


def _fits(value: Any, name: str) -> bool:
    if name in _TIMES:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and math.isfinite(value) and value >= 0
    if name == "faults":
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if name == "helped":
        return value is None or isinstance(value, bool)
    return isinstance(value, str) and (name != "remedy" or value in tuple(Remedy))
