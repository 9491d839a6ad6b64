"""What nvidia-smi's XML says of a GPU's PCIe link."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass

from fleet_runner.core.checks.parsers.smi_fields import tally


@dataclass(frozen=True, slots=True)
class Link:
    """The link as it is and as it could be; None where the tool gives no value.

    An idle GPU lowers `generation` to save power, and raises it again with its load; `width` it keeps. The most that
    GPU and slot reach together is `generation_max`: what the tool says of the host alone is wrong on some boards (a
    GB300 says 4 beside a link that runs at 6) and not read. `replays` and `rollovers` count since the driver was
    loaded.
    """

    generation: int | None
    generation_max: int | None
    width: int | None
    width_max: int | None
    replays: int | None
    rollovers: int | None


def read(element: ET.Element) -> Link:
    """Read a GPU's link; what is no number is not told."""
    generations, widths = "pci/pci_gpu_link_info/pcie_gen/", "pci/pci_gpu_link_info/link_widths/"
    return Link(
        generation=tally(element, generations + "current_link_gen"),
        generation_max=tally(element, generations + "max_link_gen"),
        width=tally(element, widths + "current_link_width"),
        width_max=tally(element, widths + "max_link_width"),
        replays=tally(element, "pci/replay_counter"),
        rollovers=tally(element, "pci/replay_rollover_counter"),
    )
