"""Redfish resources as BMCs give them."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import redfish
from tests.core.checks.catalogue.judging import text_of


def captured(samples: Path, name: str, end: str) -> str:
    """Return the resources of a captured BMC whose URI contains or ends with something."""
    with gzip.open(samples / "redfish" / name, "rt", encoding="utf-8") as file:
        tree: dict[str, Any] = json.load(file)
    return json.dumps(
        {uri: body for uri, body in tree.items() if (end in uri if end.endswith("/") else uri.endswith(end))}
    )


def test_power_supplies_are_read_from_every_chassis() -> None:
    """A baseboard's chassis has a Power without supplies."""
    found = redfish.power_supplies(text_of("redfish/power.json"))
    assert [(psu.name, psu.model, psu.present, psu.health, psu.input_volts) for psu in found] == [
        ("Power Supply Bay 1", "PWS-3K06G-2R", True, "OK", 239.0),
        ("Power Supply Bay 2", "PWS-3K06G-2R", True, "OK", 239.0),
        ("Power Supply Bay 3", "PWS-DF009-2F", True, "OK", None),
    ]


def test_a_captured_supermicro_lists_eight_bays(samples: Path) -> None:
    """Two of them hold fans."""
    found = redfish.power_supplies(captured(samples, "supermicro_hgx_h100.json.gz", "/Power"))
    assert len(found) == 8
    assert sum(psu.model == "PWS-3K06G-2R" for psu in found) == 6


def test_a_captured_dgx_keeps_its_supplies_elsewhere(samples: Path) -> None:
    """Its Power has none: that is unread, not eight missing supplies."""
    with pytest.raises(EvidenceError, match="lists no power supply"):
        redfish.power_supplies(captured(samples, "dgx_h100.json.gz", "/Power"))


def test_a_supply_without_status_is_there_but_unproven() -> None:
    """And named by its number where it has no name."""
    (found,) = redfish.power_supplies('{"/p": {"PowerSupplies": [{"MemberId": "4", "Status": "good"}]}}')
    assert (found.name, found.present, found.health) == ("4", True, "")


@pytest.mark.parametrize(
    "text", ["{}", '{"/p": 1}', "[]", '{"/p": {"PowerSupplies": [1]}}', '{"/p": {"PowerSupplies": []}}']
)
def test_what_is_no_resource_is_refused(text: str) -> None:
    """UNKNOWN, not missing parts."""
    with pytest.raises(EvidenceError):
        redfish.power_supplies(text)
