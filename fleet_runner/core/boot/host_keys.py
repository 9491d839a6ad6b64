"""The ssh host keys that a node told, as lines of a known_hosts file."""

import re
from collections.abc import Iterable

SSH_PORT = 22

_KEY = re.compile(r"(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)) ([A-Za-z0-9+/]{40,2000}={0,2})( .*)?")
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}|[0-9a-fA-F:]{2,39}")


def is_host(name: str) -> bool:
    """Whether a name or an address can be a file's name and stand in such a line: no path, no pattern, no option."""
    return _HOST.fullmatch(name) is not None


def known_hosts(host: str, port: int, keys: Iterable[str]) -> str:
    """Return a line for each key that is one ("ssh-ed25519 AAAA… comment"); what is none is left out."""
    named = host if port == SSH_PORT else f"[{host}]:{port}"
    found = (_KEY.fullmatch(key.strip()) for key in keys)
    return "".join(f"{named} {match[1]} {match[3]}\n" for match in found if match)
