"""The kinds of firmware that ask a DHCP server for something to boot, and what each is given."""

from typing import NamedTuple

IPXE_OPTION = 175
"""The option that only iPXE sends (its own settings); who sends it has its loader and wants the script."""

IPXE_ALONE = bytes([176, 1, 1])
"""What that option answers: iPXE's setting no-pxedhcp is 1. Else it waits three seconds for a second DHCP server."""

HTTP_CLIENT = "HTTPClient"
"""How the vendor class of UEFI HTTP boot begins; an answer without it is not taken (UEFI 2.10, 24.7)."""


class Firmware(NamedTuple):
    """One kind: its name here, its numbers in option 93 (IANA's processor architecture types), and how it loads."""

    name: str
    types: tuple[int, ...]
    loader: str  # a key of LOADERS
    http: bool
    services: tuple[str, ...] = ()  # dnsmasq's words for the types, where it has any


FIRMWARES = (
    Firmware("bios", (0,), "bios", http=False, services=("x86PC",)),
    # 9 is what the standard says; 7 is what most machines say, after a slip in an earlier draft of it.
    Firmware("uefi-x64", (7, 9), "x64", http=False, services=("BC_EFI", "x86-64_EFI")),
    Firmware("uefi-arm64", (11,), "arm64", http=False, services=("ARM64_EFI",)),
    Firmware("http-x64", (16,), "x64", http=True),
    Firmware("http-arm64", (19,), "arm64", http=True),
)

LOADERS = {"bios": "undionly.kpxe", "x64": "snponly.efi", "arm64": "snponly-arm64.efi"}
"""iPXE's files, as Debian and iPXE's own releases name them; they use the firmware's driver for the network card."""
