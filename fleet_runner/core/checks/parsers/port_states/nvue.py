"""Cumulus Linux: `nv show interface -o json`, and PFC and ECN of the whole switch from `nv show qos roce -o json`.

ECN is told for traffic classes, and not which class a priority has: in its modes "lossless" the one with PFC is 3, of
class 3. Where priorities or classes are others, somebody has set them, and ECN is left open. In a lossy mode no
priority has PFC.
"""

from collections.abc import Mapping
from typing import Any

from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.checks.parsers.port_states.port import (
    DOWNS,
    FEC,
    SwitchPort,
    count,
    downs,
    known,
    mbps,
    objects,
    optional,
    priorities,
)

LOSSLESS = frozenset({3})
"""Priorities with PFC in a mode "lossless", each of the class of its number."""

CLASSES = LOSSLESS | {0}
"""Classes that it uses: all other priorities are of class 0."""

ENABLED, OFF = ("enable", "state"), frozenset({"off", "disabled"})
"""Where releases say whether the mode is applied, and how that it is not."""


def read(said: Mapping[str, str]) -> dict[str, SwitchPort]:
    """Read them."""
    roce = optional(said.get("roce"), "nv show qos roce")
    pfc = _pfc(roce)
    ecn = _marked(roce, pfc) if pfc and str(roce.get("mode")).startswith("lossless") else None
    found: dict[str, SwitchPort] = {}
    for name, port in objects(json_object(said["interfaces"], "nv show interface")):
        if port.get("type") == "swp" and isinstance(link := port.get("link"), dict):
            found[name] = SwitchPort(
                mbps=mbps(link.get("speed")),
                mtu=count(link.get("mtu")),
                fec=FEC.get(str(link.get("fec")), ""),
                pfc=pfc,
                ecn=ecn,
                counts=known({DOWNS: _downs(link.get("stats"))}),
            )
    return found


def _downs(stats: object) -> int | None:
    return downs(count(stats.get("carrier-transitions"))) if isinstance(stats, dict) else None


def _pfc(roce: Mapping[str, Any]) -> frozenset[int] | None:
    told = roce.get("pfc")
    word = str(told.get("pfc-priority", "")) if isinstance(told, dict) else ""
    lossy = str(roce.get("mode")).startswith("lossy") and OFF.isdisjoint(str(roce.get(key)) for key in ENABLED)
    return frozenset() if word == "-" and lossy else priorities(word)


def _marked(roce: Mapping[str, Any], pfc: frozenset[int]) -> frozenset[int] | None:
    """Return which priorities with PFC are marked; None where it does not tell."""
    told = roce.get("congestion-control")
    if not isinstance(told, dict) or str(told.get("congestion-mode")).upper() != "ECN":
        return None
    classes = priorities(str(told.get("enabled-tc", "")))
    return None if classes is None or pfc != LOSSLESS or classes - CLASSES else classes & pfc
