"""Cumulus Linux: `nv show interface -o json` and `nv show qos roce -o json`, whose PFC is the whole switch's."""

from collections.abc import Mapping

from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.checks.parsers.port_states.port import (
    FEC,
    SwitchPort,
    count,
    mbps,
    objects,
    optional,
    priorities,
)


def read(said: Mapping[str, str]) -> dict[str, SwitchPort]:
    """Read them."""
    told = optional(said.get("roce"), "nv show qos roce").get("pfc")
    pfc = priorities(str(told.get("pfc-priority", ""))) if isinstance(told, dict) else None
    found: dict[str, SwitchPort] = {}
    for name, port in objects(json_object(said["interfaces"], "nv show interface")):
        if port.get("type") == "swp" and isinstance(link := port.get("link"), dict):
            found[name] = SwitchPort(
                mbps=mbps(link.get("speed")),
                mtu=count(link.get("mtu")),
                fec=FEC.get(str(link.get("fec")), ""),
                pfc=pfc,
            )
    return found
