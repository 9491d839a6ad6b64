"""Keys of boots: what the addresses of a boot's documents carry instead of a session.

A key is the boot's number, when it was armed, and a MAC of both: "17-19b3a1c2d00-0123456789abcdef0123456789abcdef".
It says which boot a request is about, and that the address was given out here; it opens nothing by itself. The moment
tells apart two boots of one number, where a store was restored and counts its boots anew.
"""

import hmac
import re

SECRET_BYTES = 32
"""Length of the secret that all boot services of a fleet share."""

_KEY = re.compile(r"(([1-9][0-9]{0,17})-[0-9a-f]{1,12})-([0-9a-f]{32})")


def key_of(secret: bytes, boot: int, armed_at: float) -> str:
    """Return the key of a boot."""
    what = f"{boot}-{int(armed_at * 1000):x}"
    return f"{what}-{_mac(secret, what)}"


def boot_of(secret: bytes, key: str) -> int | None:
    """Return the number of the boot that a key was made for, or None where the key is not ours."""
    found = _KEY.fullmatch(key)
    if found is None or not hmac.compare_digest(_mac(secret, found[1]), found[3]):
        return None
    return int(found[2])


def _mac(secret: bytes, what: str) -> str:
    return hmac.digest(secret, what.encode(), "sha256").hex()[:32]
