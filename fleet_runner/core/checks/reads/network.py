"""What is asked of a node's adapters, and of the fabrics and networks behind them."""

from fleet_runner.core.checks.evidence import Read, ReadKind

ADAPTER = "{adapter}"
"""Stands in a command for each adapter of the node in turn: what looks like one read is one for each."""

INTERFACE = "{interface}"
"""Likewise, for each RoCE interface of the profile."""

CONGESTION = ("PortXmitWait", "PortXmitDiscards", "PortRcvSwitchRelayErrors", "VL15Dropped")
"""Counters that a busy fabric moves and a good cable does not stop."""

IBQUERYERRORS = ("ibqueryerrors", "--skip-sl", "--threshold-file", "/dev/null", "-s", ",".join(CONGESTION))

COUNTERS = (
    "symbol_error", "link_downed", "link_error_recovery", "port_rcv_errors", "port_rcv_remote_physical_errors",
    "local_link_integrity_errors", "excessive_buffer_overrun_errors", "VL15_dropped",
)  # fmt: skip
HW_COUNTERS = ("out_of_sequence", "packet_seq_err", "local_ack_timeout_err")
"""Counters of an adapter's port that are read: each costs its firmware a query."""

IB, NET = "/sys/class/infiniband/*", "/sys/class/net/*"

INFINIBAND = (
    *(f"{IB}/{name}" for name in ("fw_ver", "board_id", "hca_type", "node_guid")),
    *(f"{IB}/ports/*/{name}" for name in ("state", "phys_state", "rate", "link_layer", "lid")),
    *(f"{IB}/ports/*/counters/{name}" for name in COUNTERS),
    *(f"{IB}/ports/*/hw_counters/{name}" for name in HW_COUNTERS),
)

INTERFACES = (
    *(f"{NET}/{name}" for name in (
        "operstate", "carrier", "speed", "duplex", "mtu", "carrier_changes", "address",
    )),
    *(f"{NET}/statistics/{name}" for name in (
        "rx_packets", "rx_errors", "tx_errors", "rx_crc_errors", "rx_missed_errors", "rx_dropped",
    )),
    "/proc/net/bonding/*",
)  # fmt: skip

ROCE_COUNTERS = (
    *HW_COUNTERS, "np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "rp_cnp_ignored",
    "roce_adp_retrans", "rx_icrc_encapsulated",
)  # fmt: skip
"""Counters of RoCE itself: what came out of order, and how often DCQCN slowed a sender down."""

ROCE = (
    "/proc/sys/kernel/random/boot_id",
    *(f"{IB}/ports/*/hw_counters/{name}" for name in ROCE_COUNTERS),
    *(f"{NET}/ecn/{side}/enable/[0-7]" for side in ("roce_np", "roce_rp")),
)

STATISTICS = (
    r"(?:^|\s)(?:rx_(?:packets|bits|discards|oversize_pkts|crc_errors|pcs_symbol_err|corrected_bits|err_lane_[0-9]+)_phy"
    r"|link_down_events_phy|tx_pause_storm_(?:warning|error)_events"
    r"|[rt]x_prio[0-7]_(?:pause|pause_duration|discards)):"
)
"""Statistics of an interface that are kept: NVIDIA's driver prints some thousands, most of them of queues."""

READS = (
    Read("infiniband", ReadKind.FILES, INFINIBAND),
    Read("network_interfaces", ReadKind.FILES, INTERFACES),
    Read("roce", ReadKind.FILES, ROCE),
    Read("mlnx_qos", ReadKind.COMMAND, ("mlnx_qos", "-i", INTERFACE), max_bytes=50_000),
    Read("dcb_pfc", ReadKind.COMMAND, ("dcb", "-j", "pfc", "show", "dev", INTERFACE), max_bytes=50_000),
    Read("dcb_app", ReadKind.COMMAND, ("dcb", "-j", "app", "show", "dev", INTERFACE), max_bytes=50_000),
    Read("ethtool_fec", ReadKind.COMMAND, ("ethtool", "--show-fec", INTERFACE), max_bytes=50_000),
    Read("ethtool_statistics", ReadKind.COMMAND, ("ethtool", "-S", INTERFACE), lines=STATISTICS),
    Read("lldp", ReadKind.COMMAND, ("lldpctl", "-f", "json0")),
    # The whole fabric comes back: 4,096 servers print about 100 MB, one building block of 64 about 2 MB.
    Read(
        "ibnetdiscover",
        ReadKind.COMMAND,
        ("ibnetdiscover", "-p"),
        seconds=120.0,
        max_bytes=128_000_000,
        by_adapter=True,
    ),
    # The same fabric once more: only this tells a port that is up, with a silent far end, from one that is down.
    Read(
        "iblinkinfo",
        ReadKind.COMMAND,
        ("iblinkinfo", "-l"),
        seconds=120.0,
        max_bytes=128_000_000,
        by_adapter=True,
    ),
    # A line for each port with an error since its counters were cleared; what only congestion makes is left out. Of
    # the site's own thresholds nothing is wanted, and the service levels that it would ask for take a manager's time.
    Read("ibqueryerrors", ReadKind.COMMAND, IBQUERYERRORS, seconds=300.0, max_bytes=64_000_000, by_adapter=True),
    Read("mlxlink", ReadKind.COMMAND, ("mlxlink", "-d", ADAPTER, "-m", "--json"), seconds=60.0, max_bytes=200_000),
    Read("ibstat", ReadKind.COMMAND, ("ibstat",)),
    # ibstat's report has no end mark: only the list of names tells a short report from a cut one.
    Read("ibstat_list", ReadKind.COMMAND, ("ibstat", "-l")),
)
