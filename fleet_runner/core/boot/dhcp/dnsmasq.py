"""dnsmasq's configuration: as the DHCP server, beside another one that stays as it is (proxy), or for TFTP alone."""

from collections.abc import Iterable, Iterator, Sequence

from fleet_runner.core.boot.dhcp.firmware import FIRMWARES, HTTP_CLIENT, IPXE_ALONE, IPXE_OPTION
from fleet_runner.core.boot.dhcp.networks import Network, Networks
from fleet_runner.core.boot.dhcp.reservations import Reservation

HEAD = "# Written by fleet-runner from the source of truth and the boot networks; changes here are overwritten."
LEASES = 1000
"""Leases that dnsmasq keeps unless told to keep more."""


def full(found: Networks, reservations: Sequence[Reservation]) -> str:
    """Return the configuration of a DHCP and TFTP server."""
    most = len(reservations) + sum(_size(network) for network in found.networks)
    return _text([
        *_listening(found),
        "dhcp-authoritative",
        "# Three seconds spent on asking whether an address is free are more than some firmware waits.",
        "no-ping",
        "# One machine, one address: firmware, iPXE and the system give different client ids.",
        "dhcp-ignore-clid",
        f"dhcp-lease-max={max(LEASES, most)}",
        f"dhcp-leasefile={found.lease_file}",
        *_hook(found),
        *_matches(),
        f"dhcp-option=tag:ipxe,{IPXE_OPTION},{IPXE_ALONE.hex(':')}",
        *_urls(found),
        *(line for at, each in enumerate(found.networks) for line in _network(found, each, f"net{at}")),
        *(line for each in reservations for line in _reservation(each)),
    ])  # fmt: skip


def proxy(found: Networks) -> str:
    """Return the configuration of a server that leases nothing, and adds what to boot to another one's leases."""
    return _text([
        *_listening(found),
        f"dhcp-pxe-vendor=PXEClient,{HTTP_CLIENT}",
        *_matches(),
        *(f"dhcp-range={each.subnet.network_address},proxy,{each.subnet.netmask}" for each in found.networks),
        *(
            f'pxe-service=tag:!ipxe,{service},"iPXE",{found.loaders[each.loader]}'
            for each in FIRMWARES
            for service in each.services
        ),
        *_urls(found),
    ])  # fmt: skip


def tftp(found: Networks) -> str:
    """Return the configuration of a TFTP server, for a DHCP server that has none of its own."""
    return _text(_listening(found))


def _text(lines: Iterable[str]) -> str:
    return "\n".join([HEAD, *lines, ""])


def _listening(found: Networks) -> Iterator[str]:
    """Serve files and addresses on the boot interfaces alone, and no names at all."""
    yield "port=0"
    yield "bind-dynamic"
    yield from (f"interface={name}" for name in found.interfaces)
    yield "except-interface=lo"
    yield "enable-tftp"
    yield f"tftp-root={found.tftp_dir}"


def _hook(found: Networks) -> Iterator[str]:
    if found.lease_hook:
        yield f"dhcp-script={found.lease_hook}"
        yield f"dhcp-scriptuser={found.hook_user}"
        yield "# A node that comes back within its lease only renews it."
        yield "script-on-renewal"


def _matches() -> Iterator[str]:
    yield f"dhcp-match=set:ipxe,{IPXE_OPTION}"
    yield from (f"dhcp-match=set:{each.name},option:client-arch,{kind}" for each in FIRMWARES for kind in each.types)


def _network(found: Networks, network: Network, tag: str) -> Iterator[str]:
    first, last = network.dynamic or (network.subnet.network_address, "static")
    yield f"dhcp-range=set:{tag},{first},{last},{network.subnet.netmask},{network.lease_seconds}"
    # Without a value nothing is told; without these lines dnsmasq would name itself.
    yield ",".join([f"dhcp-option=tag:{tag},option:router", *([str(network.router)] if network.router else [])])
    yield ",".join([f"dhcp-option=tag:{tag},option:dns-server", *map(str, network.dns)])
    if network.domain:
        yield f"dhcp-option=tag:{tag},option:domain-name,{network.domain}"
    for each in FIRMWARES:
        if not each.http:
            file = found.loaders[each.loader]
            yield f"dhcp-boot=tag:{tag},tag:{each.name},tag:!ipxe,{file},,{network.server}"


def _urls(found: Networks) -> Iterator[str]:
    yield f"dhcp-boot=tag:ipxe,{found.script_url}"
    for each in FIRMWARES:
        if each.http:
            yield f"dhcp-option-force=tag:{each.name},tag:!ipxe,option:vendor-class,{HTTP_CLIENT}"
            yield f"dhcp-boot=tag:{each.name},tag:!ipxe,{found.loader_url(each.loader)}"


def _reservation(each: Reservation) -> Iterator[str]:
    yield f"# {each.node}"
    yield f"dhcp-host={','.join(each.macs)},{each.address}"


def _size(network: Network) -> int:
    first, last = network.dynamic or (network.subnet.network_address, network.subnet.network_address)
    return int(last) - int(first) + 1
