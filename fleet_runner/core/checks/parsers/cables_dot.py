"""Designed cables as a graph in DOT, as topology checks of switches take it (PTM's topology.dot).

An edge is a cable, and what follows the colon of each end is its port: "leaf-01":"swp1" -- "gpu-01":"eth0". Of a
node that is drawn as a record of its ports that is the mark of one of them ("<p1> swp1"). Where nothing follows, the
edge's headport and tailport, or headlabel and taillabel, say it. What else there is of DOT is skipped, but a node's
function or role says whether it is a server, and its label what it is called (`dot_labels`).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.checks.parsers import dot_labels
from fleet_runner.core.checks.parsers.cables_sheet import Row, Sheet

_NAME = r'"(?:[^"\\]|\\.)*"|<(?:[^<>]|<[^<>]*>)*>|(?:(?!--|->|//|/\*)[^\s"\[\]{};,=:<>#])+'
_SKIPPED = r"[\s;,]+|//[^\n]*|/\*.*?\*/|\#[^\n]*"
_TOKEN = re.compile(rf"(?P<skipped>{_SKIPPED})|(?P<edge>--|->)|(?P<mark>[\[\]{{}}:=])|(?P<name>{_NAME})", re.DOTALL)
_BEGINS = re.compile(
    rf"(?:{_SKIPPED})*+(?:(?:strict\s+)?(?:di)?graph\b[^{{,]*\{{|(?:{_NAME})\s*:\s*(?:{_NAME})\s*-[->])",
    re.DOTALL | re.IGNORECASE,
)
_END = 'expected an edge such as "leaf-01":"swp1" -- "gpu-01":"eth0", or one with a taillabel and a headlabel'
_LINES = re.compile(r"\\[nlr]")
"""How a label's lines end."""
_OWN = r"\N"
"""What a node's own name is in its label."""
_ROLES = ("function", "role")
_KINDS = frozenset({"host", "server", "leaf", "spine", "tor", "switch", "oob-switch"})
"""Values of these attributes that say what a device is."""


_COMPASS = frozenset({"n", "ne", "e", "se", "s", "sw", "w", "nw", "c", "_"})
"""Where an edge begins at a node, which is no port."""

_DEFAULTS = frozenset({"graph", "node", "edge"})
"""What stands in a node's place where something is said of all of them."""


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


class _End(NamedTuple):
    """The name of a device at the end of an edge, and the port that follows it."""

    token: _Token
    port: str


@dataclass(slots=True)
class _Reader:
    """What is left of the tokens, the last end of an edge that was read, and what the graph said so far."""

    name: str
    tokens: list[_Token]
    at: int = 0
    rows: list[Row] = field(default_factory=list[Row])
    roles: dict[str, str] = field(default_factory=dict[str, str])
    labels: dict[str, str] = field(default_factory=dict[str, str])

    def next(self) -> _Token:
        """Return the next token, behind the last one an empty one."""
        return self.tokens[self.at]

    def take(self) -> _Token:
        """Return the next token and go on; behind the last one there is no further."""
        token = self.tokens[self.at]
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def error(self, token: _Token) -> SourceError:
        """Say what was found where an edge was expected."""
        found = repr(token.text)[:60] if token.text else "the end of the file"
        return SourceError(f"{self.name}:{token.line}: found {found}, {_END}")


def begins(text: str) -> bool:
    """Whether a text is a graph in DOT, with or without its head."""
    return _BEGINS.match(text.lstrip("\ufeff")) is not None


def read(text: str, name: str) -> Sheet:
    """Return the cables of a graph; SourceError names the line, what was found and what was expected."""
    it = _Reader(name, [*_tokens(text.lstrip("\ufeff"), name)])
    depth = _head(it)
    while (token := it.next()).text:
        if token.text in {"{", "}"} and token.kind == "mark":
            it.take()
            depth += 1 if token.text == "{" else -1
        else:
            _statement(it)
    if depth > 0:
        raise SourceError(f"{name}:{it.next().line}: the graph does not end, expected }}; was it cut short?")
    if not it.rows:
        raise SourceError(f"{name}: it is a graph without a cable; {_END}")
    rows = [row._replace(roles=_roles(row, it.roles)) for row in it.rows] if it.roles else it.rows
    return Sheet(name, tuple(dot_labels.named(rows, it.labels)))


def _tokens(text: str, name: str) -> Iterator[_Token]:
    at, line = 0, 1
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            what = "a quote that never ends" if text[at] == '"' else repr(text[at])
            raise SourceError(f"{name}:{line}: found {what}, {_END}")
        kind = found.lastgroup or ""
        if kind != "skipped":
            yield _Token(kind, found[0], line)
        line += found[0].count("\n")
        at = found.end()
    yield _Token("", "", line)


def _head(it: _Reader) -> int:
    """Skip "strict graph NAME {"; return how many braces are open behind it."""
    head = next((number for number, token in enumerate(it.tokens[:4]) if token.text == "{"), None)
    if head is None or it.next().text.lower() not in {"strict", "graph", "digraph"}:
        return 0
    it.at = head + 1
    return 1


def _statement(it: _Reader) -> None:
    """Read one edge or a chain of them, a node, an attribute, or the head of a subgraph."""
    first = it.take()
    if first.kind != "name":
        raise it.error(first)
    if first.text.lower() == "subgraph":
        if it.next().kind == "name":
            it.take()
        return
    if it.next().text == "=":
        it.take()
        it.take()
        return
    ends = [_end(first, it)]
    if it.next().kind != "edge":
        _node(_bare(first), _attributes(it), it)
        return
    edges: list[_Token] = []
    while it.next().kind == "edge":
        edges.append(it.take())
        end = it.take()
        if end.kind != "name" or end.text.lower() == "subgraph":
            raise it.error(end)
        ends.append(_end(end, it))
    told = _attributes(it)
    for edge, tail, head in zip(edges, ends, ends[1:], strict=False):
        near, far = _port(tail, told, "tail"), _port(head, told, "head")
        if near is None or far is None:
            raise it.error((head if near else tail).token)
        it.rows.append(Row(edge.line, link(near, far)))


def _node(name: str, told: Mapping[str, str], it: _Reader) -> None:
    """Note what a node says of itself."""
    for role in (told.get(key, "").lower() for key in _ROLES):
        if role in _KINDS:
            it.roles[name] = role
    if name not in _DEFAULTS and "label" in told:
        it.labels[name] = told["label"].replace(_OWN, name)


def _end(first: _Token, it: _Reader) -> _End:
    """Return a device with the port that follows it; "" where none does, or only where an edge begins at it."""
    told: list[str] = []
    while it.next().text == ":":
        it.take()
        token = it.take()
        if token.kind != "name":
            raise it.error(token)
        told.append(_bare(token))
    return _End(first, told[0] if told and told[0].lower() not in _COMPASS else "")


def _port(end: _End, told: Mapping[str, str], side: str) -> Port | None:
    """Return a port at an end of an edge, by what follows the device, else by what the edge says; None if nothing."""
    said = (dot_labels.shown(told.get(f"{side}{what}", "")) for what in ("port", "label"))
    port = end.port or next((each for each in said if each and each.lower() not in _COMPASS), "")
    device = _bare(end.token)
    return Port(device, port) if device and port else None


def _attributes(it: _Reader) -> dict[str, str]:
    """Return what stands in brackets, if anything does."""
    told: dict[str, str] = {}
    while it.next().text == "[":
        opened = it.take()
        while (token := it.take()).text != "]":
            if not token.text:
                raise SourceError(f"{it.name}:{opened.line}: found [ without its ]; was it cut short?")
            if it.next().text == "=":
                it.take()
                told[_bare(token)] = _bare(it.next()._replace(text=_LINES.sub("\n", it.next().text)))
    return told


def _bare(token: _Token) -> str:
    text = token.text
    return re.sub(r"\\([^N])", r"\1", text[1:-1], flags=re.DOTALL).strip() if text.startswith('"') else text


def _roles(row: Row, told: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((port.device, told[port.device]) for port in row.link if port.device in told)
