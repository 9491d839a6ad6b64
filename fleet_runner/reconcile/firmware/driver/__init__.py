"""Brings a node's firmware to its catalogue: a crash at any point loses nothing, and repeats no flash."""

from fleet_runner.reconcile.firmware.driver.bios import BiosContext, set_bios
from fleet_runner.reconcile.firmware.driver.drive import drive
from fleet_runner.reconcile.firmware.driver.lease import Target
from fleet_runner.reconcile.firmware.driver.visit import DriverContext

__all__ = ["BiosContext", "DriverContext", "Target", "drive", "set_bios"]
