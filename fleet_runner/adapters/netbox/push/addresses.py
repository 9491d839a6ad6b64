"""MAC and IP addresses: objects of their own in NetBox, assigned to an interface and then named by its owner."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from ipaddress import ip_address, ip_network

from fleet_runner.adapters.netbox.client import Client, Json
from fleet_runner.adapters.netbox.push.bodies import INTERFACE
from fleet_runner.adapters.netbox.push.ids import OWNERS, Ids
from fleet_runner.adapters.netbox.push.sending import Sent, send
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory import addresses
from fleet_runner.core.inventory.netbox.push.step import Kind, Step

MACS, IPS = "dcim/mac-addresses", "ipam/ip-addresses"
FIRST = "primary_mac_address"
FREE = {"assigned_object_id": None}

Tell = Callable[[int], None]


def macs(client: Client, ids: Ids, steps: Sequence[Step], tell: Tell) -> list[str]:
    """Give interfaces their MAC addresses; one that is already assigned there is only made the first."""
    found = ids.read_interfaces({step.key[0] for step in steps})
    there = _assigned(client, [found[step.key] for step in steps if step.key in found])
    named: dict[str, tuple[int, int]] = {}  # what an interface is called: its id, and that of its address
    before: dict[str, int | None] = {}  # likewise, and that of the first address it had
    new: list[Sent] = []
    for step in steps:
        if step.key not in found:
            continue
        mac, owner = step.values["mac"], found[step.key]
        before[step.name] = there.get((owner, step.was["mac"])) if step.was else None
        if (number := there.get((owner, mac))) is not None:
            named[step.name] = owner, number
        else:
            body = {"mac_address": mac, "assigned_object_type": INTERFACE, "assigned_object_id": owner}
            new.append(Sent(step.name, body))

    def made(each: Sent, number: int) -> None:
        named[each.name] = each.body["assigned_object_id"], number

    conflicts = send(client, MACS, new, made)
    firsts = [
        Sent(name, {"id": owner, FIRST: number}, {FIRST: before[name]})
        for name, (owner, number) in sorted(named.items())
    ]
    return conflicts + send(client, "dcim/interfaces", firsts, lambda *_: tell(1))


def _assigned(client: Client, interfaces: Sequence[int]) -> dict[tuple[int, str], int]:
    """Return the ids of MAC addresses that interfaces have, by the interface and the address."""
    found: dict[tuple[int, str], int] = {}
    for at in range(0, len(interfaces), OWNERS):
        some = interfaces[at : at + OWNERS]
        for row in client.rows(MACS, "id,mac_address,assigned_object_id", interface_id=some):
            mac = addresses.mac(row["mac_address"])
            if mac is not None and row["assigned_object_id"] in some:
                found[row["assigned_object_id"], mac] = row["id"]
    return found


def ips(client: Client, ids: Ids, steps: Sequence[Step], tell: Tell) -> list[str]:
    """Assign addresses to interfaces of their devices, then name them there as primary or out-of-band."""
    interfaces = ids.read_interfaces({step.key[0] for step in steps})
    devices = ids.of(Kind.DEVICE)
    there = _there(client, [each["address"] for step in steps for each in (step.values, step.was) if each])
    masks = Masks(client)
    mine: dict[str, set[int]] = {}
    for (device, _), number in interfaces.items():
        mine.setdefault(device, set()).add(number)
    use: dict[str, tuple[int, str, int]] = {}
    before: dict[str, Mapping[str, int | None]] = {}
    send_new, send_old, conflicts = [], [], []
    for step in steps:
        owner = (step.key[0], step.values["interface"])
        if owner not in interfaces:
            continue
        address = step.values["address"]
        family = "oob_ip" if step.key[1] == "oob" else f"primary_ip{ip_address(address).version}"
        target = {"assigned_object_type": INTERFACE, "assigned_object_id": interfaces[owner]}
        found = there.get(address, [])
        assigned = _mine(found, mine[step.key[0]])
        had = there.get(step.was["address"], []) if step.was else []
        before[step.name] = _before(step, family, _mine(had, mine[step.key[0]]))
        free = next((row for row in found if row["assigned_object_id"] is None), None)
        if assigned is not None:
            use[step.name] = devices[step.key[0],], family, assigned["id"]
        elif free is not None:
            send_old.append((step, family, Sent(step.name, {"id": free["id"], **target}, FREE)))
        elif found:
            text = f"{step.name}: NetBox has {address} assigned to another object (#{found[0]['id']}); unassign it"
            conflicts.append(f"{text}, or correct the folder")
        else:
            send_new.append((step, family, Sent(step.name, {"address": masks.of(address), **target})))
            there.setdefault(address, [])
    for some in (send_new, send_old):
        owners = {each.name: (devices[step.key[0],], family) for step, family, each in some}

        def made(each: Sent, number: int, owners: dict[str, tuple[int, str]] = owners) -> None:
            use[each.name] = (*owners[each.name], number)

        conflicts += send(client, IPS, [each for _, _, each in some], made)
    named = [
        Sent(name, {"id": owner, family: number}, before[name])
        for name, (owner, family, number) in sorted(use.items())
    ]
    for family in ("oob_ip", "primary_ip4", "primary_ip6"):  # a device once a request: of two the last one would win
        conflicts += send(client, "dcim/devices", [each for each in named if family in each.body], lambda *_: tell(1))
    return conflicts


def _mine(rows: Iterable[Json], interfaces: Collection[int]) -> Json | None:
    return next((row for row in rows if row["assigned_object_id"] in interfaces), None)


def _before(step: Step, family: str, had: Json | None) -> Mapping[str, int | None]:
    """Return what the device's field held when it was compared; nothing where its object is not found."""
    if step.was is None:
        return {family: None}
    return {family: had["id"]} if had is not None else {}


def _there(client: Client, wanted: Sequence[str]) -> dict[str, list[Json]]:
    """Return the objects that NetBox has of addresses, whatever their masks."""
    found: dict[str, list[Json]] = {}
    distinct = sorted(set(wanted))
    for at in range(0, len(distinct), OWNERS):
        some = distinct[at : at + OWNERS]
        for row in client.rows(IPS, "id,address,assigned_object_id", address=some):
            address = addresses.ip(row["address"])
            if address in some:
                found.setdefault(address, []).append(row)
    return found


class Masks:
    """The masks of new addresses: of the smallest prefix in NetBox that holds one, else of the address alone."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.prefixes: set[str] | None = None

    def of(self, address: str) -> str:
        """Return an address with its mask."""
        if self.prefixes is None:
            self.prefixes = set(self._read())
        longest = ip_address(address).max_prefixlen
        for length in range(longest, 0, -1):
            if str(ip_network(f"{address}/{length}", strict=False)) in self.prefixes:
                return f"{address}/{length}"
        return f"{address}/{longest}"

    def _read(self) -> Iterable[str]:
        try:
            return [row["prefix"] for row in self.client.rows("ipam/prefixes", "id,prefix")]
        except SourceError:  # who may not see prefixes gets addresses without any
            return []
