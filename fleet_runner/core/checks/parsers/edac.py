"""Memory errors that the kernel's EDAC counted since it booted, from /sys/devices/system/edac/mc."""

import re
from dataclasses import dataclass

from fleet_runner.core.checks.parsers.files import Files, below, whole, word

FOLDER = "/sys/devices/system/edac/mc"

PATTERNS = (
    *(f"{FOLDER}/mc*/{name}" for name in ("mc_name", "ce_count", "ue_count", "ce_noinfo_count", "ue_noinfo_count")),
    *(
        f"{FOLDER}/mc*/{kind}[0-9]*/dimm_{name}"
        for kind in ("dimm", "rank")
        for name in ("label", "location", "ce_count", "ue_count")
    ),
)
"""What must be read."""

_PART = re.compile(r"(?:dimm|rank)[0-9]{1,4}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Counted:
    """Errors of one module, or of a controller that could not tell which module; None where a count was not read.

    `key` is its place in the kernel's files ("mc0/dimm2"); `label` what the board or the driver calls it.
    """

    key: str
    label: str
    location: str
    corrected: int | None
    uncorrected: int | None

    @property
    def component(self) -> str:
        """Return how findings name it."""
        return f"DIMM {self.label or self.key}" if "/" in self.key else f"memory controller {self.key}"


def counted(found: Files) -> tuple[Counted, ...]:
    """Return what was counted, controller by controller: first what no module is blamed for, then its modules."""
    rows: list[Counted] = []
    for name, each in sorted(below(found, FOLDER).items()):
        if "ce_count" not in each and "ue_count" not in each:
            continue
        parts = sorted({path.partition("/")[0] for path in each if _PART.fullmatch(path.partition("/")[0])})
        if parts:
            lost = (whole(each.get("ce_noinfo_count")), whole(each.get("ue_noinfo_count")))
        else:
            lost = (whole(each.get("ce_count")), whole(each.get("ue_count")))
        rows.append(Counted(name[:20], "", word(each.get("mc_name")), *lost))
        rows += [_module(f"{name[:20]}/{part}", part, each) for part in parts]
    return tuple(rows)


def _module(key: str, part: str, each: Files) -> Counted:
    return Counted(
        key=key,
        label=word(each.get(f"{part}/dimm_label"))[:60],
        location=word(each.get(f"{part}/dimm_location")),
        corrected=whole(each.get(f"{part}/dimm_ce_count")),
        uncorrected=whole(each.get(f"{part}/dimm_ue_count")),
    )
