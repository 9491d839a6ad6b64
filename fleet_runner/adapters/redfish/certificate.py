"""The certificate that a BMC shows, looked at without trust: nothing is sent but the handshake."""

import hashlib
import ssl
from urllib.parse import urlsplit

from fleet_runner.adapters.redfish.connect import connected
from fleet_runner.core.base.errors import BmcError

SECONDS = 10.0


def fingerprint(url: str) -> str:
    """Return the SHA-256 of the certificate that is shown at an address, in hex.

    Raises:
        BmcError: there is no TLS at the address.
    """
    split = urlsplit(url)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    host = split.hostname or ""
    try:
        with (
            connected((host, split.port or 443), SECONDS) as bare,
            context.wrap_socket(bare, server_hostname=host) as shown,
        ):
            found = shown.getpeercert(binary_form=True)
    except (OSError, ValueError) as error:
        raise BmcError(f"{url}: no TLS connection ({error}); check the port, and whether the BMC is old") from None
    return hashlib.sha256(found or b"").hexdigest()
