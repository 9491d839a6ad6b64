"""How an Ethernet switch is asked for settings and errors of its own ports; for its neighbours, `switches` knows."""

PORTS: dict[str, dict[str, str]] = {
    "arista.eos.eos": {"interfaces": "show interfaces | json"},
    "dellemc.enterprise_sonic.sonic": {
        "status": "show interfaces status",
        "pfc": "show pfc priority",
        "watchdog": "show pfcwd stats",
        "fec": "show interfaces counters fec-stats",
    },
    "nvidia.nvue.nvue": {"interfaces": "nv show interface -o json", "roce": "nv show qos roce -o json"},
}
"""Commands that print what `parsers.switch_ports` reads; the first one must succeed, what others tell stays open."""

_SHORT = {name.rpartition(".")[2]: name for name in PORTS} | {"cumulus": "nvidia.nvue.nvue"}
"""Names without a collection, as Ansible knew them before there were any."""


def ports(network_os: object) -> tuple[str, dict[str, str]]:
    """Return the whole name for a value of `ansible_network_os`, and its commands for the state of its ports."""
    name = network_os if isinstance(network_os, str) else ""
    whole = _SHORT.get(name, name)
    return whole, PORTS.get(whole, {})
