"""What a lab's node does as cloud-init does it: reads its seed, says what it found, and phones home."""

import gzip
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from fleet_runner.lab.folder import write

SOURCE = "ds=nocloud-net;s="
NETWORK = "network-config="
ASKED = ("meta-data", "user-data", "vendor-data")
"""The documents in the order in which cloud-init asks for them; network-config is on the kernel's command line."""

CLOUD_CONFIG = b"#cloud-config"


class NoSeedError(OSError):
    """There is no seed, or it is none that cloud-init can read."""


@dataclass(frozen=True, slots=True)
class Seed:
    """What the node is to be: its meta-data, and user-data over vendor-data."""

    meta: Mapping[str, Any]
    config: Mapping[str, Any]


def seed(arguments: str, get: Callable[[str], bytes], folder: Path) -> Seed:
    """Read the seed that a kernel's command line leads to, and keep its documents in a folder.

    What `get` raises where a document is not to be had goes through.
    """
    words = arguments.split()
    base = next((word.removeprefix(SOURCE) for word in words if word.startswith(SOURCE)), "")
    if not base:
        raise NoSeedError(f"the kernel's command line has no {SOURCE}; it is {arguments!r}")
    folder.mkdir(exist_ok=True)
    found = {name: get(base + name) for name in ASKED}
    network = next((word.removeprefix(NETWORK) for word in words if word.startswith(NETWORK)), "")
    if network:
        found["network-config"] = gzip.decompress(b64decode(network))
    for name, text in found.items():
        write(folder / name, text.decode(), 0o600)
    user, vendor = _config(found["user-data"]), _config(found["vendor-data"])
    return Seed(yaml.safe_load(found["meta-data"]), {**vendor, **user})


def host_key(name: str) -> str:
    """Return a public ssh host key as a stateless node makes one at each boot."""
    kind = b"ssh-ed25519"
    parts = b"".join(len(part).to_bytes(4) + part for part in (kind, secrets.token_bytes(32)))
    return f"{kind.decode()} {b64encode(parts).decode()} root@{name}"


def phone_home(seed: Seed, post: Callable[[str, Mapping[str, str]], object], key: str) -> None:
    """Tell whoever the seed names that the node is up."""
    wanted = seed.config.get("phone_home")
    if not wanted:
        return
    known = {
        "pub_key_ed25519": key,
        "instance_id": str(seed.meta["instance-id"]),
        "hostname": str(seed.meta.get("local-hostname", "localhost")).partition(".")[0],
        "fqdn": str(seed.meta.get("local-hostname", "localhost")),
    }
    fields = known if wanted.get("post", "all") == "all" else wanted["post"]
    url = wanted["url"].replace("$INSTANCE_ID", known["instance_id"])
    post(url, {name: known.get(name, "N/A") for name in fields})


def _config(document: bytes) -> Mapping[str, Any]:
    if not document.startswith(CLOUD_CONFIG):
        raise NoSeedError(f"found a document that begins with {document[:20]!r}, expected {CLOUD_CONFIG!r}")
    found: Mapping[str, Any] = yaml.safe_load(document) or {}
    return found
