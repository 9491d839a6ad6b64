"""With which environment a fork may be made: what was imported was imported with one, and read it.

Variables of a batch are left out. They differ from batch to batch, and nothing reads them while it is imported.
"""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

OWN = ("FLEET_", "AWX_ISOLATED_DATA_DIR")
"""How variables begin that are a batch's own."""


class Surroundings(NamedTuple):
    """What a play must have of variables, and the digest of what a supervisor must have."""

    play: Mapping[str, str]
    supervisor: str


def shared(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that are no batch's own."""
    return {name: value for name, value in environment.items() if not name.startswith(OWN)}


def digest(environment: Mapping[str, str]) -> str:
    """Return a digest of the variables that are no batch's own: it fits into one of them, whatever their size."""
    return hashlib.sha256(repr(sorted(shared(environment).items())).encode("utf-8", "surrogateescape")).hexdigest()


def why_not(environment: Mapping[str, str], expected: Surroundings, *, is_supervisor: bool) -> str:
    """Return why what has this environment may not be forked, "" where it may."""
    if is_supervisor:
        same = digest(environment) == expected.supervisor
        return "" if same else "its environment is another than that of who began the parent"
    found = shared(environment)
    odd = sorted(name for name in {*found, *expected.play} if found.get(name) != expected.play.get(name))
    return f"its environment has another {', '.join(odd)} than Ansible was imported with" if odd else ""
