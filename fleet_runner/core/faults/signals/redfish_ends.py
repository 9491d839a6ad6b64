"""Which Redfish message takes which others back, of the same part.

DMTF's registries name them ("ClearingLogic" in ResourceEvent 1.4, SensorEvent 1.1, Environmental 1.4, Power 1.2,
Platform 1.3, StorageDevice 1.5, Fabric 1.0, NetworkDevice 1.1). OpenBMC's own (openbmc.json 0.6 in bmcweb) says it by
names and words: "failed" and "recovered", "lost" and "regained". Left out is where its first argument does not tell
the part: a supply's fans, and the DIMMs of a socket. Of Dell, HPE, Lenovo and Supermicro no table of pairs was found.
"""

from collections.abc import Iterator, Mapping


def _thresholds(registry: str, quantity: str, normal: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what the messages of a measured quantity take back: each way over a limit has one back."""
    said = f"{registry}.{quantity}"
    worse = []
    for limit in ("Critical", "Fatal"):
        over, under = f"{said}AboveUpper{limit}Threshold", f"{said}BelowLower{limit}Threshold"
        back, up = f"{said}BelowUpper{limit}Threshold", f"{said}AboveLower{limit}Threshold"
        yield back, (over,)
        yield up, (under,)
        worse += [over, under, back, up]
    no_longer = f"{said}NoLongerCritical"
    yield no_longer, (f"{said}Critical",)
    caution = (f"{said}AboveUpperCautionThreshold", f"{said}BelowLowerCautionThreshold")
    yield f"{registry}.{normal}", (*caution, *worse, f"{said}Warning", f"{said}Critical", no_longer)


_QUANTITIES = (
    ("SensorEvent", "Reading", "SensorReadingNormalRange"),
    ("Environmental", "Temperature", "TemperatureNormal"),
    ("Environmental", "Humidity", "HumidityNormal"),
    ("Environmental", "FlowRate", "FlowRateNormal"),
    ("Environmental", "Pressure", "PressureNormal"),
    ("Power", "Voltage", "VoltageNormal"),
    ("Power", "Current", "CurrentNormal"),
    ("Power", "Power", "PowerNormal"),
    ("Power", "Frequency", "FrequencyNormal"),
)

_NAMED = (
    ("ResourceEvent", "ResourceErrorsCorrected", "ResourceErrorsDetected"),
    ("ResourceEvent", "ResourceErrorThresholdCleared", "ResourceErrorThresholdExceeded"),
    ("ResourceEvent", "ResourceWarningThresholdCleared", "ResourceWarningThresholdExceeded"),
    ("ResourceEvent", "ResourceStatusChangedOK", "ResourceStatusChangedCritical ResourceStatusChangedWarning"),
    ("ResourceEvent", "ResourceSelfTestCompleted", "ResourceSelfTestFailed"),
    ("SensorEvent", "SensorRestored", "InvalidSensorReading SensorFailure SensorDisconnected"),
    ("Environmental", "FanRestored", "FanFailed FanWarning"),
    ("Environmental", "FanGroupNormal", "FanGroupCritical FanGroupWarning"),
    ("Environmental", "LeakDetectedNormal", "LeakDetectedCritical LeakDetectedWarning"),
    ("Environmental", "LeakDetectorRestored", "LeakDetectorFailure LeakDetectorDisconnected"),
    ("Environmental", "PumpRestored", "PumpFailed"),
    ("Power", "PowerSupplyRestored", "PowerSupplyFailed PowerSupplyPredictiveFailure PowerSupplyWarning"),
    ("Power", "PowerSupplyInserted", "PowerSupplyRemoved PowerSupplyFailed PowerSupplyPredictiveFailure"),
    ("Power", "LineInputPowerRestored", "LineInputPowerFault LossOfInputPower"),
    ("Power", "PowerSupplyGroupNormal", "PowerSupplyGroupCritical PowerSupplyGroupWarning"),
    ("StorageDevice", "DriveOK", "DrivePredictiveFailure DriveFailure"),
    ("StorageDevice", "DriveFailureCleared", "DriveFailure"),
    ("StorageDevice", "DrivePredictiveFailureCleared", "DrivePredictiveFailure"),
    ("StorageDevice", "DriveInserted", "DriveRemoved DriveMissing DriveFailure DrivePredictiveFailure"),
    ("StorageDevice", "ControllerOK", "ControllerFailure ControllerDegraded"),
    ("Fabric", "PortOK", "PortFailed PortDegraded"),
    ("Fabric", "SwitchOK", "SwitchFailed SwitchDegraded"),
    ("Fabric", "CableOK", "CableFailed"),
    ("NetworkDevice", "ConnectionEstablished", "ConnectionDropped"),
    ("NetworkDevice", "DegradedConnectionEstablished", "ConnectionDropped"),
    ("NetworkDevice", "CableInserted", "CableRemoved"),
    ("OpenBMC", "SensorThresholdCriticalHighGoingLow", "SensorThresholdCriticalHighGoingHigh"),
    ("OpenBMC", "SensorThresholdCriticalLowGoingHigh", "SensorThresholdCriticalLowGoingLow"),
    ("OpenBMC", "SensorThresholdWarningHighGoingLow", "SensorThresholdWarningHighGoingHigh"),
    ("OpenBMC", "SensorThresholdWarningLowGoingHigh", "SensorThresholdWarningLowGoingLow"),
    ("OpenBMC", "PowerSupplyRecovered", "PowerSupplyFailed"),
    ("OpenBMC", "PowerSupplyPredictedFailureRecovered", "PowerSupplyFailurePredicted"),
    ("OpenBMC", "PowerSupplyConfigurationErrorRecovered", "PowerSupplyConfigurationError"),
    ("OpenBMC", "PowerSupplyPowerRestored", "PowerSupplyPowerLost"),
    ("OpenBMC", "PowerSupplyInserted", "PowerSupplyRemoved PowerSupplyFailed PowerSupplyFailurePredicted"),
    ("OpenBMC", "PowerUnitRedundancyRegained",
     "PowerUnitRedundancyLost PowerUnitRedundancyDegraded PowerUnitDegradedFromRedundant"),
    ("OpenBMC", "FanRedundancyRegained", "FanRedundancyLost"),
    ("OpenBMC", "ChassisIntrusionReset", "ChassisIntrusionDetected"),
    ("OpenBMC", "LanRegained", "LanLost"),
    ("OpenBMC", "ServiceStarted", "ServiceFailure"),
)  # fmt: skip

ENDS: Mapping[str, tuple[str, ...]] = {
    **{name: ended for row in _QUANTITIES for name, ended in _thresholds(*row)},
    **{
        f"{registry}.{name}": tuple(f"{registry}.{each}" for each in ended.split())
        for registry, name, ended in _NAMED
    },
}
"""Of each message that takes others back, those; "Registry.Message" without the registry's version."""
