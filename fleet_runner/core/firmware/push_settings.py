"""What an UpdateService must be told before a bare image comes, whether it took that, and what is undone after it.

A bare image has no parameters of its own: what it is for, whether by force, and when it is put to use are properties
of the service (DSP0266, UpdateService), which stay there from whoever set them last.
"""

from collections.abc import Mapping, Sequence
from typing import Any

TARGETS, BUSY, OPTIONS, FORCE = "HttpPushUriTargets", "HttpPushUriTargetsBusy", "HttpPushUriOptions", "ForceUpdate"
APPLY, WHEN = "HttpPushUriApplyTime", "ApplyTime"
AT_ONCE = "Immediate"

Body = Mapping[str, Any]


def announced(service: Body, targets: Sequence[str], *, force: bool) -> dict[str, Any]:
    """Return the change that a service needs before an image; nothing where it is as it must be.

    Targets that somebody else left there would send the image there. One that has a mark of who uses them is marked.
    """
    change: dict[str, Any] = {}
    marks = isinstance(service.get(BUSY), bool)
    if TARGETS in service and ((targets and marks) or list(targets) != (service.get(TARGETS) or [])):
        change[TARGETS] = list(targets)
        change |= {BUSY: True} if marks else {}
    options = _object(service.get(OPTIONS))
    asked: dict[str, Any] = {}
    if FORCE in options and options[FORCE] is not force:
        asked[FORCE] = force
    when = _object(options.get(APPLY))
    allowed = when.get(f"{WHEN}@Redfish.AllowableValues")
    if when.get(WHEN, AT_ONCE) != AT_ONCE and (not isinstance(allowed, list) or AT_ONCE in allowed):
        asked[APPLY] = {WHEN: AT_ONCE}
    return {**change, OPTIONS: asked} if asked else change


def reserved(service: Body, targets: Sequence[str]) -> bool:
    """Whether another client has reserved the targets; one with just the same, before we were killed, was ours."""
    return service.get(BUSY) is True and list(service.get(TARGETS) or []) != list(targets)


def ignored(service: Body, change: Body) -> str:
    """Return the first property that a service does not have as it was asked for; "" where all are.

    Targets may be told in another order, and the mark of who uses them sends no image elsewhere.
    """
    for name, value in change.items():
        found = service.get(name)
        if isinstance(value, Mapping):
            if under := ignored(_object(found), value):
                return f"{name}.{under}"
        elif name != BUSY and _unordered(found) != _unordered(value):
            return name
    return ""


def released(change: Body) -> dict[str, Any]:
    """Return what gives targets back that were marked as used; nothing where none were."""
    return {BUSY: False, TARGETS: []} if BUSY in change else {}


def _unordered(found: object) -> object:
    return sorted(map(str, found)) if isinstance(found, list) else found


def _object(found: object) -> Body:
    return found if isinstance(found, Mapping) else {}
