"""What is asked of a node's adapters, and of the fabrics and networks behind them."""

from fleet_runner.core.evidence import Read, ReadKind

ADAPTER = "{adapter}"
"""Stands in a command for each adapter of the node in turn: what looks like one read is one for each."""

CONGESTION = ("PortXmitWait", "PortXmitDiscards", "PortRcvSwitchRelayErrors", "VL15Dropped")
"""Counters that a busy fabric moves and a good cable does not stop."""

IBQUERYERRORS = ("ibqueryerrors", "--skip-sl", "--threshold-file", "/dev/null", "-s", ",".join(CONGESTION))

READS = (
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
