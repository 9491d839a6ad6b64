"""How PCI devices are set, from `lspci -D -vvv -nn`, which only root sees in full."""

import re
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.faults.pci import canonical

MOST = 8192
"""More functions than any server has."""

BRIDGE = "0604"

_HEAD = re.compile(r"(?P<pci>(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (?P<name>[^\n]{0,300})", re.ASCII)
_CLASS = re.compile(r"\[(?P<kind>[0-9a-f]{4})\]: ", re.ASCII)
_ID = re.compile(r"\[(?P<id>[0-9a-f]{4}:[0-9a-f]{4})\]", re.ASCII)
_CONTROL = re.compile(r"\bACSCtl:[ \t]*(SrcValid[+-][^\n]{0,160}DirectTrans[+-])")
_REQUEST = re.compile(r"\bMaxReadReq (\d{2,4}) bytes", re.ASCII)
_PAYLOAD = re.compile(r"\bMaxPayload (\d{2,4}) bytes", re.ASCII)
_RELAXED = re.compile(r"\bRlxdOrd([+-])")
_STEERING = frozenset({"SrcValid+", "ReqRedir+", "CmpltRedir+", "UpstreamFwd+"})


@dataclass(frozen=True, slots=True)
class Set:
    """How one function is set; None where it has no such setting, or was not seen in full.

    `id` is "15b3:1021", `kind` the first four hex digits of its class. `steered` says which of the access controls
    are on that lead traffic between its devices up to the root.
    """

    pci: str
    id: str
    kind: str
    steered: tuple[str, ...] | None
    read_request: int | None
    payload: int | None
    relaxed: bool | None


def parse(text: str) -> tuple[Set, ...]:
    """Return the functions in the bus's order; EvidenceError for a text without any.

    What stands between them, as dumps of their registers do, is passed over.
    """
    blocks = re.split(r"\n(?=\S)", text.replace("\r\n", "\n"))
    heads = [(head, block) for block in blocks if (head := _HEAD.match(block)) is not None]
    if not heads or len(heads) > MOST:
        said = f"{text.strip()[:80]!r}" if not heads else f"{len(heads)} devices"
        raise EvidenceError(f"lspci printed {said}, expected 1 to {MOST} devices")
    return tuple(_set(head, block) for head, block in heads)


def _set(head: re.Match[str], block: str) -> Set:
    address = head["pci"] if head["pci"].count(":") > 1 else f"0000:{head['pci']}"
    kind, ids = _CLASS.search(head["name"]), _ID.findall(head["name"])
    control = _CONTROL.search(block)
    # What it can do (DevCap) is told in the same words as how it is set (DevCtl).
    set_so = block.partition("DevCtl:")[2].partition("DevSta:")[0][:1000]
    request, payload, relaxed = _REQUEST.search(set_so), _PAYLOAD.search(set_so), _RELAXED.search(set_so)
    return Set(
        pci=canonical(address) or address,
        id=ids[-1] if ids else "",
        kind=kind["kind"] if kind else BRIDGE if head["name"].startswith("PCI bridge: ") else "",
        steered=tuple(sorted(_STEERING.intersection(control[1].split()))) if control else None,
        read_request=int(request[1]) if request else None,
        payload=int(payload[1]) if payload else None,
        relaxed=relaxed[1] == "+" if relaxed else None,
    )
