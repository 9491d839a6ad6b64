"""Keys of boots: what the addresses of a boot's documents carry instead of a session.

A key is the boot's number and a MAC of it, "17-0123456789abcdef0123456789abcdef". It says which boot a request is
about, and that the address was given out here; it opens nothing by itself.
"""

import hmac
import re

SECRET_BYTES = 32
"""Length of the secret that all boot services of a fleet share."""

_KEY = re.compile(r"([1-9][0-9]{0,17})-([0-9a-f]{32})")


def key_of(secret: bytes, boot: int) -> str:
    """Return the key of a boot."""
    return f"{boot}-{_mac(secret, str(boot))}"


def boot_of(secret: bytes, key: str) -> int | None:
    """Return the number of the boot that a key was made for, or None where the key is not ours."""
    found = _KEY.fullmatch(key)
    if found is None or not hmac.compare_digest(_mac(secret, found[1]), found[2]):
        return None
    return int(found[1])


def _mac(secret: bytes, boot: str) -> str:
    return hmac.digest(secret, boot.encode(), "sha256").hex()[:32]
