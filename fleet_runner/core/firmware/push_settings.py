"""What an UpdateService must be told before a bare image comes, and whether it took that.

A bare image has no parameters of its own: what it is for, and whether by force, are properties of the service
(DSP0266, UpdateService), which stay there from whoever set them last.
"""

from collections.abc import Mapping, Sequence
from typing import Any

TARGETS, BUSY, OPTIONS, FORCE = "HttpPushUriTargets", "HttpPushUriTargetsBusy", "HttpPushUriOptions", "ForceUpdate"

Body = Mapping[str, Any]


def announced(service: Body, targets: Sequence[str], *, force: bool) -> dict[str, Any]:
    """Return the change that a service needs before an image; nothing where it is as it must be.

    Targets that somebody else left there would send the image there.
    """
    change: dict[str, Any] = {}
    if TARGETS in service and _same(service[TARGETS]) != _same(list(targets)):
        change[TARGETS] = list(targets)
    options = _object(service.get(OPTIONS))
    if FORCE in options and options[FORCE] is not force:
        change[OPTIONS] = {FORCE: force}
    return change


def ignored(service: Body, change: Body) -> str:
    """Say which change a service does not show, and what would come of the image; "" where it shows all."""
    if TARGETS in change and _same(service.get(TARGETS)) != _same(change[TARGETS]):
        return f"took {TARGETS} and does not show it, so the image could go elsewhere"
    force = _object(change.get(OPTIONS)).get(FORCE)
    if force is not None and _object(service.get(OPTIONS)).get(FORCE) is not force:
        then = "could be refused as a downgrade" if force else "could be written by force, over a newer version"
        return f"took {FORCE} and does not show it, so the image {then}"
    return ""


def _same(targets: object) -> list[str]:
    """Return targets as they are compared: in any order, with a slash at the end or not."""
    return sorted(str(each).rstrip("/") for each in targets) if isinstance(targets, list) else []


def _object(found: object) -> Body:
    return found if isinstance(found, Mapping) else {}
