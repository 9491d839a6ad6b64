"""Parts whose slot is a module bay of their device in NetBox: they are modules there, each of a module type."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fleet_runner.adapters.netbox.client import Client, Json
from fleet_runner.adapters.netbox.push.bodies import slug_of
from fleet_runner.adapters.netbox.push.ids import OWNERS, Ids
from fleet_runner.adapters.netbox.push.sending import Sent, send
from fleet_runner.adapters.netbox.records import PROFILE_KINDS
from fleet_runner.core.inventory.netbox.push.step import Key, Kind, Step

BAYS, MODULES = "dcim/module-bays", "dcim/modules"
TYPES, PROFILES = "dcim/module-types", "dcim/module-type-profiles"

UNKNOWN = "Unknown"
"""The manufacturer of a module type that is made: a folder does not say who made a part."""

Tell = Callable[[int], None]


@dataclass(slots=True)
class Sorted:
    """Parts that are inventory items, and what came of those that are modules."""

    items: list[Step] = field(default_factory=list[Step])
    conflicts: list[str] = field(default_factory=list[str])


def modules(client: Client, ids: Ids, steps: Sequence[Step], tell: Tell) -> Sorted:
    """Write parts that are modules; the others, and those without a model, are left to be inventory items."""
    devices = ids.of(Kind.DEVICE)
    owners = {step.key[0]: devices[step.key[0],] for step in steps if (step.key[0],) in devices}
    bays = _named(client, BAYS, "id,device,name", owners)
    there = _named(client, MODULES, "id,device,module_bay", owners) if bays else {}
    found = Sorted()
    new: list[Step] = []
    changed: list[Sent] = []
    for step in steps:
        if step.key in there and step.was is not None:
            if step.values.keys() == {"serial"}:
                body = {"id": there[step.key], "serial": step.values["serial"]}
                changed.append(Sent(step.name, body, {"serial": step.was["serial"]}))
            else:
                differs = ", ".join(sorted(step.values.keys() - {"serial"}))
                text = f"{step.name} is a module in NetBox, whose type has another {differs}; exchange it there"
                found.conflicts.append(text)
        elif step.key in bays and step.was is None and step.values.get("model"):
            new.append(step)
        else:
            found.items.append(step)
    made = _types(client, ids, {(step.values["model"], step.values.get("kind", "")) for step in new})
    added = [
        Sent(
            step.name,
            {
                "device": owners[step.key[0]],
                "module_bay": bays[step.key],
                "module_type": made[step.values["model"], step.values.get("kind", "")],
                "status": "active",
                "serial": step.values.get("serial", ""),
            },
        )
        for step in new
    ]
    found.conflicts += send(client, MODULES, added, lambda *_: tell(1))
    found.conflicts += send(client, MODULES, changed, lambda *_: tell(1))
    return found


def _named(client: Client, path: str, fields: str, owners: Mapping[str, int]) -> dict[Key, int]:
    """Return the ids of bays, or of the modules in them, by device and bay; of a name twice in a device none."""
    names = {number: name for name, number in owners.items()}
    rows: list[tuple[Key, int]] = []
    wanted = sorted(names)
    for at in range(0, len(wanted), OWNERS):
        for row in client.rows(path, fields, device_id=wanted[at : at + OWNERS]):
            bay = row["name"] if path == BAYS else row["module_bay"]["name"]
            if (owner := names.get(row["device"]["id"])) is not None:
                rows.append(((owner, bay), row["id"]))
    often = Counter(key for key, _ in rows)
    return {key: number for key, number in rows if often[key] == 1}


def _types(client: Client, ids: Ids, wanted: set[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Return the module type of each model and kind of part; one that is missing is made."""
    found: dict[tuple[str, str], int] = {}
    for model, kind in sorted(wanted):
        rows = client.rows(TYPES, "id,model,profile", model=[model])
        mine = [row for row in rows if row["model"] == model and _kind(row["profile"]) == kind]
        number = mine[0]["id"] if mine else _make(client, ids, model, kind)
        found[model, kind] = number
    return found


def _kind(profile: Mapping[str, str] | None) -> str:
    """Return the kind of parts that a profile stands for, as reading has it."""
    name = profile["name"].lower() if profile else ""
    return PROFILE_KINDS.get(name, name)


def _make(client: Client, ids: Ids, model: str, kind: str) -> int:
    makers = ids.of(Kind.MANUFACTURER)
    if (UNKNOWN,) not in makers:
        maker = {"name": UNKNOWN, "slug": slug_of(UNKNOWN, ids.slugs(Kind.MANUFACTURER))}
        makers[UNKNOWN,] = client.add("dcim/manufacturers", [maker], "id,name,slug")[0]["id"]
    body: Json = {
        "manufacturer": makers[UNKNOWN,],
        "model": model,
        "profile": _profile(client, kind) if kind else None,
    }
    return int(client.add(TYPES, [body], "id,manufacturer,model,profile")[0]["id"])


def _profile(client: Client, kind: str) -> int:
    rows = client.rows(PROFILES, "id,name")
    number = next((row["id"] for row in rows if _kind(row) == kind), None)
    return int(number or client.add(PROFILES, [{"name": kind}], "id,name")[0]["id"])
