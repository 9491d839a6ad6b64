"""Brings a node's firmware to its catalogue: a crash at any point loses nothing, and repeats no flash."""

from fleet_runner.firmware.bios import BiosMeans, set_bios
from fleet_runner.firmware.drive import drive
from fleet_runner.firmware.holding import Target
from fleet_runner.firmware.visit import Means

__all__ = ["BiosMeans", "Means", "Target", "drive", "set_bios"]
