"""What the kernel of a lab's node tells in files: its memory controllers, as EDAC counts for them since the boot.

They lie under the node's own root, where a node's files are looked for (FLEET_ROOT).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fleet_runner.lab.folder import Lab, write

ROOT = "root"
"""Where the files of a node begin, in its folder."""

EDAC = "sys/devices/system/edac/mc"
CONTROLLERS, CHANNELS = 4, 2

DIMMS: Mapping[str, str] = {
    f"CPU_SrcID#0_MC#{mc}_Chan#{channel}_DIMM#0": f"{EDAC}/mc{mc}/dimm{channel}"
    for mc in range(CONTROLLERS)
    for channel in range(CHANNELS)
}
"""The modules of one socket as i10nm_edac names them, and the folder of each."""


def write_files(lab: Lab, name: str, faults: Mapping[str, Any]) -> None:
    """Write a node's files as they are with these faults; what says the same already stays."""
    for path, text in _edac(faults.get("dimm_errors", {}).get("dimm", "")):
        file = lab.node(name) / ROOT / path
        if not file.is_file() or file.read_text("utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            write(file, text)


def _edac(bad: str) -> Iterator[tuple[str, str]]:
    for mc in range(CONTROLLERS):
        mine = f"{EDAC}/mc{mc}/"
        erred = DIMMS.get(bad, "").startswith(mine)
        counts = {"ce_count": 0, "ue_count": int(erred), "ce_noinfo_count": 0, "ue_noinfo_count": 0}
        yield f"{mine}mc_name", f"Intel_10nm Socket#0 IMC#{mc}\n"
        yield from ((f"{mine}{name}", f"{count}\n") for name, count in counts.items())
    for at, (label, folder) in enumerate(DIMMS.items()):
        yield f"{folder}/dimm_label", f"{label}\n"
        yield f"{folder}/dimm_location", f"channel {at % CHANNELS} slot 0 \n"
        yield f"{folder}/dimm_ce_count", "0\n"
        yield f"{folder}/dimm_ue_count", f"{int(label == bad)}\n"
