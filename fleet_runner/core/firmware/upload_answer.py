"""Whether a BMC that took an image, by its status, says in the text of its answer that something went wrong."""

from collections.abc import Iterator, Mapping
from typing import Any


def contradicted(body: Mapping[str, Any]) -> str:
    """Return the message of an error within a body that came with a success; "" where there is none.

    Many BMCs say their success in an object `error`, too, and warn of what they took: only what is critical tells, or
    a code without any message.
    """
    error = body.get("error")
    if not isinstance(error, Mapping):
        return ""
    for message in _messages(error):
        severity = message.get("MessageSeverity") or message.get("Severity")
        if str(severity).lower() == "critical":
            return str(message.get("Message") or message.get("MessageId"))
    code = str(error.get("code") or "")
    return code if code.endswith(("InternalError", "GeneralError")) and not any(_messages(error)) else ""


def _messages(error: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    found = error.get("@Message.ExtendedInfo")
    yield from (each for each in found if isinstance(each, Mapping)) if isinstance(found, list) else ()
