"""What a TPM says of itself, as `tpm2_getcap` prints it."""

import re
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError

_FLAG = re.compile(r"^  (\w+):\s+([01])$", re.MULTILINE)
_VALUE = re.compile(r'^(TPM2_PT_\w+):\n(?:  raw: (\S+)\n)?(?:  value: "?([^"\n]*)"?)?', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Locks:
    """What stands in the way of clearing a TPM."""

    lockout_password: bool
    clear_disabled: bool
    locked_out: bool


def locks(text: str) -> Locks:
    """Read `tpm2_getcap properties-variable`."""
    told = {name: value == "1" for name, value in _FLAG.findall(text)}
    if not {"lockoutAuthSet", "disableClear", "inLockout"} <= told.keys():
        raise EvidenceError("tpm2_getcap properties-variable: it lacks TPM2_PT_PERMANENT; was it cut short?")
    return Locks(told["lockoutAuthSet"], told["disableClear"], told["inLockout"])


def identity(text: str) -> tuple[str, str]:
    """Read `tpm2_getcap properties-fixed`: who made the TPM, and the version of its firmware in hexadecimal."""
    told = {name: (raw, value) for name, raw, value in _VALUE.findall(text)}
    maker = told.get("TPM2_PT_MANUFACTURER", ("", ""))[1]
    versions = (told.get(f"TPM2_PT_FIRMWARE_VERSION_{part}", ("", ""))[0] for part in (1, 2))
    return maker.strip(), ".".join(each.removeprefix("0x") for each in versions if each)
