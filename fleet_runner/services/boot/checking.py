"""Is a rendered document one that cloud-init can use? Asked for each one before it is sent."""

from typing import Any

import yaml

from fleet_runner.core.base.errors import DocumentError
from fleet_runner.core.inventory.consistency import show

HEADER = "#cloud-config"
MAX_BYTES = 1_000_000  # of one document: a slip in a template's loop, never a node's real data

_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEPTHS = {
    yaml.MappingStartEvent: 1, yaml.SequenceStartEvent: 1, yaml.MappingEndEvent: -1, yaml.SequenceEndEvent: -1,
}  # fmt: skip
_ALIAS = "*"


def checked(text: str, *, header: bool) -> bytes:
    """Return a document for sending, or raise DocumentError.

    It must be one YAML mapping without a key twice, and begin with cloud-init's first line where it needs one. What
    is wrong is told by line, and never quoted: the document may hold secrets.
    """
    body = text.encode("utf-8")
    if len(body) > MAX_BYTES:
        raise DocumentError(f"it has {len(body)} bytes, expected {MAX_BYTES} at most")
    if header and text.partition("\n")[0].rstrip() != HEADER:
        raise DocumentError(f"its first line is not {HEADER}, so cloud-init would ignore it")
    try:
        whole = _is_mapping(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1} of the document" if mark else "the document"
        raise DocumentError(f"{line} is no YAML: {error.problem or error.context}") from None
    except yaml.YAMLError:
        raise DocumentError("the document is no YAML: it holds a character that YAML does not know") from None
    if not whole:
        raise DocumentError("the document is no mapping, expected `key: value` lines, or {} for none")
    return body


def _is_mapping(text: str) -> bool:
    """Read the events only, which costs a third of building values; tags and aliases need the whole work."""
    parser = _PARSER(text)
    keys = _Keys()
    first: Any = None
    plain = True
    while not isinstance(event := parser.get_event(), yaml.StreamEndEvent):
        if isinstance(event, yaml.DocumentStartEvent) and first is not None:
            raise DocumentError(f"line {_line(event)} of the document begins a second one, expected one")
        if isinstance(event, yaml.NodeEvent):
            first = first or event
            plain = plain and getattr(event, "tag", _ALIAS) is None
        keys.take(event)
    if not plain:
        return isinstance(yaml.load(text, Loader=_PARSER), dict)  # noqa: S506  it is a safe loader
    return isinstance(first, yaml.MappingStartEvent)


class _Keys:
    """The keys of a mapping as its events pass; of two that are the same, cloud-init would drop one silently."""

    def __init__(self) -> None:
        self.depth = 0
        self.nodes = 0  # inside the mapping: keys and values in turn
        self.lines: dict[str, int] = {}

    def take(self, event: Any) -> None:
        """Look at one event, or raise DocumentError."""
        turn = _DEPTHS.get(event.__class__, 0)
        if turn == 0 and isinstance(event, yaml.ScalarEvent) and self.depth == 1 and self.nodes % 2 == 0:
            self._key(event)
        self.depth += turn
        if self.depth == 1 and (turn < 0 or (turn == 0 and isinstance(event, yaml.NodeEvent))):
            self.nodes += 1

    def _key(self, event: Any) -> None:
        if event.value in self.lines:
            where = f"line {_line(event)} of the document has the key {show(event.value)}"
            again = f"{where} of line {self.lines[event.value]} again"
            raise DocumentError(f"{again}; cloud-init would use one of them, make them one")
        self.lines[event.value] = _line(event)


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
