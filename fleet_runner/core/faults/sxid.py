"""What the NVSwitches' SXid codes mean, of lines that name no severity themselves.

Codes and their classes are facts of NVIDIA's Fabric Manager guide (its tables of fatal, always fatal and non-fatal
errors).
"""

ALWAYS_FATAL = frozenset({10003, 12020, 22003, 22011, *range(23001, 23018)})
"""After these the whole node must be restarted: all GPUs and NVSwitches are reset together."""

FATAL = frozenset({
    10001, 10002, 10004, 10005,  # the host interface; its temperature
    11001, 11009, 11013, 11018, 11019, 11020,  # ingress
    12001, 12002, 12022, 12024, 12025, 12026, 12027, 12030, 12031, 12032,  # egress
    14017,  # time-outs
    15001, 15006, 15009, 15010, 15012, 15013,  # routing
    19047, 19048, 19054, 19056, 19058, 19060, 19061, 19063, 19064, 19066, 19067, 19069, 19070,  # multicast
    20034,  # a link went down: the common one, mostly beside a GPU's Xid 74
    22012,  # the link's processor
    24004, 24005, 24006, 24007,  # source tracking
})  # fmt: skip
"""These end the work of the GPUs that use the switch, which are then reset with it."""

COOLING = frozenset({10004, 10005})
"""A switch became too hot, or cooled down again: fatal by the guide's table, yet the remedy is air."""

NON_FATAL = frozenset({
    11004, 11012, 11021, 11022, 11023, 12021, 12023, 12028, 15008, 15011, 19049, 19055, 19057, 19059, 19062, 19065,
    19068, 19071, 19084, 20001, 20009, 20012, 22013, 24001, 24002, 24003,
})  # fmt: skip
"""These were corrected or retried: nothing follows."""
