"""What is asked of a node's kernel, disks and memory."""

from fleet_runner.core.checks.evidence import Read, ReadKind
from fleet_runner.core.checks.parsers import (
    dmi_files,
    edac,
    kernel_files,
    mounts,
    nvme_files,
    pci_files,
    processes,
    smart,
    systemctl,
)

READS = (
    Read("dmesg", ReadKind.COMMAND, ("dmesg", "--time-format", "iso"), max_bytes=16_000_000),
    # What a kernel that died left in the firmware's store, where it is and where systemd takes it.
    Read("pstore", ReadKind.FILES, ("/sys/fs/pstore/dmesg-*", "/var/lib/systemd/pstore/*/dmesg.txt")),
    Read("uptime", ReadKind.COMMAND, ("env", "TZ=UTC", "uptime", "-s")),
    # Anew with each boot, whatever any clock says.
    Read("boot_id", ReadKind.FILE, path="/proc/sys/kernel/random/boot_id", max_bytes=1000),
    Read("lscpu", ReadKind.COMMAND, ("lscpu", "-J")),
    Read("cpu_microcode", ReadKind.FILES, ("/sys/devices/system/cpu/cpu[0-9]*/microcode/version",)),
    # Slots and their arrays, and the end of the firmware's table, which tells a whole report from a short one.
    Read("dmidecode", ReadKind.COMMAND, ("dmidecode", "-t", "16,17,127")),
    Read("dmi", ReadKind.FILES, dmi_files.PATTERNS),
    Read("meminfo", ReadKind.FILES, ("/proc/meminfo",)),
    Read("nvme_controllers", ReadKind.FILES, nvme_files.PATTERNS),
    Read("nvme_smart", ReadKind.COMMAND, smart.NVME_ARGV, seconds=60.0),
    Read("ata_smart", ReadKind.COMMAND, smart.ATA_ARGV, seconds=60.0),
    Read("findmnt", ReadKind.COMMAND, mounts.FINDMNT_ARGV),
    Read("df", ReadKind.COMMAND, mounts.DF_ARGV),
    Read("edac", ReadKind.FILES, edac.PATTERNS),
    Read("pci_devices", ReadKind.FILES, pci_files.PATTERNS),
    Read("lspci", ReadKind.COMMAND, ("lspci", "-D", "-vvv", "-nn"), seconds=60.0),
    Read("kernel_files", ReadKind.FILES, kernel_files.PATTERNS),
    Read("ldconfig", ReadKind.COMMAND, ("ldconfig", "-p")),
    Read("chronyc", ReadKind.COMMAND, ("chronyc", "-n", "-c", "tracking")),
    Read("timedatectl", ReadKind.COMMAND, ("timedatectl", "show")),
    Read("units", ReadKind.COMMAND, systemctl.ARGV),
    Read("ps", ReadKind.COMMAND, processes.ARGV),
    Read("loads", ReadKind.FILES, ("/proc/loadavg", "/proc/sys/fs/file-nr")),
    Read("cloud_init", ReadKind.COMMAND, ("cloud-init", "status", "--format", "json")),
)
