"""What is asked of a node's BMC, over Redfish."""

from fleet_runner.core.evidence import Read, ReadKind

READS = (
    Read("redfish_firmware", ReadKind.REDFISH, path="/redfish/v1/UpdateService/FirmwareInventory/*", seconds=120.0),
    Read("redfish_bios", ReadKind.REDFISH, path="/redfish/v1/Systems/*/Bios", seconds=60.0),
    # Where settings wait for a reset: /Bios/Settings, /Bios/SD, as the resource itself says.
    Read(
        "redfish_bios_future",
        ReadKind.REDFISH,
        path="/redfish/v1/Systems/*/Bios/@Redfish.Settings:SettingsObject",
        seconds=60.0,
    ),
    Read("redfish_power", ReadKind.REDFISH, path="/redfish/v1/Chassis/*/Power", seconds=60.0),
)
