"""The boot networks as a boot server's owner describes them: read strictly, each problem with its place."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network
from typing import Any, TypeVar

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.boot.dhcp.firmware import LOADERS

T = TypeVar("T")

KEA_HOOKS = "/usr/lib/x86_64-linux-gnu/kea/hooks"
"""Where Debian has the libraries that Kea loads."""

LEASE_SECONDS = 3600
MIN_LEASE_SECONDS, MAX_LEASE_SECONDS = 120, 604_800
SMALLEST = 30  # the longest prefix that still has an address for a node beside the server's
FILE_FIELD = 127
"""Characters of a boot file's name that fit into a DHCP message."""

_PATH = re.compile(r"/[A-Za-z0-9._/+@-]+")
_INTERFACE = re.compile(r"[A-Za-z0-9._-]{1,15}")
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,31}")
_LOADER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_DOMAIN = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*")
_URL = re.compile(r"https?://[A-Za-z0-9._~:/\[\]-]+")


@dataclass(frozen=True, slots=True)
class Network:
    """One subnet that nodes boot in.

    `server` is the boot server's address as this network reaches it. Machines without a reservation get an address
    of `dynamic` (first and last), or none at all where there is no such range.
    """

    subnet: IPv4Network
    server: IPv4Address
    router: IPv4Address | None = None
    dns: tuple[IPv4Address, ...] = ()
    domain: str = ""
    dynamic: tuple[IPv4Address, IPv4Address] | None = None
    lease_seconds: int = LEASE_SECONDS


@dataclass(frozen=True, slots=True)
class Networks:
    """What one boot server serves, and where its DHCP server finds what it needs.

    `interfaces` are those it listens on; requests of relayed networks arrive there, too. `loaders` has a file in
    `tftp_dir` for each key of `LOADERS`. `lease_hook` is the program that is told of leases; "" for none.
    """

    boot_url: str
    interfaces: tuple[str, ...]
    networks: tuple[Network, ...]
    loaders: Mapping[str, str] = field(default_factory=lambda: dict(LOADERS))
    tftp_dir: str = "/usr/lib/ipxe"
    lease_file: str = "/var/lib/misc/fleet-leases"
    lease_hook: str = ""
    hook_user: str = "root"
    kea_hooks_dir: str = KEA_HOOKS

    @property
    def script_url(self) -> str:
        """Return where iPXE finds its first script."""
        return f"{self.boot_url}/boot.ipxe"

    def loader_url(self, loader: str) -> str:
        """Return where UEFI HTTP boot finds an iPXE."""
        return f"{self.boot_url}/loader/{self.loaders[loader]}"


class _Map:
    """A mapping of the description; each method takes one key, and `only` refuses what is left."""

    __slots__ = ("left", "place")

    def __init__(self, value: Any, place: str) -> None:
        if not isinstance(value, dict):
            raise _wrong(place, value, "a mapping")
        self.left: dict[Any, Any] = dict(value)
        self.place = place

    def at(self, key: str) -> str:
        return f"{self.place}.{key}" if self.place else key

    def take(self, key: str, read: Callable[[Any, str], T], default: T | None = None) -> T:
        value = self.left.pop(key, None)
        if value is not None:
            return read(value, self.at(key))
        if default is None:
            raise SettingsError(f"boot networks: {self.at(key)} is missing; see docs/boot-servers.md")
        return default

    def maybe(self, key: str, read: Callable[[Any, str], T]) -> T | None:
        value = self.left.pop(key, None)
        return None if value is None else read(value, self.at(key))

    def only(self) -> None:
        for key in self.left:
            raise SettingsError(
                f"boot networks: {self.at(str(key))} is no key that is known here; remove or correct it"
            )


def read(value: Any, boot_url: str, tftp_dir: str = "/usr/lib/ipxe") -> Networks:
    """Read a parsed description, or raise SettingsError that says where, what was found and what is expected.

    `tftp_dir` is where the loaders are unless the description says so itself.
    """
    top = _Map(value, "")
    url = _text(_URL, "an address like http://10.0.0.1:8480 (the setting boot_url)")(boot_url.rstrip("/"), "boot_url")
    server = top.maybe("server", _address)
    found = Networks(
        boot_url=url,
        interfaces=top.take("interfaces", _list(_text(_INTERFACE, "an interface's name like eth1"))),
        networks=top.take("networks", _list(lambda each, place: _network(each, place, server))),
        loaders={**LOADERS, **(top.maybe("loaders", _loaders) or {})},
        tftp_dir=top.take("tftp_dir", _path, tftp_dir),
        lease_file=top.take("lease_file", _path, "/var/lib/misc/fleet-leases"),
        lease_hook=top.maybe("lease_hook", _path) or "",
        hook_user=top.take("hook_user", _text(_USER, "a user's name"), "root"),
        kea_hooks_dir=top.take("kea_hooks_dir", _path, KEA_HOOKS),
    )
    top.only()
    _fits(found)
    _disjoint(found.networks)
    return found


def _network(value: Any, place: str, server: IPv4Address | None) -> Network:
    row = _Map(value, place)
    subnet = row.take("subnet", _subnet)

    def inside(each: Any, where: str) -> IPv4Address:
        found = _address(each, where)
        if found not in subnet or found in (subnet.network_address, subnet.broadcast_address):
            raise _wrong(where, each, f"an address that a machine in {subnet} can have")
        return found

    found = Network(
        subnet=subnet,
        server=row.take("server", _address, server),
        router=row.maybe("router", inside),
        dns=row.maybe("dns", _list(_address)) or (),
        domain=row.maybe("domain", _text(_DOMAIN, "a domain like cluster.example")) or "",
        dynamic=row.maybe("range", lambda each, where: _range(_list(inside)(each, where), each, where)),
        lease_seconds=row.take("lease_seconds", _lease, LEASE_SECONDS),
    )
    row.only()
    return found


def _range(ends: tuple[IPv4Address, ...], value: Any, place: str) -> tuple[IPv4Address, IPv4Address]:
    match ends:
        case (first, last) if first <= last:
            return first, last
    raise _wrong(place, value, "the first and the last address of the range, in this order")


def _loaders(value: Any, place: str) -> dict[str, str]:
    row = _Map(value, place)
    read_name = _text(_LOADER, "the name of a file in tftp_dir")
    found = {key: name for key in LOADERS if (name := row.maybe(key, read_name))}
    row.only()
    return found


def _fits(found: Networks) -> None:
    for url in (found.script_url, *(found.loader_url(key) for key in found.loaders)):
        if len(url) > FILE_FIELD:
            raise _wrong(
                "boot_url", url, f"at most {FILE_FIELD} characters with the file's name; DHCP has no room for more"
            )


def _disjoint(networks: tuple[Network, ...]) -> None:
    for at, network in enumerate(networks):
        for before in networks[:at]:
            if network.subnet.overlaps(before.subnet):
                raise _wrong(f"networks[{at}].subnet", network.subnet, f"one that does not overlap {before.subnet}")


def _subnet(value: Any, place: str) -> IPv4Network:
    expected = "an IPv4 subnet like 10.10.0.0/24, with no address of a machine in it"
    try:
        found = IPv4Network(value if isinstance(value, str) else "")
    except ValueError as error:
        raise _wrong(place, value, expected) from error
    if found.prefixlen > SMALLEST or found.network_address == IPv4Address(0):
        raise _wrong(place, value, expected)
    return found


def _address(value: Any, place: str) -> IPv4Address:
    try:
        return IPv4Address(value if isinstance(value, str) else "")
    except ValueError as error:
        raise _wrong(place, value, "an IPv4 address like 10.10.0.2") from error


def _lease(value: Any, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not MIN_LEASE_SECONDS <= value <= MAX_LEASE_SECONDS:
        raise _wrong(place, value, f"a whole number from {MIN_LEASE_SECONDS} to {MAX_LEASE_SECONDS}")
    return value


def _path(value: Any, place: str) -> str:
    return _text(_PATH, "an absolute path of letters, digits and ._/+@-")(value, place)


def _text(form: re.Pattern[str], expected: str) -> Callable[[Any, str], str]:
    def read_text(value: Any, place: str) -> str:
        if not isinstance(value, str) or not form.fullmatch(value):
            raise _wrong(place, value, expected)
        return value

    return read_text


def _list(read_one: Callable[[Any, str], T]) -> Callable[[Any, str], tuple[T, ...]]:
    def read_list(value: Any, place: str) -> tuple[T, ...]:
        if not isinstance(value, list) or not value:
            raise _wrong(place, value, "a list that is not empty")
        return tuple(read_one(each, f"{place}[{at}]") for at, each in enumerate(value))

    return read_list


def _wrong(place: str, value: Any, expected: str) -> SettingsError:
    where = f" {place}" if place else ""
    return SettingsError(
        f"boot networks{where}: found {value if isinstance(value, IPv4Network) else repr(value)}, expected {expected}"
    )
