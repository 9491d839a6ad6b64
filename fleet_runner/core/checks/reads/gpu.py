"""What is asked of a node's GPUs and NVSwitches."""

from fleet_runner.core.checks.evidence import Read, ReadKind

FABRIC_MANAGER = (
    "systemctl",
    "show",
    "nvidia-fabricmanager",
    "--property=LoadState,ActiveState,SubState,Result,NRestarts,InactiveExitTimestamp",
)

IMEX = ("systemctl", "show", "nvidia-imex", "--property=LoadState,ActiveState,SubState,Result,NRestarts")

READS = (
    Read("nvidia_smi", ReadKind.COMMAND, ("nvidia-smi", "-q", "-x"), seconds=60.0),
    Read("nvidia_smi_topology", ReadKind.COMMAND, ("nvidia-smi", "topo", "-m"), seconds=60.0, max_bytes=200_000),
    # Which processes are tests of ours (roles/active); FLEET_JOBS names another folder of theirs.
    Read("our_jobs", ReadKind.FILES, ("/run/fleet-runner/jobs/*/processes", "$FLEET_JOBS/*/processes"), seconds=5.0),
    Read("nvlink_status", ReadKind.COMMAND, ("nvidia-smi", "nvlink", "-s"), seconds=60.0, max_bytes=200_000),
    # NVLink 5 counts about forty things of each of 18 links.
    Read("nvlink_errors", ReadKind.COMMAND, ("nvidia-smi", "nvlink", "-e"), seconds=60.0, max_bytes=2_000_000),
    Read("fabric_manager_unit", ReadKind.COMMAND, FABRIC_MANAGER, max_bytes=20_000),
    Read("fabric_manager_version", ReadKind.COMMAND, ("nv-fabricmanager", "--version"), max_bytes=20_000),
    # Of a compute tray of an NVLink domain; the sweep of the domain reads all of its trays.
    Read("imex_unit", ReadKind.COMMAND, IMEX, max_bytes=20_000),
    Read("imex_nodes", ReadKind.FILES, ("/etc/nvidia-imex/nodes_config.cfg",), max_bytes=200_000),
    Read("imex_status", ReadKind.COMMAND, ("nvidia-imex-ctl", "-N", "-j"), max_bytes=2_000_000),
    Read("addresses", ReadKind.COMMAND, ("hostname", "-I"), max_bytes=20_000),
    Read("fabric_manager_log", ReadKind.COMMAND, ("tail", "-c", "200000", "/var/log/fabricmanager.log")),
    # AMD's; it samples for a second or two a GPU.
    Read("amd_smi_static", ReadKind.COMMAND, ("amd-smi", "static", "--json"), seconds=60.0, max_bytes=2_000_000),
    Read("amd_smi_metric", ReadKind.COMMAND, ("amd-smi", "metric", "--json"), seconds=90.0, max_bytes=4_000_000),
    Read("amd_smi_process", ReadKind.COMMAND, ("amd-smi", "process", "--json"), seconds=60.0, max_bytes=4_000_000),
    Read(
        "amd_smi_bad_pages", ReadKind.COMMAND, ("amd-smi", "bad-pages", "--json"), seconds=60.0, max_bytes=4_000_000
    ),
    Read("amd_smi_xgmi", ReadKind.COMMAND, ("amd-smi", "xgmi", "-l", "--json"), seconds=60.0, max_bytes=200_000),
    Read(
        "amd_smi_xgmi_metric", ReadKind.COMMAND, ("amd-smi", "xgmi", "-m", "--json"), seconds=60.0, max_bytes=400_000
    ),
    # Who has memory or a queue of an AMD GPU, as the kernel itself knows it.
    Read(
        "kfd_processes",
        ReadKind.FILES,
        ("/sys/class/kfd/kfd/proc/*/vram_*", "/sys/class/kfd/kfd/proc/*/queues/*/gpuid"),
        seconds=5.0,
    ),
    # Which GPU has which of the driver's numbers, by which AMD's tests name it.
    Read(
        "kfd_topology",
        ReadKind.FILES,
        ("/sys/class/kfd/kfd/topology/nodes/*/gpu_id", "/sys/class/kfd/kfd/topology/nodes/*/properties"),
        seconds=5.0,
    ),
)
