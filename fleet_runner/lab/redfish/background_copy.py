"""The copy that NVIDIA's roots of trust make of what runs, to their other slot; no image is taken meanwhile."""

import time
from collections.abc import Mapping
from typing import Any

from fleet_runner.lab.redfish.trees import Body, Tree, merged
from fleet_runner.lab.redfish.wire import Refused

ENABLED, STATUS = "AutomaticBackgroundCopyEnabled", "BackgroundCopyStatus"


class BackgroundCopy:
    """Whether it is made now; of other makers' BMCs none is."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.uris = tuple(uri for uri in tree.bodies if "/Chassis/" in uri and self._said(uri).get(ENABLED) is True)
        self._until = 0.0  # by the monotonic clock

    def begin(self, faults: Mapping[str, Mapping[str, Any]]) -> None:
        """Copy for a while after a reset, where a fault says so."""
        if "background_copy" in faults:
            self._until = time.monotonic() + float(faults["background_copy"]["seconds"])

    def body(self, uri: str) -> Body:
        """Return a root of trust's chassis with what it does now."""
        now = "InProgress" if self._copies() else self._said(uri).get(STATUS)
        return merged(self._tree.get(uri), {"Oem": {"Nvidia": {STATUS: now}}})

    def admit(self) -> None:
        """Refuse an update while it is made."""
        if self.uris and self._copies():
            raise Refused(503, "a background copy is in progress; retry after it", "ServiceTemporarilyUnavailable")

    def _copies(self) -> bool:
        return time.monotonic() < self._until

    def _said(self, uri: str) -> Mapping[str, Any]:
        oem = self._tree.get(uri).get("Oem")
        said = oem.get("Nvidia") if isinstance(oem, Mapping) else None
        return said if isinstance(said, Mapping) else {}
