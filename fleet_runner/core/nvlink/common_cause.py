"""Lost links of a compute tray whose cause lies outside of it: nothing done to the tray brings them back."""

from collections.abc import Iterable, Mapping
from typing import Any

from fleet_runner.core.checks.verdicts import Result

COMMON = "common"
"""The fact under which a result of a domain names the trays whose lost links have one cause outside of them."""

CODES = frozenset({"nvlink.down", "nvlink.slow", "gpu.fabric_health", "gpu.fabric_recovering"})
"""What such a tray's own checks find."""


def trays(observed: Mapping[str, Any]) -> frozenset[str]:
    """Return the trays that an answer about a domain names."""
    named = observed.get(COMMON)
    return frozenset(map(str, named)) if isinstance(named, list | tuple) else frozenset()


def is_new(result: Result, before: Result | None) -> bool:
    """Whether a tray lost links, as one of its checks sees it, that the look before did not miss."""
    known = {finding.fault for finding in before.findings} if before is not None else set[str]()
    return any(finding.code in CODES and finding.fault not in known for finding in result.findings)


def comes_back(result: Result, earlier: Iterable[Result]) -> bool:
    """Whether a tray lost links that it had lost at any look before, whatever the looks between them saw."""
    known = {finding.fault for each in earlier for finding in each.findings}
    return any(finding.code in CODES and finding.fault in known for finding in result.findings)
