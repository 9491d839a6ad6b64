"""iPXE's scripts: the first one, the one that boots, and the one that waits. All of them end in asking again.

iPXE splits a line into words, obeys `&&`, `||` and `#` among them, and replaces `${…}` anywhere: whatever comes from
elsewhere is therefore either spelled out of harmless characters (texts) or refused (addresses and arguments).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.boot.network import packed

WAIT_SECONDS = 20
"""How long a machine waits before it asks again."""

LINE_LIMIT = 2000
"""Longest kernel command line that is made here: x86 kernels keep 2,047 characters of it."""

INITRD = "initrd.img"
"""What the initial file system is called between iPXE and the kernel, which finds it by `initrd=`."""

SAYS = {
    "mac": "netX/mac",
    "uuid": "uuid",
    "serial": "serial:uristring",
    "manufacturer": "manufacturer:uristring",
    "product": "product:uristring",
    "asset": "asset:uristring",
    "arch": "buildarch",
    "platform": "platform",
}
"""What a machine says of itself, and the iPXE setting it has it from; netX is the interface that it boots from."""

_HARMLESS = re.compile(r"[^A-Za-z0-9 .,:;()/_+=@-]")
_WORD = re.compile(r"(?!#|&&$|\|\|$)[!-~]+")


@dataclass(frozen=True, slots=True)
class Kernel:
    """What a script boots: a title for the console, the addresses of the two files, and the command line."""

    title: str
    kernel: str
    initrd: str
    line: str


def first(url: str) -> bytes:
    """Return the script that every machine gets: it says what the machine is, and asks for its own script."""
    says = "&".join(f"{name}=${{{setting}}}" for name, setting in SAYS.items())
    return _lines(
        "#!ipxe",
        ":ask",
        f"chain --replace {_word(url)}/ipxe?{says} || goto again",
        *_again(url, "The boot service does not answer."),
    )


def boots(what: Kernel, url: str) -> bytes:
    """Return the script that boots a node; where that fails, it asks again."""
    return _lines(
        "#!ipxe",
        f"echo {harmless(what.title)}",
        f"kernel --name kernel {_word(what.kernel)} {what.line} || goto again",
        f"initrd --name {INITRD} {_word(what.initrd)} || goto again",
        "boot || goto again",
        *_again(url, "The image could not be loaded."),
    )


def waits(sentence: str, url: str) -> bytes:
    """Return the script that says why a machine gets nothing, waits, and asks again."""
    return _lines("#!ipxe", *_again(url, sentence))


def command_line(seed: str, network_config: bytes, arguments: Iterable[str]) -> str:
    """Return a kernel's command line: arguments, and where cloud-init finds its seed.

    cloud-init before 23.1 does not ask a seed for network-config, so it comes on the line too where it fits.

    Raises:
        FleetError: an argument cannot be given through iPXE, or there are too many.
    """
    words = [_word(word) for word in (*arguments, f"initrd={INITRD}", f"ds=nocloud-net;s={seed}")]
    line = " ".join(words)
    if len(line) > LINE_LIMIT:
        raise FleetError(f"kernel arguments of {len(line)} characters, expected at most {LINE_LIMIT}; shorten them")
    with_network = f"{line} network-config={packed(network_config)}"
    return with_network if len(with_network) <= LINE_LIMIT else line


def harmless(text: str) -> str:
    """Return text that iPXE shows as it stands."""
    return " ".join(_HARMLESS.sub("?", text).split())


def _again(url: str, sentence: str) -> tuple[str, ...]:
    return (
        ":again",
        "echo",
        f"echo {harmless(sentence)}",
        f"echo It is asked again in {WAIT_SECONDS} seconds.",
        f"sleep {WAIT_SECONDS}",
        f"chain --replace {_word(url)}/boot.ipxe || goto again",
    )


def _word(text: str) -> str:
    if _WORD.fullmatch(text) is None or "${" in text:
        raise FleetError(f"{text!r} cannot stand in an iPXE script: expected one word of ASCII without ${{ or #")
    return text


def _lines(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("ascii")
