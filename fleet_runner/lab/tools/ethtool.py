"""`ethtool --show-fec eth0` and `ethtool -S eth0`: a RoCE port's FEC, and what it counted since the boot."""

import sys
import time

from fleet_runner.lab.tools.node import Node
from fleet_runner.lab.tools.roce import DROPS, LOSSLESS, MBPS, PRIORITIES, STORMS, has, is_port

ERRORS = 10**9
"""Of a lossy cable: more than IEEE 802.3 allows in a day, and all at once."""


def run(node: Node, args: list[str]) -> int:
    """Print FEC, or the statistics; any other interface is not there."""
    interface = args[-1] if args[:-1] in (["--show-fec"], ["-S"]) else ""
    if not is_port(node, interface):
        sys.stderr.write("netlink error: No such device\n")
        return 76
    if args[0] == "--show-fec":
        configured = "Supported/Configured FEC encodings: Auto RS"
        sys.stdout.write(f"FEC parameters for {interface}:\n{configured}\nActive FEC encoding: RS\n")
        return 0
    stalled, lossy = has(node, "pause_storm", interface), has(node, "lossy_cable", interface)
    bits = int(max(0.0, time.time() - node.state["boot"]["kernel"]) * MBPS * 1e6)
    counts = {
        "rx_packets": bits // 2**16,
        "rx_packets_phy": bits // 2**16,
        "rx_bits_phy": bits,
        "rx_corrected_bits_phy": bits // 10**9,
        "rx_pcs_symbol_err_phy": ERRORS if lossy else 0,
        "rx_discards_phy": DROPS if stalled else 0,
        "tx_pause_storm_warning_events": STORMS if stalled else 0,
        "tx_pause_storm_error_events": STORMS if stalled else 0,
        "link_down_events_phy": 1,
    }
    for each in PRIORITIES:
        counts[f"rx_prio{each}_pause"] = 0
        counts[f"rx_prio{each}_discards"] = DROPS if stalled and each == LOSSLESS else 0
    sys.stdout.write("NIC statistics:\n" + "".join(f"     {name}: {count}\n" for name, count in counts.items()))
    return 0
