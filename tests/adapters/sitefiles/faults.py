"""A small site without a fault, and one edit of it for every fault a person can make."""

from collections.abc import Callable

Edit = Callable[[str], str]

SITE = {
    "sites.yml": "- name: hall-1\n",
    "locations.yml": "- {name: row-a, site: hall-1}\n",
    "racks.yml": "- {name: A03, site: hall-1, location: row-a, u_height: 42}\n",
    "device_types.yml": """\
- manufacturer: Maker
  model: HGX
  slug: hgx
  u_height: 8
  interfaces:
    - {name: ib0, type: infiniband-ndr}
    - {name: ib1, type: infiniband-ndr}
""",
    "devices.yml": """\
- name: gpu-1
  device_type: hgx
  role: gpu-server
  site: hall-1
  rack: A03
  position: 1
  serial: 0012
  oob_ip: 10.0.0.1/24
  primary_ip4: 10.1.0.1/24
  custom_fields: {fleet_management: customer, other: [1]}
  interfaces:
    - {name: ib0, wwn: "0x00000000000000AA"}
    - {name: eth0, type: 1000base-t, mac_address: 02-AA-00-00-00-01}
  inventory_items:
    - {name: GPU 0, role: gpu, part_id: H100, serial: 1E5}
  local_context_data:
    yes_means_true: yes
    list: [1, 0x10, 1.5, 2020-01-01, "1", ~]
- name: gpu-2
  device_type: hgx
  role: gpu-server
  site: hall-1
  rack: A03
  position: 9
""",
    "cables.yml": """\
- a: {device: gpu-1, interface: ib0}
  b: {device: gpu-2, interface: ib0}
  type: aoc
  label: C1
  trunk: T-12
  panels: [PP-A, "012"]
  cage: gpu-1 left
- [gpu-2, ib1, gpu-1, ib1]
""",
}


Fault = tuple[str, Edit, str, str]


def put(old: str, new: str) -> Edit:
    """Replaces text that is there once."""

    def edit(text: str) -> str:
        assert text.count(old) == 1, (old, text)
        return text.replace(old, new)

    return edit


def more(text: str) -> Edit:
    """Adds text at the end."""
    return lambda before: before + text


FAULTS: dict[str, Fault] = {
    "unknown device type": (
        "devices.yml",
        lambda text: text[::-1].replace("xgh", "zgh", 1)[::-1],
        "devices.yml:20",
        "unknown device type 'hgz', expected 'hgx'",
    ),
    "unknown rack": (
        "devices.yml",
        put("A03\n  position: 9", "A3\n  position: 9"),
        "devices.yml:23",
        "expected 'A03'",
    ),
    "unknown site": ("racks.yml", put("site: hall-1", "site: hal-1"), "racks.yml:1", "expected 'hall-1'"),
    "unknown role": (
        "devices.yml",
        put(
            "gpu-server\n  site: hall-1\n  rack: A03\n  position: 9",
            "gpu-sever\n  site: hall-1\n  rack: A03\n  position: 9",
        ),
        "devices.yml:21",
        "did you mean 'gpu-server'",
    ),
    "a cable with one end": (
        "cables.yml",
        put("  b: {device: gpu-2, interface: ib0}\n", ""),
        "cables.yml:1",
        "1 interfaces at end a and 0 at end b; expected one at each",
    ),
    "a compact cable with one end": (
        "cables.yml",
        put("ib1, gpu-1, ib1]", "ib1]"),
        "cables.yml:8",
        "expected [device, i",
    ),
    "a cable end without an interface": (
        "cables.yml",
        put("b: {device: gpu-2, interface: ib0}", "b: {device: gpu-2}"),
        "cables.yml:2",
        "end b of the cable has no 'interface'",
    ),
    "an unknown status of a cable": (
        "cables.yml",
        put("type: aoc", "status: conected"),
        "cables.yml:3",
        "unknown status 'conected', expected 'connected', 'decommissioning', 'planned'; did you mean 'connected'?",
    ),
    "a panel that a cable passes twice": (
        "cables.yml",
        put('"012"', "PP-A"),
        "cables.yml:6",
        "the cable names 'panel PP-A' twice; name each trunk, panel and cage on its way once",
    ),
    "panels that are text": ("cables.yml", put('[PP-A, "012"]', "PP-A"), "cables.yml:6", "expected a list of texts"),
    "a panel that is a mapping": (
        "cables.yml",
        put('"012"', "{name: PP-B}"),
        "cables.yml:6",
        "'a list with a mapping', expected a list of texts",
    ),
    "a panel without a name": ("cables.yml", put('"012"', "' '"), "cables.yml:6", "expected a list of texts"),
    "a trunk that is a list": ("cables.yml", put("T-12", "[T-12]"), "cables.yml:5", "'a list', expected a text"),
    "an endless panel": ("cables.yml", put('"012"', "p" * 300), "cables.yml:6", "expected up to 200 printable"),
    "a port used twice": (
        "cables.yml",
        more("- [gpu-1, ib0, gpu-1, eth0]\n"),
        "cables.yml:9",
        "'gpu-1 ib0' already has the cable of cables.yml:1",
    ),
    "an interface the type lacks, in a cable": (
        "cables.yml",
        put("ib1, gpu-1", "ib2, gpu-1"),
        "cables.yml:8",
        "'ib2', an inter",
    ),
    "an interface the type lacks, in a device": (
        "devices.yml",
        put("{name: ib0, wwn", "{name: ib00, wwn"),
        "devices.yml:12",
        "device type 'hgx' has no interface 'ib00', and it has no type of its own; did you mean 'ib0'?",
    ),
    "two devices in one rack unit": (
        "devices.yml",
        put("position: 9", "position: 8"),
        "devices.yml:24",
        "device 'gpu-2' and device 'gpu-1' (devices.yml:6) both fill U8",
    ),
    "a device taller than its rack": (
        "racks.yml",
        put("u_height: 42", "u_height: 7"),
        "devices.yml:6",
        "is 8 units high",
    ),
    "a rack unit outside the rack": (
        "devices.yml",
        put("position: 9", "position: 36"),
        "devices.yml:24",
        "U36 to U43",
    ),
    "a name used twice": (
        "devices.yml",
        put("name: gpu-2", "name: gpu-1"),
        "devices.yml:19",
        "device 'gpu-1' is already defined at devices.yml:1",
    ),
    "an unknown key": (
        "devices.yml",
        put("serial: 0012", "seriel: 0012"),
        "devices.yml:7",
        "did you mean 'serial'?",
    ),
    "a number that is text": (
        "devices.yml",
        put("position: 9", "position: top"),
        "devices.yml:24",
        "'top', expected a number",
    ),
    "a quoted number": ("devices.yml", put("position: 9", "position: '9'"), "devices.yml:24", "expected a number"),
    "a negative number": ("devices.yml", put("position: 9", "position: -9"), "devices.yml:24", "expected a number"),
    "a half rack": ("racks.yml", put("u_height: 42", "u_height: 41.5"), "racks.yml:1", "expected a whole number"),
    "a text that is a list": (
        "devices.yml",
        put("serial: 0012", "serial: [1]"),
        "devices.yml:7",
        "'a list', expected a text",
    ),
    "a flag that is none": (
        "device_types.yml",
        more("  is_full_depth: maybe\n"),
        "device_types.yml:8",
        "expected true or false",
    ),
    "a list that is text": ("devices.yml", more("  interfaces: ib0\n"), "devices.yml:25", "'ib0', expected a list"),
    "a mapping that is text": (
        "devices.yml",
        more("  custom_fields: x\n"),
        "devices.yml:25",
        "'x', expected a mapping",
    ),
    "an entry that is text": ("devices.yml", more("  interfaces:\n    - ib0\n"), "devices.yml:26", "as a mapping"),
    "an unknown choice": (
        "devices.yml",
        put("fleet_management: customer", "fleet_management: nobody"),
        "devices.yml:10",
        "'nobody', expected one of full, customer",
    ),
    "no name": (
        "devices.yml",
        put("- name: gpu-2\n  device_type", "- device_type"),
        "devices.yml:19",
        "has no 'name'",
    ),
    "a bad MAC address": (
        "devices.yml",
        put("02-AA-00-00-00-01", "02-AA"),
        "devices.yml:13",
        "expected a MAC address",
    ),
    "a bad GUID": ("devices.yml", put("0x00000000000000AA", "0x1"), "devices.yml:12", "expected a GUID"),
    "a bad address": ("devices.yml", put("10.0.0.1/24", "10.0.0.300"), "devices.yml:8", "expected an IP address"),
    "an endless name": ("sites.yml", put("hall-1", "h" * 300), "sites.yml:1", "expected up to 200 printable"),
    "a name with control characters": ("sites.yml", put("hall-1", '"\\e[31m"'), "sites.yml:1", r"'\x1b[31m'"),
    "an interface given twice": (
        "devices.yml",
        put("{name: eth0, type", "{name: ib0, type"),
        "devices.yml:13",
        "interface 'ib0' is given twice",
    ),
    "an inventory item given twice": (
        "devices.yml",
        put("serial: 1E5}\n", "serial: 1E5}\n    - {name: GPU 0}\n"),
        "devices.yml:16",
        "inventory item 'GPU 0' is given twice",
    ),
    "a loop of locations": (
        "locations.yml",
        lambda _: "- {name: row-a, site: hall-1, parent: cage}\n- {name: cage, site: hall-1, parent: row-a}\n",
        "locations.yml:1",
        "location 'row-a' lies in 'cage', in 'row-a': a loop",
    ),
    "a context that claims our variables": (
        "devices.yml",
        put("    yes_means_true: yes", "    fleet_device: {}"),
        "devices.yml:16",
        "sets 'fleet_device'",
    ),
    "a key given twice": (
        "devices.yml",
        put("  rack: A03\n  position: 9", "  rack: A03\n  rack: A03\n  position: 9"),
        "devices.yml:24",
        "line 23",
    ),
    "a tab": ("devices.yml", put("  serial: 0012", "\tserial: 0012"), "devices.yml:7", "spaces, not tabs"),
    "an open bracket": ("cables.yml", put("ib1]", "ib1"), "cables.yml:9", "invalid YAML"),
    "a colon too many": ("racks.yml", put("A03", "A: 03: 4"), "racks.yml:1", "invalid YAML"),
    "a second document": ("sites.yml", more("---\n- name: hall-2\n"), "sites.yml:2", "second YAML document"),
    "a tag": ("sites.yml", put("hall-1", "!!python/name:os.system x"), "sites.yml:1", "YAML tag"),
    "an alias of nothing": ("sites.yml", put("hall-1", "*hall"), "sites.yml:1", "'*hall'"),
    "an alias of what it is in": ("sites.yml", more("- &loop [*loop]\n"), "sites.yml:2", "'*loop'"),
    "a list as a key": ("sites.yml", more("- {[a]: b}\n"), "sites.yml:2", "list or mapping as a key"),
    "a merge of a text": ("sites.yml", more("- <<: text\n"), "sites.yml:2", "merge (<<)"),
    "a control character": ("sites.yml", more("# \x07\n"), "sites.yml:2", "found the character"),
    "a text instead of a list": ("sites.yml", lambda _: "hall-1\n", "sites.yml:1", "expected a list of sites"),
}
