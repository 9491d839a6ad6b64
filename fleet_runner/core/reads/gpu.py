"""What is asked of a node's GPUs and NVSwitches."""

from fleet_runner.core.evidence import Read, ReadKind

READS = (
    Read("nvidia_smi", ReadKind.COMMAND, ("nvidia-smi", "-q", "-x"), seconds=60.0),
    # DCGM's level 3 takes about a quarter of an hour on eight GPUs; burn_in's deadline is half an hour.
    Read("dcgm_diag", ReadKind.COMMAND, ("dcgmi", "diag", "-r", "3", "-j"), seconds=1500.0),
)
