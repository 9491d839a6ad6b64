"""The firmware images of the lab's servers: small, the same in every lab, and understood by its BMCs."""

from collections.abc import Mapping

from fleet_runner.lab.folder import Lab
from fleet_runner.lab.hardware import FIRMWARE
from fleet_runner.lab.redfish import images

FILES: Mapping[str, str] = {
    "bmc.bin": "BMC",
    "bios.bin": "BIOS",
    "cpld.bin": "CPLD_Motherboard",
    "gpu.bin": "HGX_FW_GPU_SXM_*",
    "hca.bin": "NIC_*",
}
"""What each image is for: a glob over the ids of the inventory."""

BYTES = 65_536


def write_images(lab: Lab) -> dict[str, str]:
    """Write the images that bring a server to what a healthy one has; return the SHA-256 of each file."""
    folder = lab.root / "state" / "firmware"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    first = {glob: glob.replace("NIC_*", "NIC_0").replace("SXM_*", "SXM_1") for glob in FILES.values()}
    return {
        file: images.write(folder / file, {glob: FIRMWARE[first[glob]]}, size=BYTES) for file, glob in FILES.items()
    }
