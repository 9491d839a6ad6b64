"""Which of the images that OpenBMC keeps of one part runs: the part says it, and the images alone may not."""

from fleet_runner.adapters.redfish.resources import Body, Resources
from fleet_runner.core.firmware.inventory import about


def told_apart(at: Resources, found: dict[str, Body]) -> dict[str, Body]:
    """Return resources with `Active` in images whose part names the one that runs; nothing is asked for others."""
    parts = {
        uri: about(uri, body) for uri, body in found.items() if "SoftwareInventory" in str(body.get("@odata.type"))
    }
    active = {part: at.links(at.find(at.wire.own(part)), "ActiveSoftwareImage") for part in {*parts.values()} - {""}}
    marked = {uri: {"Active": uri in active[part]} for uri, part in parts.items() if active.get(part)}
    return {uri: {**marked.get(uri, {}), **body} for uri, body in found.items()}
