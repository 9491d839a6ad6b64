"""Writes the images of this example, which only the emulator of BMCs understands."""

import sys
from pathlib import Path

from fleet_runner.lab.redfish.images import write

IMAGES = {
    "bmc_1.06.00.bin": {"BMC": "1.06.00"},
    "bios_2.0.bin": {"BIOS": "2.0"},
    "bios_2.1.bin": {"BIOS": "2.1"},
    "bios_2.2.bin": {"BIOS": "2.2"},
    "hgx_23.04.bin": {"HGX_FW_BMC_0": "HGX-23.04-1", "HGX_FW_GPU_SXM_*": "96.00.BC.00.01"},
    "psu_1.4.bin": {"PSU_*": "1.4"},
    "cpld_F1.00.65.bin": {"CPLD_Motherboard": "F1.00.65"},
}

folder = Path(__file__).parent / "images"
folder.mkdir(exist_ok=True)
for name, versions in IMAGES.items():
    sha256 = write(folder / name, versions, size=1_000_000, board="LAB-HGX-*")
    sys.stdout.write(f"{sha256}  {name}\n")
