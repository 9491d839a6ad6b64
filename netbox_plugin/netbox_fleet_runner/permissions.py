"""Who may ask fleet-runner for something: whoever may change the device, or has the plugin's own permission."""

from typing import Any

from dcim.models import Device
from utilities.permissions import ModelAction, register_model_actions

ACTION = "wish"
"""The action of a permission on devices by which somebody may ask without editing the device: dcim.wish_device."""


def register() -> None:
    """Have NetBox offer the action in the form of a permission."""
    register_model_actions(Device, [ModelAction(ACTION, "Send fleet-runner a request about the device")])


def may_ask(user: Any, device: Device) -> bool:
    """Whether a user may ask for something about this very device: permissions can be for some devices alone."""
    return any(user.has_perm(f"dcim.{action}_device", device) for action in ("change", ACTION))
