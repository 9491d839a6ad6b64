"""`mlxlink -m --json`: what a port's module measures of itself, beside the range in which it says it is well.

Every value is text: "61 [-10..80]", "1.9,2.0,2.3,1.9 [-10.4..6]" with one number for each lane, "N/A". A copper cable
measures nothing: it says N/A, or 0 with the range 0 to 0.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object

MOST_LANES = 16
"""More lanes than any module has."""

_NUMBER = r"-?\d{1,6}(?:\.\d{1,6})?"
_MEASURED = re.compile(
    rf"({_NUMBER}(?:,{_NUMBER}){{0,{MOST_LANES - 1}}})(?: ?\[({_NUMBER})\.\.({_NUMBER})\])?", re.ASCII
)
_NOTHING = frozenset({"", "n/a"})
_ABSENT = re.compile(r"no (?:cable|module|plugged)|unplugged|not (?:plugged|present|connected)", re.IGNORECASE)


class Measured(NamedTuple):
    """One quantity: a value for each lane, or one, and its range; both ends None where the module names none."""

    values: tuple[float, ...]
    low: float | None = None
    high: float | None = None

    @property
    def outside(self) -> tuple[float, ...]:
        """Return the values that are outside the range."""
        if self.low is None or self.high is None:
            return ()
        return tuple(value for value in self.values if not self.low <= value <= self.high)


@dataclass(frozen=True, slots=True)
class Module:
    """One module. `active` says whether its port's link is up; what is not measured is None.

    `serial` and `model` are as the vendor wrote them, "" where not told.
    """

    active: bool
    serial: str = ""
    model: str = ""
    celsius: Measured | None = None
    rx_dbm: Measured | None = None
    tx_dbm: Measured | None = None


def parse(text: str) -> Module | None:
    """Read one port's answer: None where nothing that measures is plugged; EvidenceError where it gave none."""
    root = json_object(text, "mlxlink's answer")
    status = root.get("status")
    if not isinstance(status, Mapping) or "code" not in status:
        raise EvidenceError("mlxlink's answer has no status code; was it cut short?")
    if status["code"] != 0:
        said = str(status.get("message", "")).strip()
        if _ABSENT.search(said):
            return None
        raise EvidenceError(f"mlxlink ended with status {status['code']!r:.20}: {said:.200}")
    output = _section(_section(root, "result"), "output")
    module = _module(_section(output, "Module Info"), _section(output, "Operational Info"))
    return module if module.celsius or module.rx_dbm or module.tx_dbm else None


def _section(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = found.get(name, {} if name == "Operational Info" else None)
    if not isinstance(value, Mapping):
        raise EvidenceError(f"mlxlink: {name!r} is {value!r:.60}, expected a section; was it asked with -m --json?")
    return value


def _module(info: Mapping[str, Any], operational: Mapping[str, Any]) -> Module:
    return Module(
        active=str(operational.get("State", "")).strip().lower() == "active",
        serial=_word(info, "Vendor Serial Number"),
        model=_word(info, "Vendor Part Number"),
        celsius=_measured(info, "Temperature [C]"),
        rx_dbm=_measured(info, "Rx Power Current [dBm]"),
        tx_dbm=_measured(info, "Tx Power Current [dBm]"),
    )


def _word(info: Mapping[str, Any], name: str) -> str:
    value = info.get(name, "")
    word = value.strip() if isinstance(value, str) else ""
    return "" if word.lower() in _NOTHING else word[:64]


def _measured(info: Mapping[str, Any], name: str) -> Measured | None:
    value = info.get(name, "")
    if isinstance(value, str) and value.strip().lower() in _NOTHING:
        return None
    found = _MEASURED.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise EvidenceError(f"mlxlink: {name} is {value!r:.60}, expected numbers like '61 [-10..80]' or N/A")
    values = tuple(float(each) for each in found[1].split(","))
    low, high = (float(found[2]), float(found[3])) if found[2] else (None, None)
    if low == high and not any(values):  # a copper cable: zeros all over, in a range of none
        return None
    if low is not None and high is not None and low >= high:
        return Measured(values)  # a range that holds nothing is none
    return Measured(values, low, high)
