"""Addresses in the one form that records keep; None for text that is no such address."""

import re
from ipaddress import ip_address

_SEPARATORS = re.compile(r"[:.-]")
_MAC = re.compile(r"[0-9a-f]{12}")
_GUID = re.compile(r"[0-9a-f]{16}")


def mac(text: str) -> str | None:
    """Return a MAC address in lower case with colons, from any usual way of writing it."""
    digits = _SEPARATORS.sub("", text.strip().lower())
    return ":".join(digits[at : at + 2] for at in range(0, 12, 2)) if _MAC.fullmatch(digits) else None


def guid(text: str) -> str | None:
    """Return an InfiniBand GUID (NetBox: a WWN) as 16 lower-case hex digits, from any usual way of writing it."""
    digits = _SEPARATORS.sub("", text.strip().lower().removeprefix("0x"))
    return digits if _GUID.fullmatch(digits) else None


def ip(text: str) -> str | None:
    """Return an IPv4 or IPv6 address without its mask, in its canonical form."""
    try:
        return str(ip_address(text.strip().partition("/")[0]))
    except ValueError:
        return None
