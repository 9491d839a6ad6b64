"""Which images a maker's BMC takes by which way, and which it does not take: said before anything is sent."""

from collections.abc import Sequence

from fleet_runner.core.firmware.catalogue import Transport
from fleet_runner.core.firmware.makers import TOOLS, Maker, is_dpu_os

WAYS = (Transport.MULTIPART, Transport.PUSH, Transport.SIMPLE)
"""Which way is taken first where the catalogue leaves it open."""

PACKED = (".zip", ".tgz", ".tar.gz")
BUNDLES = ("uxsp", "bundle")
"""What the names of Lenovo's packages of many images have in them."""


def ways(asked: Transport, file: str) -> tuple[Transport, ...]:
    """Return the ways that an image may go, the first first: a BFB, larger than a BMC's memory, is fetched."""
    if asked is not Transport.AUTO:
        return (asked,)
    return (Transport.SIMPLE,) if _is_bfb(file) else WAYS


def refusal(maker: Maker, file: str, targets: Sequence[str], way: Transport) -> str:
    """Say why an image is not sent so, and what to do; "" where nothing speaks against it."""
    if _is_bfb(file):
        return _bfb(file, targets, way)
    if maker is Maker.BLUEFIELD and targets and way is not Transport.SIMPLE:
        return (
            f"{file} goes to a BlueField, which finds out by itself what an image is for and refuses Targets; set"
            " untargeted: true"
        )
    name = file.rpartition("/")[2].lower()
    if maker is Maker.LENOVO and name.endswith(PACKED):
        if any(word in name for word in BUNDLES):
            return f"{file} is a bundle of many images, which is not sent over Redfish here; use {TOOLS[maker]}"
        return (
            f"{file} is a package around an image, of which an XCC may write another bank than it is told, or none;"
            " unpack it, and put the .uxz file of its folder payloads into the catalogue"
        )
    return ""


def _bfb(file: str, targets: Sequence[str], way: Transport) -> str:
    if way is not Transport.SIMPLE:
        return f"{file} is a BFB, which a BlueField's BMC fetches by SimpleUpdate alone; use {TOOLS[Maker.BLUEFIELD]}"
    if not targets or not all(map(is_dpu_os, targets)):
        return f"{file} is a BFB, which goes to DPU_OS alone, not to {', '.join(targets) or 'nothing'}; name that"
    return ""


def _is_bfb(file: str) -> bool:
    return file.lower().endswith(".bfb")
