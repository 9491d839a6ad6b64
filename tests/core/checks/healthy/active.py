"""Of a healthy node: what its tests under load print, check by check."""

from collections.abc import Callable
from typing import Any

PROFILE: dict[str, Any] = {}
"""Sections of the profile; `parts` are laid over those of `judging`."""

HEALTHY: dict[str, dict[str, str]] = {}

PARSERS: dict[str, tuple[Callable[[str], object], str]] = {}
"""Parsers, each with a text that it can read."""
