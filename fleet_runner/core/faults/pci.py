"""PCI addresses: one spelling, whoever prints them."""

import re

_ADDRESS = re.compile(r"([0-9a-f]{4}|[0-9a-f]{8}):([0-9a-f]{2}):([0-9a-f]{2})(?:\.([0-7]))?", re.IGNORECASE)


def canonical(text: str) -> str | None:
    """Return "0000:9b:00.0" for "00000000:9B:00.0", "0000:9b:00" and the like; None for anything else.

    nvidia-smi prints eight digits of domain in upper case, the kernel four in lower case, the driver no function.
    """
    found = _ADDRESS.fullmatch(text.strip())
    if found is None:
        return None
    domain, bus, device, function = found.groups(default="0")
    return f"{int(domain, 16):04x}:{bus}:{device}.{function}".lower()
