"""Where a service listens, with which certificate, and who may read the files with its secrets."""

import errno
import os
import re
import resource
import socket
import ssl
import stat
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from fleet_runner.core.base.errors import SettingsError

BACKLOG = 4096
"""Connections that may wait to be accepted: a hall that powers on at once."""

MOST_FILES = 65_536
"""Connections that one process may hold."""

LAST_PORT = 65_535

_LISTEN = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]]+)):([0-9]{1,5})", re.ASCII)


class ListenAddress(NamedTuple):
    """An address of this machine, or a name of it, and a port."""

    host: str
    port: int

    @property
    def family(self) -> socket.AddressFamily:
        """Which kind of socket listens there."""
        return socket.AF_INET6 if ":" in self.host else socket.AF_INET

    @property
    def own(self) -> bool:
        """Whether only this machine itself reaches it."""
        return loopback(self.host)


def place(listen: str) -> ListenAddress | None:
    """Return what "127.0.0.1:8480" or "[::1]:8480" says, None where it says nothing."""
    found = _LISTEN.fullmatch(listen)
    if found is None or int(found[3]) > LAST_PORT:
        return None
    return ListenAddress(found[1] or found[2], int(found[3]))


def placed(listen: str, name: str) -> ListenAddress:
    """Return what a setting says, or raise SettingsError."""
    found = place(listen)
    if found is None:
        raise SettingsError(f"setting {name!r}: found {listen!r}, expected address:port such as 127.0.0.1:8480")
    return found


def listener(listen: str, name: str) -> socket.socket:
    """Return a socket that listens at "127.0.0.1:8480" or "[::1]:8480"."""
    at = placed(listen, name)
    try:
        return socket.create_server(tuple(at), family=at.family, backlog=BACKLOG)
    except OSError as error:
        raise unusable(error, listen, name) from error


def unusable(error: OSError, listen: str, name: str) -> SettingsError:
    """Return why nothing can listen there, as an error a person can act on."""
    why = f"{error.strerror}; name an address of this machine"
    if error.errno == errno.EADDRINUSE:
        why = "another program has that port; stop that one, or choose another port"
    return SettingsError(f"setting {name!r}: cannot listen at {listen}: {why}")


def loopback(host: str) -> bool:
    """Whether an address or name means a machine itself."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def address_of(bound: socket.socket) -> str:
    """Return address and port of a listener, as they stand in a URL."""
    host, port = bound.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def tls(chain: Path, key: Path, name: str) -> ssl.SSLContext:
    """Return what TLS is spoken with; the settings `name` and `name`_key have named the files."""
    private(key, f"{name}_key")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(chain, key)
    except (OSError, ssl.SSLError) as error:
        why = getattr(error, "reason", None) or error.strerror
        raise SettingsError(
            f"{name} {chain} with {name}_key {key}: {why}; expected PEM files that belong together"
        ) from error
    return context


def private(path: Path, name: str) -> None:
    """Refuse a file with a secret that is not there or that others may read."""
    try:
        found = path.stat()
    except OSError as error:
        raise SettingsError(f"{name} {path}: {error.strerror}; expected a file of mode 0600") from error
    if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise SettingsError(f"{name} {path}: others may read it; `chmod 600 {path}`")
    if not os.access(path, os.R_OK):
        raise SettingsError(f"{name} {path}: it cannot be read; give it to the user of the service")


def more_files() -> None:
    """Allow as many connections as the machine lets this process have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if wanted > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
