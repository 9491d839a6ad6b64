"""IPMI over the network, for BMCs that are too old for Redfish: power, the event log, whose BMC it is."""

from fleet_runner.adapters.ipmi.bmc import IpmiBmc
from fleet_runner.adapters.ipmi.open import PowerBmc, opened

__all__ = ["IpmiBmc", "PowerBmc", "opened"]
