"""The catalogue of checks: one module each, found by its CHECK."""

from importlib import import_module
from pkgutil import iter_modules

from fleet_runner.core.checks.check import Check

CHECKS: dict[str, Check] = {
    each.name: import_module(f"{__name__}.{each.name}").CHECK for each in iter_modules(__path__)
}
"""By name, which is its module's. All at once: what serves must not come upon a check of the next release later."""
