"""What the NVIDIA driver's Xid codes ask for: one row per code that current GPUs log.

Codes, mnemonics and actions are facts of NVIDIA's published Xid catalogue (172 codes, 63 of them unused), read beside
what other operators do with them; the wording is ours. Where the catalogue names no action the row says WATCH. No Xid
alone sends a part back: that takes the GPU's own row-remap or SRAM threshold flag (`gpu_errors`). Where a rule names
the code (`rules.built_in`, or the site's policy), the rule's remedy holds, not this table's.
"""

from typing import NamedTuple

from fleet_runner.core.checks.verdicts import Remedy


class Xid(NamedTuple):
    """A row: the driver's name for the code, what should follow, and what it means."""

    mnemonic: str
    remedy: Remedy
    meaning: str


_RECORD, _WATCH, _RESET, _REBOOT, _TRIAGE = (
    Remedy.RECORD, Remedy.WATCH, Remedy.RESET, Remedy.REBOOT, Remedy.TRIAGE
)  # fmt: skip

FALLEN_OFF_THE_BUS = 79
RECOVERY_ACTION = 154
CLEANED_UP = 45
NVLINK = 74

XIDS: dict[int, Xid] = {
    # The application's own: it ends, the node serves on.
    8: Xid("ROBUST_CHANNEL_FIFO_ERROR_IDLE_TIMEOUT", _RECORD, "a channel stopped making progress"),
    11: Xid("ROBUST_CHANNEL_GR_ERROR_MISSING_HW", _RECORD, "a broken command stream from the application"),
    13: Xid("ROBUST_CHANNEL_GR_EXCEPTION", _RECORD, "the application made the compute engine raise an exception"),
    25: Xid("ROBUST_CHANNEL_GR_ILLEGAL_NOTIFY", _RECORD, "a command stream with an illegal entry"),
    31: Xid("ROBUST_CHANNEL_FIFO_ERROR_MMU_ERR_FLT", _RECORD, "the application touched memory it does not own"),
    32: Xid("ROBUST_CHANNEL_PBDMA_ERROR", _RECORD, "a command stream that the GPU could not decode"),
    37: Xid("ROBUST_CHANNEL_FECS_ERR_UNIMP_FIRMWARE_METHOD", _RECORD, "a method unknown to the GPU's firmware"),
    38: Xid("ROBUST_CHANNEL_FECS_ERR_WATCHDOG_TIMEOUT", _RECORD, "the context switcher's firmware ran late"),
    39: Xid("ROBUST_CHANNEL_CE0_ERROR", _RECORD, "copy engine 0 raised an exception"),
    40: Xid("ROBUST_CHANNEL_CE1_ERROR", _RECORD, "copy engine 1 raised an exception"),
    41: Xid("ROBUST_CHANNEL_CE2_ERROR", _RECORD, "copy engine 2 raised an exception"),
    43: Xid("ROBUST_CHANNEL_RESETCHANNEL_VERIF_ERROR", _RECORD, "the application's channel was reset"),
    44: Xid("ROBUST_CHANNEL_GR_FAULT_DURING_CTXSW", _RECORD, "the compute engine faulted between two contexts"),
    45: Xid("ROBUST_CHANNEL_PREEMPTIVE_REMOVAL", _RECORD, "channels cleaned up after an earlier error"),
    60: Xid("ROBUST_CHANNEL_SEC2_ERROR", _RECORD, "the security engine raised an exception"),
    66: Xid("ROBUST_CHANNEL_FECS_ERR_REG_ACCESS_VIOLATION", _RECORD, "the driver used a register it must not"),
    67: Xid("ROBUST_CHANNEL_FECS_ERR_VERIF_VIOLATION", _RECORD, "the driver's access failed verification"),
    68: Xid("ROBUST_CHANNEL_NVDEC0_ERROR", _RECORD, "video decoder 0 raised an exception"),
    69: Xid("ROBUST_CHANNEL_GR_CLASS_ERROR", _RECORD, "the application used a compute class wrongly"),
    70: Xid("ROBUST_CHANNEL_CE3_ERROR", _RECORD, "copy engine 3 raised an exception"),
    71: Xid("ROBUST_CHANNEL_CE4_ERROR", _RECORD, "copy engine 4 raised an exception"),
    72: Xid("ROBUST_CHANNEL_CE5_ERROR", _RECORD, "copy engine 5 raised an exception"),
    75: Xid("ROBUST_CHANNEL_CE6_ERROR", _RECORD, "copy engine 6 raised an exception"),
    76: Xid("ROBUST_CHANNEL_CE7_ERROR", _RECORD, "copy engine 7 raised an exception"),
    77: Xid("ROBUST_CHANNEL_CE8_ERROR", _RECORD, "copy engine 8 raised an exception"),
    78: Xid("VGPU_START_ERROR", _RECORD, "a virtual GPU did not start: guest and host drivers do not fit"),
    80: Xid("PBDMA_PUSHBUFFER_CRC_MISMATCH", _RECORD, "a command stream arrived with a wrong checksum"),
    82: Xid("ROBUST_CHANNEL_NVJPG0_ERROR", _RECORD, "image decoder 0 raised an exception"),
    83: Xid("ROBUST_CHANNEL_NVDEC1_ERROR", _RECORD, "video decoder 1 raised an exception"),
    84: Xid("ROBUST_CHANNEL_NVDEC2_ERROR", _RECORD, "video decoder 2 raised an exception"),
    85: Xid("ROBUST_CHANNEL_CE9_ERROR", _RECORD, "copy engine 9 raised an exception"),
    86: Xid("ROBUST_CHANNEL_OFA0_ERROR", _RECORD, "the optical flow engine raised an exception"),
    88: Xid("ROBUST_CHANNEL_NVDEC3_ERROR", _RECORD, "video decoder 3 raised an exception"),
    89: Xid("ROBUST_CHANNEL_NVDEC4_ERROR", _RECORD, "video decoder 4 raised an exception"),
    96: Xid("ROBUST_CHANNEL_NVDEC5_ERROR", _RECORD, "video decoder 5 raised an exception"),
    97: Xid("ROBUST_CHANNEL_NVDEC6_ERROR", _RECORD, "video decoder 6 raised an exception"),
    98: Xid("ROBUST_CHANNEL_NVDEC7_ERROR", _RECORD, "video decoder 7 raised an exception"),
    99: Xid("ROBUST_CHANNEL_NVJPG1_ERROR", _RECORD, "image decoder 1 raised an exception"),
    100: Xid("ROBUST_CHANNEL_NVJPG2_ERROR", _RECORD, "image decoder 2 raised an exception"),
    101: Xid("ROBUST_CHANNEL_NVJPG3_ERROR", _RECORD, "image decoder 3 raised an exception"),
    102: Xid("ROBUST_CHANNEL_NVJPG4_ERROR", _RECORD, "image decoder 4 raised an exception"),
    103: Xid("ROBUST_CHANNEL_NVJPG5_ERROR", _RECORD, "image decoder 5 raised an exception"),
    104: Xid("ROBUST_CHANNEL_NVJPG6_ERROR", _RECORD, "image decoder 6 raised an exception"),
    105: Xid("ROBUST_CHANNEL_NVJPG7_ERROR", _RECORD, "image decoder 7 raised an exception"),
    106: Xid("SMBPBI_TEST_MESSAGE", _RECORD, "a test message of the out-of-band interface"),
    107: Xid("SMBPBI_TEST_MESSAGE_SILENT", _RECORD, "a silent test message of the out-of-band interface"),
    126: Xid("ROBUST_CHANNEL_CE10_ERROR", _RECORD, "copy engine 10 raised an exception"),
    127: Xid("ROBUST_CHANNEL_CE11_ERROR", _RECORD, "copy engine 11 raised an exception"),
    128: Xid("ROBUST_CHANNEL_CE12_ERROR", _RECORD, "copy engine 12 raised an exception"),
    129: Xid("ROBUST_CHANNEL_CE13_ERROR", _RECORD, "copy engine 13 raised an exception"),
    130: Xid("ROBUST_CHANNEL_CE14_ERROR", _RECORD, "copy engine 14 raised an exception"),
    131: Xid("ROBUST_CHANNEL_CE15_ERROR", _RECORD, "copy engine 15 raised an exception"),
    132: Xid("ROBUST_CHANNEL_CE16_ERROR", _RECORD, "copy engine 16 raised an exception"),
    133: Xid("ROBUST_CHANNEL_CE17_ERROR", _RECORD, "copy engine 17 raised an exception"),
    134: Xid("ROBUST_CHANNEL_CE18_ERROR", _RECORD, "copy engine 18 raised an exception"),
    135: Xid("ROBUST_CHANNEL_CE19_ERROR", _RECORD, "copy engine 19 raised an exception"),
    137: Xid("NVLINK_PRIV_ERR", _RECORD, "an NVLink peer refused an access, mostly after an application's fault"),
    139: Xid("ROBUST_CHANNEL_OFA1_ERROR", _RECORD, "the second optical flow engine raised an exception"),
    141: Xid("ROBUST_CHANNEL_FAST_PATH_ERROR", _RECORD, "CUDA's fast path met an error"),
    152: Xid("ROBUST_CHANNEL_DLA_SMMU_ERROR", _RECORD, "the deep learning accelerator touched foreign memory"),
    153: Xid("ROBUST_CHANNEL_DLA_TIMEOUT", _RECORD, "the deep learning accelerator ran late"),
    160: Xid("CHANNEL_RETIREMENT_EVENT", _RECORD, "a memory channel is retired"),
    170: Xid("NVLINK_SECURE_OTHER", _RECORD, "an NVLink interrupt while confidential computing is on"),
    # Memory: what follows is decided by the row-remap and SRAM flags that gpu_errors reads.
    48: Xid("ROBUST_CHANNEL_GPU_ECC_DBE", _RESET, "a memory error that ECC could not correct"),
    63: Xid("INFOROM_DRAM_RETIREMENT_EVENT", _RECORD, "a memory row is to be remapped at the next reset"),
    64: Xid("INFOROM_DRAM_RETIREMENT_FAILURE", _RESET, "a memory row could not be remapped"),
    92: Xid("EXCESSIVE_SBE_INTERRUPTS", _WATCH, "corrected memory errors come often"),
    93: Xid("INFOROM_ERASE_LIMIT_EXCEEDED", _RECORD, "the GPU's settings memory was rewritten too often"),
    94: Xid("ROBUST_CHANNEL_CONTAINED_ERROR", _RECORD, "a memory error that ended only its own application"),
    95: Xid("ROBUST_CHANNEL_UNCONTAINED_ERROR", _RESET, "a memory error that may have reached other applications"),
    140: Xid("UNRECOVERABLE_ECC_ERROR_ESCAPE", _RESET, "a memory error that ECC could not recover"),
    156: Xid("RESOURCE_RETIREMENT_EVENT", _RESET, "a part of the GPU is to be retired at the next reset"),
    157: Xid("RESOURCE_RETIREMENT_FAILURE", _WATCH, "a part of the GPU could not be retired"),
    159: Xid("ROBUST_CHANNEL_CHI_NON_DATA_ERROR", _WATCH, "an error on the link between GPU and CPU caches"),
    161: Xid("CHANNEL_RETIREMENT_FAILURE", _WATCH, "a memory channel could not be retired"),
    168: Xid("REDUCED_GPU_MEMORY_CAPACITY", _REBOOT, "protected memory is damaged: less memory until the next boot"),
    171: Xid("UNCORRECTABLE_DRAM_ERROR", _RECORD, "says that the accompanying Xid 48 was in DRAM"),
    172: Xid("UNCORRECTABLE_SRAM_ERROR", _RECORD, "says that the accompanying Xid 48 was in SRAM"),
    # The GPU itself stopped: a reset brings it back.
    46: Xid("ROBUST_CHANNEL_GPU_TIMEOUT_ERROR", _RESET, "the GPU stopped processing"),
    62: Xid("PMU_HALT_ERROR", _RESET, "the GPU's power controller halted"),
    109: Xid("ROBUST_CHANNEL_CTXSW_TIMEOUT_ERROR", _RESET, "switching between two contexts never ended"),
    110: Xid("SEC_FAULT_ERROR", _RESET, "the GPU locked itself after a security fault"),
    119: Xid("GSP_RPC_TIMEOUT", _RESET, "the GPU's system processor does not answer the driver"),
    120: Xid("GSP_ERROR", _RESET, "the GPU's system processor failed"),
    142: Xid("ROBUST_CHANNEL_NVENC3_ERROR", _WATCH, "video encoder 3 raised an exception"),
    143: Xid("GPU_INIT_ERROR", _RESET, "the GPU did not initialise"),
    158: Xid("GPU_FATAL_TIMEOUT", _RESET, "the GPU ran into a fatal time limit"),
    167: Xid("PCIE_FATAL_TIMEOUT", _WATCH, "an access over PCIe ran into a fatal time limit"),
    169: Xid("SEC2_HALT_ERROR", _WATCH, "the GPU's security controller halted"),
    # Links.
    74: Xid("NVLINK_ERROR", _WATCH, "an NVLink error: the NVSwitch's own messages say which side"),
    121: Xid("C2C_ERROR", _RECORD, "an error, corrected, on the link between GPU and CPU"),
    136: Xid("ALI_TRAINING_FAIL", _RESET, "an NVLink did not train"),
    144: Xid("NVLINK_SAW_ERROR", _WATCH, "an NVLink 5 error in the crossbar's access logic"),
    145: Xid("NVLINK_RLW_ERROR", _WATCH, "an NVLink 5 error in the receiving link's logic"),
    146: Xid("NVLINK_TLW_ERROR", _WATCH, "an NVLink 5 error in the transmitting link's logic"),
    147: Xid("NVLINK_TREX_ERROR", _WATCH, "an NVLink 5 error in the transport layer"),
    148: Xid("NVLINK_NVLPW_CTRL_ERROR", _WATCH, "an NVLink 5 error in the port's control"),
    149: Xid("NVLINK_NETIR_ERROR", _WATCH, "an NVLink 5 event: a link went down or its error rate rose"),
    150: Xid("NVLINK_MSE_ERROR", _WATCH, "an NVLink 5 error in the management engine"),
    155: Xid("NVLINK_SW_DEFINED_ERROR", _RESET, "an NVLink error that software declared"),
    166: Xid("NVLINK_SECURE_CRYPTO_ERR", _WATCH, "encrypted NVLink traffic before the link was ready for it"),
    # Power and the node.
    54: Xid("SILENT_RUNNING_PWR_REDUCED_CLOCKING", _TRIAGE, "the GPU board lacks its auxiliary power"),
    79: Xid("ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS", _REBOOT, "the GPU has fallen off the bus"),
    151: Xid("ROBUST_CHANNEL_KEY_ROTATION_ERROR", _REBOOT, "a confidential computing key could not be renewed"),
    154: Xid(
        "GPU_RECOVERY_ACTION_CHANGED", _RECORD, "the driver asks for another recovery action; its text says which"
    ),
    162: Xid("PSHC_REENGAGED", _RECORD, "power smoothing works again"),
    163: Xid("PSHC_DISENGAGED", _RECORD, "power smoothing is off"),
    164: Xid("PSHC_LOW_LIFETIME", _RECORD, "power smoothing nears the end of its life"),
    165: Xid("PSHC_ZERO_LIFETIME", _WATCH, "power smoothing is worn out"),
}

UNKNOWN = Xid("", Remedy.RECORD, "not in the table")
"""What is known about any other code: a new driver's number must not take nodes out of service."""

APPLICATION = frozenset({8, 11, 13, 25, 31, 32, 43, 45, 69})
"""Codes of which the catalogue blames the application, and 45, which only cleans up after another error."""

OF_APPLICATIONS = frozenset(f"xid.{code}" for code in APPLICATION)
"""The same, as faults are named."""

NVLINK5 = frozenset(range(144, 151))
"""Codes whose line carries its own severity; the meaning of their bits changed with driver R575."""

RECOVERY: dict[str, Remedy] = {
    "None": Remedy.RECORD,
    "Reset": Remedy.RESET,
    "GPU Reset Required": Remedy.RESET,
    "Reboot": Remedy.REBOOT,
    "Node Reboot Required": Remedy.REBOOT,
    "Drain P2P": Remedy.WATCH,
    "Drain and Reset": Remedy.RESET,
}
"""The driver's recovery actions, as Xid 154 and nvidia-smi's gpu_recovery_action spell them."""


def row(code: int) -> Xid:
    """Return what is known about a code."""
    return XIDS.get(code, UNKNOWN)
