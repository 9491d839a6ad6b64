"""Which firmware is not ours to update: the network adapters of nodes that their customers manage."""

import re

from fleet_runner.core.firmware.inventory import Entry

WITHHELD = "withheld, because the node is customer-managed and its network adapters are its customer's"
"""Why an entry stays as it is."""

_ADAPTER = re.compile(
    r"(?<![a-z])(?:nic|hca|ib|mcx|mlx|cx)s?(?![a-z])|infini ?band|connect[ -]?x|mellanox|blue ?field"
    r"|network[ _-]?adapter"
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Where a word ends within a name such as "OnboardNIC"."""


def is_adapter(component: str, entry: Entry) -> bool:
    """Whether an entry is a network adapter's, by its row's name or by what its BMC calls it.

    In doubt it is one: an update that was left out is seen and done later. The adapters of NVLink switches belong to
    the GPU baseboard, and reach no network of a customer's.
    """
    names = [_CAMEL.sub(" ", name).lower() for name in (component, entry.segment, entry.name)]
    return any(_ADAPTER.search(name) for name in names) and not any("nvlink" in name for name in names)
