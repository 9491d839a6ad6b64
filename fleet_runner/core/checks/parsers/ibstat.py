"""What `ibstat` and `ibstat -l` say about a node's own HCAs."""

import re
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError

MAX_HCAS = 128
"""More HCAs than any server has: a report with more is not a report."""

_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_HEAD = re.compile(r"CA '([A-Za-z0-9_.:-]{1,64})'")
_GUID = re.compile(r"0x([0-9a-fA-F]{1,16})")


@dataclass(frozen=True, slots=True)
class Hca:
    """One HCA. `guid` is its first port's GUID, 16 lower-case hex digits; `link_layer` as ibstat spells it."""

    name: str
    kind: str
    firmware: str
    guid: str
    link_layer: str


def parse(text: str) -> tuple[Hca, ...]:
    """Read the report; EvidenceError for a record that is not whole.

    The report has no end mark: a record that is missing altogether only shows beside `names`.
    """
    blocks = re.split(r"^(?=CA ')", text, flags=re.MULTILINE)
    if blocks[0].strip():
        raise EvidenceError(f"ibstat printed {blocks[0].strip().splitlines()[0]!r:.120}, expected its HCAs")
    if len(blocks) - 1 > MAX_HCAS:
        raise EvidenceError(f"ibstat lists {len(blocks) - 1} HCAs, expected at most {MAX_HCAS}")
    found = tuple(_hca(block) for block in blocks[1:])
    if len({hca.name for hca in found}) != len(found):
        raise EvidenceError("ibstat describes one HCA twice; read it again")
    return found


def names(text: str) -> tuple[str, ...]:
    """Read the list of names that `ibstat -l` prints."""
    found = tuple(line.strip() for line in text.split("\n") if line.strip())
    if len(found) > MAX_HCAS or not all(_NAME.fullmatch(name) for name in found):
        raise EvidenceError(f"ibstat -l printed {text.strip()!r:.120}, expected a name of an HCA on each line")
    return found


def _hca(block: str) -> Hca:
    head, _, rest = block.partition("\n")
    name = _HEAD.fullmatch(head.strip())
    fields: dict[str, str] = {}
    for line in rest.split("\n"):
        key, _, value = line.strip().partition(": ")
        fields.setdefault(key, value.strip())
    guid = _GUID.fullmatch(fields.get("Port GUID", ""))
    # The link layer is the last line of a port: with it the record is whole.
    if name is None or guid is None or fields.get("Link layer") not in {"InfiniBand", "Ethernet"}:
        raise EvidenceError(f"ibstat's record {head.strip()!r:.80} is not whole; was the report cut short?")
    return Hca(
        name=name[1],
        kind=fields.get("CA type", ""),
        firmware=fields.get("Firmware version", ""),
        guid=guid[1].lower().zfill(16),
        link_layer=fields["Link layer"],
    )
