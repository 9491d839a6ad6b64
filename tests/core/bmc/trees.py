"""Trees of BMCs for tests: a captured one that was trimmed, and changes of it."""

import copy
import json
from pathlib import Path
from typing import Any

from fleet_runner.core.bmc.tree import PARTS, ROOT, Tree

EVIDENCE = Path(__file__).parents[2] / "evidence" / "redfish" / "look.json"
SYSTEM, CHASSIS = f"{ROOT}/Systems/1", f"{ROOT}/Chassis/1"
FIRMWARE = f"{ROOT}/UpdateService/FirmwareInventory"
LOG = f"{SYSTEM}/LogServices/Log1/Entries"

Bodies = dict[str, Any]


def captured() -> Bodies:
    """Return the trimmed tree of a Supermicro SYS-821GE-TNHR, its serial numbers made up."""
    found: Bodies = json.loads(EVIDENCE.read_text("utf-8"))
    return found


def changed(uri: str, **values: Any) -> Bodies:
    """Return the captured tree with a resource that says something else; None takes a property out."""
    return merged(captured(), uri, **values)


def merged(bodies: Bodies, uri: str, **values: Any) -> Bodies:
    """Return a tree with a resource changed."""
    found = copy.deepcopy(bodies)
    body = {**found.get(uri, {"@odata.id": uri}), **values}
    found[uri] = {name: value for name, value in body.items() if value is not None}
    return found


def collection(uri: str, *members: str, kind: str = "Thing") -> Bodies:
    """Return a collection of members by the ends of their URIs."""
    links = [{"@odata.id": f"{uri}/{member}"} for member in members]
    return {uri: {"@odata.id": uri, "@odata.type": f"#{kind}Collection.{kind}Collection", "Members": links}}


def firmware(**entries: dict[str, Any]) -> Bodies:
    """Return the captured tree with another firmware inventory: ids to bodies; a leading underscore is left out."""
    named = {name.lstrip("_"): body for name, body in entries.items()}
    rest = {uri: body for uri, body in captured().items() if not uri.startswith(FIRMWARE)}
    return {
        **rest,
        **collection(FIRMWARE, *named),
        **{f"{FIRMWARE}/{name}": {"@odata.id": f"{FIRMWARE}/{name}", **body} for name, body in named.items()},
    }


def surveyed(bodies: Bodies) -> tuple[Tree, list[str]]:
    """Return the tree that a look at these resources makes, and the URIs that were asked for, in their order."""
    tree, asked = Tree(), []
    tree.learn(ROOT, bodies.get(ROOT, {}))
    for part in PARTS:
        while todo := tree.wanted(part):
            for uri in todo:
                asked.append(uri)
                found = bodies.get(uri.rstrip("/"))
                if found is None:
                    tree.miss(uri)
                else:
                    tree.learn(uri, found)
    return tree, asked
