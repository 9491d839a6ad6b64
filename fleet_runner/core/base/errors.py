"""The errors this product raises: where the fact is known; caught only at a border (plugin, adapter, cli).

A message is one sentence: where, what was found, what was expected, and what to do next.
"""


class FleetError(Exception):
    """Anything a person can act on; its text is shown without a traceback."""


class SettingsError(FleetError):
    """A setting is missing or unusable."""


class SourceError(FleetError):
    """The source of truth cannot be read, or contradicts itself."""


class SourceUnavailableError(SourceError):
    """The source of truth gives no answer now; what it said before may be as true as ever."""


class StoreError(FleetError):
    """The store cannot be read or written; nothing was half-written."""


class UnwritableError(StoreError):
    """The store works, and what it was given can never be written: trying again changes nothing."""


class NoStoreError(StoreError):
    """There is no store yet: nothing was ever written down."""


class SchemaError(StoreError):
    """The store has the schema of an older release, which can be migrated, or of a newer one, which cannot."""

    def __init__(self, sentence: str, *, newer: bool) -> None:
        super().__init__(sentence)
        self.newer = newer


class NotLeaderError(StoreError):
    """Another runner decides for the fleet, where what is due is decided; nothing is wrong."""


class EvidenceError(FleetError):
    """Evidence cannot be parsed; the verdict is UNKNOWN, never FAIL."""


class PhotoError(FleetError):
    """What was sent is no photo that can be kept."""


class BmcError(FleetError):
    """A BMC did not answer, or answered with something that is not Redfish; `status` is that of its answer."""

    status: int | None = None


class BmcRefused(BmcError):  # noqa: N818  it is an answer, and not always an error
    """It is certain that a BMC did not take what it was asked to do: it said so, or was never reached."""


class NotOfferedError(BmcRefused):
    """A BMC offers no way at all to do what it was asked to; asking again changes nothing."""


class DocumentError(FleetError):
    """A document of a boot cannot be rendered for one node; the others have theirs."""


class ImageError(FleetError):
    """An image, of boots or of firmware, is not there or not what it should be; nothing of it is served or sent."""


class JoinError(FleetError):
    """A cluster did not give what a node joins it with, or could not be asked."""


class SchedulerError(FleetError):
    """A scheduler cannot be asked, does not know a node, or did not do what it was asked.

    `seconds` is how long it asks to be left alone, having too much to do.
    """

    seconds: float = 0.0


class ConflictError(StoreError):
    """Somebody else moved the node, holds its run, or has taken the work over; read again and decide again."""


class RunOverError(ConflictError):
    """A run has ended, or its node was taken over: waiting changes nothing about that."""
