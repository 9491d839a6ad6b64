"""Cisco NX-OS: `show lldp neighbors detail | json`, also as NX-API wraps it; one neighbour stands without a list."""

from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.neighbours.heard import Heard, entries, get, holders, neighbour, word

KEY = "TABLE_nbor_detail"
SHORT = "TABLE_nbor"


def read(root: Any) -> Heard:
    """Return what a switch hears."""
    told = [
        each
        for holder in holders(root, KEY)
        for table in entries(get(holder, KEY))
        for each in entries(get(table, "ROW_nbor_detail"))
    ]
    return Heard(
        "",
        tuple(
            neighbour(
                word(get(each, "l_port_id")),
                word(get(each, "sys_name")),
                word(get(each, "port_id")),
                word(get(each, "port_desc")),
                word(get(each, "port_type")),
            )
            for each in told
        ),
    )


def refuse(_: Any) -> Heard:
    """Refuse the short form: what it calls a neighbour may be an address, or a name that was cut."""
    raise EvidenceError(
        "it is show lldp neighbors, which cuts names, expected show lldp neighbors detail | json; read the switch "
        "again"
    )
