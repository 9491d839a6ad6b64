"""The plugin's release, apart from what needs a NetBox: the wheel is built without one."""

__version__ = "0.2.0"
