"""Where a BMC may be asked: credentials go nowhere else, whatever a config context says."""

import re
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

Network = IPv4Network | IPv6Network

_URL = re.compile(r"(?:https?|ipmi)://(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::[0-9]{1,5})?/?", re.ASCII)
"""A scheme, a host and a port, and nothing that two programs could read in two ways."""


def networks(text: str) -> tuple[Network, ...]:
    """Return what the setting says ("10.8.0.0/16, fd00:8::/32"), or raise ValueError that names the part."""
    return tuple(_network(part.strip()) for part in text.split(",") if part.strip())


def refusal(device: str, url: str, oob_address: str | None, allowed: Iterable[Network]) -> str:
    """Say why the BMC of a device is not asked at a URL; "" where it may be.

    Where networks are named, all BMCs are in them; otherwise one is only where its out-of-band address is.
    """
    found = _URL.fullmatch(url)
    if found is None:
        return f"{device}: fleet_bmc_url is {url[:120]!r}, expected https://ADDRESS with no user and no path"
    host, known = found[1] or found[2], tuple(allowed)
    if known:
        if _is_in(host, known):
            return ""
        named = ", ".join(map(str, known))
        return (
            f"{device}: its BMC at {url} is not in bmc_networks ({named}), so it is given no credentials; correct"
            " its address in the source of truth, or add its network to the setting"
        )
    own = (oob_address or "").partition("/")[0]
    if own and _same(host, own):
        return ""
    return (
        f"{device}: its config context names the BMC {url}, which is not its out-of-band address"
        f" ({own or 'it has none'}), so it is given no credentials; correct it, or name the network of that address"
        " in the setting bmc_networks"
    )


def _network(part: str) -> Network:
    try:
        return ip_network(part)
    except ValueError as error:
        raise ValueError(f"{part!r} is no network, expected some like 10.8.0.0/16, with commas: {error}") from error


def _is_in(host: str, allowed: Iterable[Network]) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return any(address in network for network in allowed)


def _same(host: str, own: str) -> bool:
    try:
        return ip_address(host) == ip_address(own)
    except ValueError:
        return False
