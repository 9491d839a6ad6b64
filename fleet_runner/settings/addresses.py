"""An address in a setting that nodes are told: it goes into scripts and on kernel command lines."""

import re
from collections.abc import Callable
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

_URL = re.compile(r"https?://[A-Za-z0-9._~:/\[\]-]+")
"""What needs no quoting wherever nodes are told of it."""


def _one_of(schemes: tuple[str, ...], expected: str) -> Callable[[str], str]:
    """Return what refuses any other URL; "" is none, and stays."""

    def taken(url: str) -> str:
        if url and not (_URL.fullmatch(url) and _has_host(url, schemes)):
            raise PydanticCustomError("address", "{expected}", {"expected": expected})
        return url

    return taken


def _has_host(url: str, schemes: tuple[str, ...]) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets without an address, or a port above 65,535
        return False


Url = Annotated[str, AfterValidator(_one_of(("http", "https"), "expected an address like http://10.0.0.1:8480"))]
TlsUrl = Annotated[
    str, AfterValidator(_one_of(("https",), "expected an address over TLS, like https://boot.example:8443"))
]
