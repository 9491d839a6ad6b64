"""Where the boot service listens, with which certificate, and the files with secrets that it reads for that."""

import errno
import os
import re
import resource
import socket
import ssl
import stat
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from fleet_runner.core.errors import SettingsError
from fleet_runner.settings import Settings

BACKLOG = 4096
"""Connections that may wait to be accepted: a hall that powers on at once."""

MOST_FILES = 65_536
"""Connections that one process may hold."""

LAST_PORT = 65_535
HTTP_PORT, HTTPS_PORT = 80, 443

_LISTEN = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]]+)):([0-9]{1,5})", re.ASCII)


def listener(listen: str, name: str) -> socket.socket:
    """Return a socket that listens at "127.0.0.1:8480" or "[::1]:8480"."""
    found = _LISTEN.fullmatch(listen)
    if found is None or int(found[3]) > LAST_PORT:
        raise SettingsError(f"setting {name!r}: found {listen!r}, expected address:port such as 127.0.0.1:8480")
    try:
        family = socket.AF_INET6 if found[1] else socket.AF_INET
        return socket.create_server((found[1] or found[2], int(found[3])), family=family, backlog=BACKLOG)
    except OSError as error:
        why = f"{error.strerror}; name an address of this machine"
        if error.errno == errno.EADDRINUSE:
            why = "another program has that port; stop that one, or choose another port"
        raise SettingsError(f"setting {name!r}: cannot listen at {listen}: {why}") from error


def unreachable(listen: str, url: str, name: str) -> list[str]:
    """Return a sentence where nodes are told of a network's address, and this machine's own is listened at."""
    found = _LISTEN.fullmatch(listen)
    parts = urlsplit(url)
    if found is None or not url or not _own(found[1] or found[2]) or _own(parts.hostname or ""):
        return []
    port = parts.port or (HTTPS_PORT if parts.scheme == "https" else HTTP_PORT)
    host = parts.netloc.rpartition(":")[0] if parts.port else parts.netloc
    return [f"nodes cannot reach {listen}, although they are told {url}; set {name} to {host}:{port}"]


def _own(host: str) -> bool:
    """Whether an address or name means a machine itself."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def address_of(bound: socket.socket) -> str:
    """Return address and port of a listener, as they stand in a URL."""
    host, port = bound.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def certificate(settings: Settings) -> ssl.SSLContext | None:
    """Return what TLS is spoken with, None where no certificate is set."""
    chain, key = settings.boot_certificate, settings.boot_certificate_key
    if chain is None or key is None or not settings.boot_secure_url:
        if chain or key or settings.boot_secure_url:
            raise SettingsError(
                "TLS needs all of boot_secure_url, boot_certificate and boot_certificate_key; set what is missing"
            )
        return None
    _private(key, "boot_certificate_key")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(chain, key)
    except (OSError, ssl.SSLError) as error:
        why = getattr(error, "reason", None) or error.strerror
        raise SettingsError(
            f"boot_certificate {chain} with boot_certificate_key {key}: {why}; expected PEM files that belong"
            " together"
        ) from error
    return context


def token(path: Path | None) -> bytes:
    """Return the token of DHCP servers, b"" where none is set and no lease is taken."""
    if path is None:
        return b""
    _private(path, "boot_dhcp_token")
    found = path.read_bytes().strip()
    if not found:
        raise SettingsError(
            f"boot_dhcp_token {path}: it is empty, expected a token; `openssl rand -hex 32` makes one"
        )
    return found


def _private(path: Path, name: str) -> None:
    """Refuse a file with a secret that is not there or that others may read."""
    try:
        found = path.stat()
    except OSError as error:
        raise SettingsError(f"{name} {path}: {error.strerror}; expected a file of mode 0600") from error
    if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise SettingsError(f"{name} {path}: others may read it; `chmod 600 {path}`")
    if not os.access(path, os.R_OK):
        raise SettingsError(f"{name} {path}: it cannot be read; give it to the user of the boot service")


def more_files() -> None:
    """Allow as many connections as the machine lets this process have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if wanted > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
