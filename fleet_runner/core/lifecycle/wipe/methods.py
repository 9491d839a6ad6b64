"""The table of ways to erase a device: what each does, by which commands, and what is asked until it is done."""

from enum import StrEnum
from typing import NamedTuple

PASSWORD = "fleet-runner"  # noqa: S105  no secret: ATA wants one for an erase, which forgets it again
"""The password that an ATA disk is given for its erase. A disk that was cut off in between is known by it."""


class Method(StrEnum):
    """How a device is erased."""

    SANITIZE_CRYPTO = "sanitize_crypto"
    SANITIZE_BLOCK = "sanitize_block"
    FORMAT_CRYPTO = "format_crypto"
    FORMAT_ERASE = "format_erase"
    ATA_ENHANCED = "ata_enhanced"
    ATA_ERASE = "ata_erase"
    SECURE_DISCARD = "secure_discard"
    OVERWRITE = "overwrite"
    TPM_CLEAR = "tpm_clear"


class MethodRow(NamedTuple):
    """One row of the table of methods.

    `steps` are commands, one after the other; "{path}" is the block device. `whole` ones erase all namespaces of a
    drive at once, others are repeated for each. `poll` asks how far it is, again and again while the answer
    holds the text `while_`. `zeroes`: everything reads as zero afterwards.
    """

    meaning: str
    steps: tuple[tuple[str, ...], ...]
    whole: bool = False
    poll: tuple[str, ...] = ()
    while_: str = ""
    zeroes: bool = False


LOG = ("nvme", "sanitize-log", "{path}", "-o", "json")
"""Tells of the last sanitize, and of one that runs: it survives resets, and nothing but its end ends it."""

RUNNING = '"(2) '
"""What that log says while a sanitize runs."""

SET_PASSWORD = "--security-set-pass"  # noqa: S105  an option of hdparm
_HDPARM = ("hdparm", "--user-master", "u")

WAYS: dict[Method, MethodRow] = {
    Method.SANITIZE_CRYPTO: MethodRow("NVMe Sanitize: the drive forgets the key of all data, spare blocks included.",
                                (("nvme", "sanitize", "{path}", "-a", "4"),), whole=True, poll=LOG, while_=RUNNING),
    Method.SANITIZE_BLOCK: MethodRow("NVMe Sanitize: the drive erases every block, spare ones included.",
                               (("nvme", "sanitize", "{path}", "-a", "2"),), whole=True, poll=LOG, while_=RUNNING),
    Method.FORMAT_CRYPTO: MethodRow("NVMe Format: the drive forgets the key of the namespace.",
                              (("nvme", "format", "{path}", "-s", "2", "--force"),)),
    Method.FORMAT_ERASE: MethodRow("NVMe Format: the drive erases the namespace's user data.",
                             (("nvme", "format", "{path}", "-s", "1", "--force"),)),
    Method.ATA_ENHANCED: MethodRow("ATA Security Erase, enhanced: reallocated sectors included.", (
        (*_HDPARM, SET_PASSWORD, PASSWORD, "{path}"),
        (*_HDPARM, "--security-erase-enhanced", PASSWORD, "{path}"),
    )),
    Method.ATA_ERASE: MethodRow("ATA Security Erase: everything that can be addressed.", (
        (*_HDPARM, SET_PASSWORD, PASSWORD, "{path}"),
        (*_HDPARM, "--security-erase", PASSWORD, "{path}"),
    )),
    Method.SECURE_DISCARD: MethodRow("Secure discard of the whole device.",
                               (("blkdiscard", "--force", "--secure", "{path}"),)),
    Method.OVERWRITE: MethodRow("Overwritten, once with noise and once with zeroes; spare blocks keep their data.",
                          (("shred", "--force", "--iterations=1", "--zero", "{path}"),), zeroes=True),
    Method.TPM_CLEAR: MethodRow("TPM2_Clear: what the storage and endorsement hierarchies made or keep is gone.",
                          (("tpm2_clear",),), whole=True),
}  # fmt: skip

UNLOCK = (*_HDPARM, "--security-unlock", PASSWORD, "{path}")
"""Comes before the erase of a disk that was given the password by an erase that was cut off."""

USUAL = (
    Method.SANITIZE_CRYPTO,
    Method.SANITIZE_BLOCK,
    Method.FORMAT_CRYPTO,
    Method.FORMAT_ERASE,
    Method.ATA_ENHANCED,
    Method.ATA_ERASE,
)
"""The order in which a disk's methods are tried unless the profile says another; what is not in it must be named."""

OF_DISKS = frozenset(Method) - {Method.TPM_CLEAR}

IDENTITY_KEY = ("tpm2_createprimary", "-C", "o", "-G", "ecc", "-c", "/dev/null")
"""Prints the public part of the key that a TPM derives from its storage seed: another one, once it was cleared."""
