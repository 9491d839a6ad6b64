"""SONiC: tables of its `show`, which sonic-utilities writes, and modules as lines of names and values.

Queues of SONiC have the number of the priority whose packets they hold, unless somebody maps them otherwise.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from fleet_runner.core.checks.parsers.port_states.modules import (
    RX_POWER,
    TEMPERATURE,
    TX_POWER,
    Measured,
    ModuleAlarm,
    alarms,
    measure,
)
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

_MODULE = re.compile(r"([A-Za-z][A-Za-z0-9/_-]{0,63}): SFP EEPROM detected\s*", re.ASCII)
_LANE = re.compile(r"(RX|TX)([0-9]{1,2})Power", re.ASCII)


def read(said: Mapping[str, str]) -> dict[str, SwitchPort]:
    """Read `show interfaces status`, and what else of PFC, its watchdog, FEC, WRED and flaps is told."""
    rows = {row["interface"]: row for row in table(said["status"]) if row.get("interface")}
    pfc = {row.get("interface"): priorities(row.get("lossless priorities")) for row in table(said.get("pfc", ""))}
    storms, dropped = _watchdog(said.get("watchdog", ""), rows)
    lost = {row.get("iface"): whole(row.get("fec_uncorr")) for row in table(said.get("fec", ""))}
    wred = _wred(said.get("wred", ""), {name: mine for name, mine in pfc.items() if name is not None})
    modules = _modules(said.get("modules", ""))
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
            alarms=modules.get(name, ()) if row.get("oper") == "up" else (),
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


def _modules(text: str) -> dict[str, tuple[ModuleAlarm, ...]]:
    """Return what modules measure beyond their limits; of one that ports share, nobody knows whose a lane is."""
    told: dict[str, dict[str, str]] = {}
    mine: dict[str, str] = {}
    for line in text.split("\n")[:-1]:  # a line without its end may have lost a part
        if not line[:1].isspace():
            begin = _MODULE.fullmatch(line)
            mine = told.setdefault(begin[1], {}) if begin else {}
        else:
            name, _, value = line.partition(":")
            mine.setdefault(name.strip(), value.strip())
    serials = Counter(each.get("Vendor SN", "") for each in told.values())
    return {
        name: alarms(_measured(each, shared=serials[each.get("Vendor SN", "")] > 1)) for name, each in told.items()
    }


def _measured(module: Mapping[str, str], *, shared: bool) -> Iterator[Measured]:
    low, high = measure(module.get("TempLowAlarm")), measure(module.get("TempHighAlarm"))
    yield Measured(TEMPERATURE, 0, measure(module.get("Temperature")), low, high)
    for name, value in () if shared else module.items():
        if lane := _LANE.fullmatch(name):
            what, words = (RX_POWER, "RxPower") if lane[1] == "RX" else (TX_POWER, "TxPower")
            low, high = measure(module.get(f"{words}LowAlarm")), measure(module.get(f"{words}HighAlarm"))
            yield Measured(what, int(lane[2]), measure(value), low, high)
