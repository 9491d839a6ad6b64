"""One fault that can be put into a lab's node, and taken out again."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fleet_runner.lab.folder import Lab

Options = dict[str, Any]


class Fault(NamedTuple):
    """One fault. `options` are its defaults; `begin` and `end` do more than note it in the node's state.

    `seen_by` are the checks that FAIL for it as it is by default; none where it makes others UNKNOWN or UNREACHABLE.
    """

    sentence: str
    seen_by: tuple[str, ...] = ()
    options: Mapping[str, Any] = {}
    begin: Callable[[Lab, str, Options], None] | None = None
    end: Callable[[Lab, str, Options], None] | None = None
