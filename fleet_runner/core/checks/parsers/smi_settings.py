"""What nvidia-smi's XML says of how a GPU is set up."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass

from fleet_runner.core.checks.parsers.smi_fields import first, switch, tally


@dataclass(frozen=True, slots=True)
class Settings:
    """Modes as they are and, where a change waits for a reset or reboot, as they will be; None where it is not told.

    `compute_mode` is "Default" where several processes may share the GPU; `addressing_mode` "HMM" or "ATS" where it
    reaches the host's memory. `gsp_firmware` is the version that its system processor runs.
    `confidential_mib` is the memory that confidential computing protects: none where it is off. `compute_partition`
    ("SPX", "CPX") and `memory_partition` ("NPS1") are AMD's.
    """

    persistence: bool | None
    ecc: bool | None
    ecc_pending: bool | None
    mig: bool | None
    mig_pending: bool | None
    compute_mode: str | None
    addressing_mode: str | None
    gsp_firmware: str | None
    inforom_image: str | None
    confidential_mib: int | None
    compute_partition: str | None = None
    memory_partition: str | None = None


def read(element: ET.Element) -> Settings:
    """Read a GPU's settings; what is none of its values is not told."""
    return Settings(
        persistence=switch(element, "persistence_mode"),
        ecc=switch(element, "ecc_mode/current_ecc"),
        ecc_pending=switch(element, "ecc_mode/pending_ecc"),
        mig=switch(element, "mig_mode/current_mig"),
        mig_pending=switch(element, "mig_mode/pending_mig"),
        compute_mode=first(element, "compute_mode"),
        addressing_mode=first(element, "addressing_mode"),
        gsp_firmware=first(element, "gsp_firmware_version"),
        inforom_image=first(element, "inforom_version/img_version"),
        confidential_mib=tally(element, "cc_protected_memory_usage/total"),
    )
