"""SONiC: tables of its `show`, which sonic-utilities writes.

Queues of SONiC have the number of the priority whose packets they hold, unless somebody maps them otherwise.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from fleet_runner.core.checks.parsers.port_states.port import (
    DOWNS,
    ECN_MARKS,
    FEC,
    LOSSLESS_DROPS,
    STORM_DROPS,
    STORMS,
    UNCORRECTED,
    SwitchPort,
    downs,
    known,
    mbps,
    priorities,
    table,
    tables,
    whole,
)

Priorities = frozenset[int] | None


def read(said: Mapping[str, str]) -> dict[str, SwitchPort]:
    """Read `show interfaces status`, and what else of PFC, its watchdog, FEC, WRED and flaps is told."""
    rows = {row["interface"]: row for row in table(said["status"]) if row.get("interface")}
    pfc = {row.get("interface"): priorities(row.get("lossless priorities")) for row in table(said.get("pfc", ""))}
    storms, dropped = _watchdog(said.get("watchdog", ""), rows)
    lost = {row.get("iface"): whole(row.get("fec_uncorr")) for row in table(said.get("fec", ""))}
    wred = _wred(said.get("wred", ""), {name: mine for name, mine in pfc.items() if name is not None})
    flaps = {row.get("interface"): _downs(row.get("flap count", "")) for row in table(said.get("flaps", ""))}
    return {
        name: SwitchPort(
            mbps=mbps(row.get("speed")),
            mtu=whole(row.get("mtu")),
            fec=FEC.get(row.get("fec", "").lower(), ""),
            pfc=pfc.get(name),
            counts=known(
                {
                    UNCORRECTED: lost.get(name),
                    STORMS: storms.get(name),
                    STORM_DROPS: dropped.get(name),
                    DOWNS: flaps.get(name),
                }
            )
            | wred.get(name, {}),
        )
        for name, row in rows.items()
    }


def _downs(told: str) -> int | None:
    return 0 if told == "Never" else downs(whole(told))


def _watchdog(text: str, ports: Iterable[str]) -> tuple[Counter[str], Counter[str]]:
    """Return the storms of each port, and the packets that were dropped meanwhile.

    Queues without a storm are not named. The table has no last line: half a row is refused, and of a connection that
    broke ssh's status tells.
    """
    whole_table = "storm detected/restored" in text.lower() and text.endswith("\n")
    none = dict.fromkeys(ports if whole_table else (), 0)
    storms, dropped = Counter(none), Counter(none)
    for row in table(text):
        name = row.get("queue", "").partition(":")[0]
        storms[name] += whole(row.get("storm detected/restored", "").partition("/")[0]) or 0
        for title in ("tx ok/drop", "rx ok/drop"):
            dropped[name] += whole(row.get(title, "").partition("/")[2]) or 0
    return storms, dropped


def _wred(text: str, pfc: Mapping[str, Priorities]) -> dict[str, dict[str, int]]:
    """Return what WRED dropped and marked at each port whose queues are all there."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for each in tables(text):
        if not each.ended:
            continue
        for row in each.rows:
            mine = found[row.get("port", "")]
            queue, marked = row.get("txq", ""), whole(row.get("ecnmarked/pkts"))
            lost, lossless = whole(row.get("wreddrp/pkts")), pfc.get(row.get("port", "")) or ()
            if marked is not None:
                mine[ECN_MARKS] = mine.get(ECN_MARKS, 0) + marked
            if lost is not None and queue.startswith("UC") and whole(queue[2:]) in lossless:
                mine[LOSSLESS_DROPS] = mine.get(LOSSLESS_DROPS, 0) + lost
    return found
