"""The user that fleet-runner is in a NetBox, and the least that it may see and do there."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fleet_runner.core.inventory.netbox.init.objects import MARK, Kind, Ref, RequiredObject
from fleet_runner.core.inventory.records import CONNECTED, NODE_ROLES, PLANNED

NAME = "fleet-runner"
"""The user's name."""

TEMPLATE = "fleet-runner"
"""What its export templates are called."""

READ = (
    "dcim.cable",
    "dcim.cabletermination",
    "dcim.device",
    "dcim.devicetype",
    "dcim.frontport",
    "dcim.interface",
    "dcim.interfacetemplate",
    "dcim.inventoryitem",
    "dcim.module",
    "dcim.rack",
    "dcim.rearport",
    "dcim.site",
)
"""Objects that are read; what these refer to (tenants, addresses, roles) NetBox shows with them."""

CHANGES = [
    {"changed_object_type__app_label__in": ["core", "dcim", "virtualization"]},
    {
        "changed_object_type__app_label__in": ["extras", "ipam", "tenancy"],
        "changed_object_type__model__in": [
            "configcontext", "customfield", "exporttemplate", "journalentry", "tag",
            "ipaddress", "tenant", "tenantgroup",
        ],
    },
]  # fmt: skip
"""Changes that may be seen: of what is read and what that depends on.

Webhooks, scripts, VPNs, wireless networks and FHRP groups are not: NetBox's change log holds their secrets.
"""


@dataclass(frozen=True, slots=True)
class Writes:
    """What the settings ask to be written: statuses of cables, states and serials of nodes, answers to requests."""

    cables: bool = False
    nodes: bool = False
    intents: bool = False

    @property
    def any(self) -> bool:
        """Whether anything is."""
        return self.cables or self.nodes or self.intents


@dataclass(frozen=True, slots=True, eq=False)
class ObjectPermission:
    """One of NetBox's object permissions: its name, and what it allows on which objects."""

    name: str
    words: str
    types: tuple[str, ...]
    actions: tuple[str, ...]
    constraints: Any = None


READS = (
    ObjectPermission("fleet-runner reads", "What it reads", READ, ("view",)),
    ObjectPermission("fleet-runner reads changes", "What changed since", ("core.objectchange",), ("view",), CHANGES),
    ObjectPermission(
        "fleet-runner reads by templates", "Its own", ("extras.exporttemplate",), ("view",), {"name": TEMPLATE}
    ),
)
"""Granted always."""

CABLES = ObjectPermission(
    "fleet-runner writes cables",
    "Status of cables seen",
    ("dcim.cable",),
    ("change",),
    {"status__in": [PLANNED, CONNECTED]},
)
NODES = ObjectPermission(
    "fleet-runner writes nodes",
    "States and requests",
    ("dcim.device",),
    ("change",),
    {"role__slug__in": sorted(NODE_ROLES)},
)
JOURNAL = ObjectPermission(
    "fleet-runner writes journals",
    "What happened to nodes",
    ("extras.journalentry",),
    ("add", "view"),
    {"assigned_object_type__app_label": "dcim", "assigned_object_type__model": "device"},
)
PARTS = ObjectPermission(
    "fleet-runner writes parts",
    "Serial numbers after repairs",
    ("dcim.inventoryitem", "dcim.module"),
    ("change",),
    {"device__role__slug__in": sorted(NODE_ROLES)},
)


def wanted(writes: Writes, password: str, token: str = "") -> tuple[RequiredObject, ...]:
    """Return the user with its permissions, and its token where a file waits for one.

    Rights are given to a user that `netbox init` made, and to nobody else of that name. The password is nobody's:
    the user comes in by its token alone. A permission that the settings ask for no more is switched off where it was
    made.
    """
    user = {"username": NAME, "password": password, "first_name": "Made by", "last_name": MARK}
    return (
        RequiredObject(Kind.USER, NAME, user, settled=("last_name",)),
        *(_permission(right) for right in READS),
        *(_permission(right) if yes else _lapsed(right) for right, yes in _asked(writes).items()),
        *(
            [RequiredObject(Kind.TOKEN, token, {"user": Ref(Kind.USER, NAME), "write_enabled": writes.any})]
            if token
            else ()
        ),
    )


def _asked(writes: Writes) -> dict[ObjectPermission, bool]:
    """Return every permission to write, and whether the settings ask for it."""
    return {
        CABLES: writes.cables,
        NODES: writes.nodes or writes.intents,
        JOURNAL: writes.nodes or writes.intents,
        PARTS: writes.nodes,
    }


def _permission(right: ObjectPermission) -> RequiredObject:
    return RequiredObject(
        Kind.PERMISSION,
        right.name,
        {
            "name": right.name,
            "description": f"{right.words}; made by {MARK}",
            "enabled": True,
            "object_types": list(right.types),
            "actions": list(right.actions),
            "constraints": right.constraints,
            "users": [Ref(Kind.USER, NAME)],
        },
        settled=("enabled", "object_types", "actions", "users"),
    )


def _lapsed(right: ObjectPermission) -> RequiredObject:
    return RequiredObject(Kind.PERMISSION, right.name, {"enabled": False}, settled=("enabled",), only_there=True)


def needed(writes: Writes) -> dict[str, frozenset[str]]:
    """Return what the settings ask to be added or changed, by object type, of all that is ever written."""
    asked = _asked(writes)
    return {
        object_type: frozenset(right.actions) - {"view"} if yes else frozenset()
        for right, yes in asked.items()
        for object_type in right.types
    }


def unfit(file: str, writes: Writes, may: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Say what a token may not do and the settings ask for, and what it may do and they do not."""
    asked = needed(writes)
    lacks = [f"{action} {kind}" for kind, actions in asked.items() for action in sorted(actions - may[kind])]
    more = [f"{action} {kind}" for kind, actions in asked.items() for action in sorted(may[kind] - actions)]
    found: list[str] = []
    if lacks:
        words = "tick that it may write in its page, or move the file away and run this again"
        found.append(f"the token in {file} may not {', '.join(lacks)}; {words}")
    if more:
        found.append(f"the token in {file} may {', '.join(more)}, which the settings do not ask for")
    return tuple(found)
