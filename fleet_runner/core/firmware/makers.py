"""Whose BMC it is, as its own resources say, and the maker's tool for what cannot be done over Redfish."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from fleet_runner.core.firmware.excluded import is_adapter
from fleet_runner.core.firmware.inventory import Entry


class Maker(StrEnum):
    """Who wrote a BMC's way of updates. A board of one maker may have the BMC of another: a DGX H100 has AMI's."""

    BLUEFIELD = "NVIDIA BlueField"
    SUPERMICRO = "Supermicro"
    DELL = "Dell"
    HPE = "HPE"
    LENOVO = "Lenovo"
    NVIDIA = "NVIDIA"
    AMI = "AMI"
    UNKNOWN = ""


SIGNS: tuple[tuple[Maker, frozenset[str]], ...] = (
    (Maker.SUPERMICRO, frozenset({"supermicro"})),
    (Maker.DELL, frozenset({"dell"})),
    (Maker.HPE, frozenset({"hpe", "hp"})),
    (Maker.LENOVO, frozenset({"lenovo"})),
    (Maker.NVIDIA, frozenset({"nvidia"})),
    (Maker.AMI, frozenset({"ami"})),
)
"""By what a maker is known: a key of Oem, or the first word of the root's vendor; the first that fits counts."""

TOOLS: Mapping[Maker, str] = {
    Maker.BLUEFIELD: "bfb-install over rshim on its host",
    Maker.SUPERMICRO: "Supermicro's SUM or SAA",
    Maker.DELL: "Dell's racadm or DSU",
    Maker.HPE: "HPE's ilorest or SUM",
    Maker.LENOVO: "Lenovo's OneCLI",
    Maker.NVIDIA: "NVIDIA's nvfwupd",
}
"""What each maker has for updates that cannot be done over Redfish, or not by us."""

ADAPTERS = "NVIDIA's mlxfwmanager on the host"
"""The tool for ConnectX adapters, in whosever machine they are."""

NVIDIA_UPDATES = "#NvidiaUpdateService"
DELL_UPDATES = "#DellUpdateService."

BLUEFIELD = ("bluefield", "bmcmezz")
"""What the service root of a BlueField's BMC has in its product; the second is of the board that carries the BMC."""

IDRAC = "dell remote access controller"
"""What the service root of an iDRAC calls its product, also where it names no vendor."""


def maker(root: Mapping[str, Any], service: Mapping[str, Any]) -> Maker:
    """Return the maker by the service root and the UpdateService; each may be empty where it is not known."""
    product = f"{root.get('Product')} {root.get('Vendor')}".lower()
    if any(sign in product for sign in BLUEFIELD):
        return Maker.BLUEFIELD
    actions = [str(name) for name in _object(_object(service.get("Actions")).get("Oem"))]
    if any(name.startswith(NVIDIA_UPDATES) for name in actions):
        return Maker.NVIDIA
    if IDRAC in product or any(DELL_UPDATES in name for name in actions):
        return Maker.DELL
    said = {str(name).lower() for body in (root, service) for name in _object(body.get("Oem"))}
    said |= set(str(root.get("Vendor")).lower().split()[:1])
    return next((each for each, signs in SIGNS if signs & said), Maker.UNKNOWN)


def is_dpu_os(uri: str) -> bool:
    """Whether a firmware's URI is that of a BlueField's whole software, which is installed from a BFB."""
    return uri.rstrip("/").rpartition("/")[2] == "DPU_OS"


def advice(who: Maker, component: str, entry: Entry) -> str:
    """Return how a component comes that we do not send, to end a sentence; "" where nobody knows."""
    nvidias = entry.manufacturer.lower() in {"nvidia", "mellanox"} or who in {Maker.NVIDIA, Maker.BLUEFIELD}
    tool = ADAPTERS if nvidias and is_adapter(component, entry) else TOOLS.get(who, "")
    if who is Maker.BLUEFIELD and is_dpu_os(entry.uri):
        tool = TOOLS[who]
    return f"; {tool} may bring it" if tool else ""


def _object(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}
