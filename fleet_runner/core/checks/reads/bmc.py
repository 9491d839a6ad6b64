"""What is asked of a node's BMC, over Redfish."""

from fleet_runner.core.checks.evidence import Read, ReadKind
from fleet_runner.core.firmware.boot_settings import PATTERNS

CHASSIS = "/redfish/v1/Chassis/*!HGX_*"
"""The chassis of the server itself: what is in the GPU baseboard's many, its GPUs tell of themselves."""

EVENTS = "*=SEL,Sel,EventLog,Log1,IML,PlatformLog"
"""The logs of a system in which its faults are, by the names that vendors give them: AMI, Dell, OpenBMC, Supermicro,
HPE, Lenovo. Journals, audits and dumps are left out: they are long, and about other things."""

SUPPLIES = (
    f"{CHASSIS}/PowerSubsystem",
    f"{CHASSIS}/PowerSubsystem/PowerSupplies/*",
    f"{CHASSIS}/PowerSubsystem/PowerSupplies/*/Metrics",
)

SENSORS = (
    f"{CHASSIS}/Thermal",
    f"{CHASSIS}/Power",
    f"{CHASSIS}/ThermalSubsystem/Fans/*",
    f"{CHASSIS}/Sensors!Thermal/*",
    f"{CHASSIS}/ThermalSubsystem/LeakDetection",
    f"{CHASSIS}/ThermalSubsystem/LeakDetection/LeakDetectors/*",
    f"{CHASSIS}/Oem:Nvidia:Policies/*=LeakDetectionPolicy",
    f"{CHASSIS}/LeakDetectors/*",
)

LOGS = (
    f"/redfish/v1/Systems/*/LogServices/{EVENTS}",
    f"/redfish/v1/Systems/*/LogServices/{EVENTS}/Entries",
    "/redfish/v1/Managers/*/LogServices/*=SEL,Sel",
    "/redfish/v1/Managers/*/LogServices/*=SEL,Sel/Entries",
)

BIOS_JOBS = "/redfish/v1/Systems/*!HGX_*/Bios/@Redfish.Settings:SettingsObject/Oem:Dell:Jobs/*-20"

HEALTH = (
    "/redfish/v1/Systems/*",
    "/redfish/v1/Chassis/*",
    "/redfish/v1/Managers/*",
    "/redfish/v1/Systems/*!HGX_*/Processors/*",
    "/redfish/v1/Systems/*!HGX_*/Memory/*",
    "/redfish/v1/Systems/*!HGX_*/Storage/*",
)

MACHINE = (
    "/redfish/v1/Systems/*!HGX_*",
    CHASSIS,
    "/redfish/v1/Systems/*!HGX_*/EthernetInterfaces/*",
)

READS = (
    Read("redfish_systems", ReadKind.REDFISH, ("/redfish/v1/Systems/*!HGX_*",), seconds=60.0),
    Read("redfish_machine", ReadKind.REDFISH, MACHINE, seconds=120.0),
    Read("redfish_firmware", ReadKind.REDFISH, path="/redfish/v1/UpdateService/FirmwareInventory/*", seconds=120.0),
    Read("redfish_bios", ReadKind.REDFISH, path="/redfish/v1/Systems/*/Bios", seconds=60.0),
    # Where settings wait for a reset: /Bios/Settings, /Bios/SD, as the resource itself says.
    Read(
        "redfish_bios_future",
        ReadKind.REDFISH,
        path="/redfish/v1/Systems/*/Bios/@Redfish.Settings:SettingsObject",
        seconds=60.0,
    ),
    # An iDRAC's jobs, which bring them into force.
    Read("redfish_bios_jobs", ReadKind.REDFISH, (BIOS_JOBS,), seconds=60.0),
    # Secure Boot, the boot order and its options: only where a profile asks for them.
    Read("redfish_boot", ReadKind.REDFISH, PATTERNS, seconds=120.0),
    Read("redfish_power", ReadKind.REDFISH, path="/redfish/v1/Chassis/*/Power", seconds=60.0),
    Read("redfish_supplies", ReadKind.REDFISH, SUPPLIES, seconds=120.0),
    Read("redfish_sensors", ReadKind.REDFISH, SENSORS, seconds=180.0),
    # A log of 4,096 entries is about 3 MB.
    Read("redfish_logs", ReadKind.REDFISH, LOGS, seconds=180.0, max_bytes=16_000_000),
    Read("redfish_health", ReadKind.REDFISH, HEALTH, seconds=180.0),
)
