"""The store: what is known about the fleet, in one database that holds its own promises.

Whoever asks here for the Store has it imported, with SQLAlchemy: half a short command's time. `reader` needs neither.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fleet_runner.adapters.store.facade import ResultFilter, Store

__all__ = ["ResultFilter", "Store"]


def __getattr__(name: str) -> Any:
    """Import the Store, or the filter of its results, for whoever asks first."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fleet_runner.adapters.store import facade  # noqa: PLC0415  see above

    found = globals()[name] = getattr(facade, name)
    return found
