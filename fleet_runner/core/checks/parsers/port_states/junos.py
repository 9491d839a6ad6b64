"""Juniper Junos: `show interfaces | display json`, in which each word stands in a list, as `data`.

It tells no PFC: priorities stand in the configuration of classes of service alone.
"""

from collections.abc import Mapping

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import enclosed
from fleet_runner.core.checks.parsers.neighbours.heard import entries, get, holders
from fleet_runner.core.checks.parsers.port_states.port import UNCORRECTED, SwitchPort, known, mbps, whole

KEY = "interface-information"

FEC = {"none": "none", "fec74": "baser", "fec91": "rs", "fec108": "rs", "fec119": "rs", "fec134": "rs"}
"""Junos names encodings by the clause of IEEE 802.3: 74 is BASE-R's, the others are Reed-Solomon's."""


def read(said: Mapping[str, str]) -> dict[str, SwitchPort]:
    """Read it; a port that is down tells no FEC, and is not asked for its speed."""
    root = enclosed(said["interfaces"], (KEY,), "show interfaces | display json")
    rows = [
        row
        for holder in holders(root, KEY)
        for section in entries(get(holder, KEY))
        for row in entries(get(section, "physical-interface"))
    ]
    found: dict[str, SwitchPort] = {}
    for row in rows:
        up = _data(row, "oper-status") == "up"
        mode = _data(_first(row, "ethernet-fec-mode"), "enabled_fec_mode").lower()
        lost = whole(_data(_first(row, "ethernet-fec-statistics"), "fec_nccw_count"))
        if name := _data(row, "name"):
            found[name] = SwitchPort(
                mbps=mbps(_data(row, "speed")) if up else None,
                mtu=whole(_data(row, "mtu")),
                fec=FEC.get(mode, "") if up else "",
                counts=known({UNCORRECTED: lost}),
            )
    if not found:
        raise EvidenceError(f"show interfaces | display json names no port, expected them below {KEY!r}")
    return found


def _first(value: object, key: str) -> object:
    return next(iter(entries(get(value, key))), None)


def _data(value: object, key: str) -> str:
    told = get(_first(value, key), "data")
    return told.strip() if isinstance(told, str) else ""
