"""What nodes and ports of a graph in DOT are called in its picture, where their marks in the text are only that.

A record's field with a mark is a port ("<p1> swp1"), as is a cell with one in a table (`<td port="p1">swp1</td>`);
the field without one is the device. A mark counts unless it is the name in other letters, or a mere place ("p1").
What stands in a port's field may also be what is plugged there, or a speed that others have, too.
"""

import html
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence

from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.checks.parsers.cables_sheet import Row

_FIELD = re.compile(r"\s*(?:<\s*([^<>|{}]{1,80}?)\s*>)?\s*([^<>|{}]{0,120})")
_CELL = re.compile(
    r"<td\b(?:[^>]{0,200}?\bport\s*=\s*[\"']?([^\"'\s>]{1,80}))?[^>]{0,200}>(.{0,400}?)</td>",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(r"<[^<>]{0,200}>")
_NUMBERED = re.compile(r"(?:[a-z]|node|n_)?_?[0-9]{1,6}", re.ASCII | re.IGNORECASE)
_PLACE = re.compile(r"(?:[a-z]|port)?_?[0-9]{0,6}", re.ASCII | re.IGNORECASE)
"""A mark of a field that only says which it is."""
_MARKS = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"[0-9]+")
_NO_LETTERS = re.compile(r"[\W\d_]+")
_LINE = re.compile(r"\\[nlr]|\n|<br\s*/?>", re.IGNORECASE)


def shown(label: str) -> str:
    """Return the first line of a label as it is drawn."""
    plain = label[1:-1] if label.startswith("<") and label.endswith(">") else label
    return html.unescape(_TAG.sub("", _LINE.split(plain)[0])).strip()


def named(rows: Sequence[Row], labels: Mapping[str, str]) -> list[Row]:
    """Return the cables with their devices and ports as the labels call them."""
    if not labels:
        return list(rows)
    fields = {node: _fields(label) for node, label in labels.items()}
    names = {node: _name(node, told) for node, told in fields.items()}
    taken = Counter([*names.values(), *({port.device for row in rows for port in row.link} - names.keys())])
    names = {node: name if taken[name] == 1 else node for node, name in names.items()}
    devices = {names.get(port.device, port.device) for row in rows for port in row.link}
    ports = {node: _ports(told, devices) for node, told in fields.items()}

    def port(mark: Port) -> Port:
        called = ports.get(mark.device, {}).get(mark.interface, mark.interface)
        return Port(names.get(mark.device, mark.device), called)

    return [
        row._replace(
            link=link(*map(port, row.link)),
            roles=tuple((names.get(device, device), role) for device, role in row.roles),
        )
        for row in rows
    ]


def _fields(label: str) -> list[tuple[str, str]]:
    """Return the fields of a record, or the cells of a table: the mark of each ("" for none), and its text."""
    if label.startswith("<"):
        cells = [(mark, shown(f"<{text}>")) for mark, text in _CELL.findall(label)]
        return cells or [("", shown(label))]
    return [(mark, shown(text)) for mark, text in map(_of_field, re.split(r"[|{}]", label)) if mark or text.strip()]


def _of_field(field: str) -> tuple[str, str]:
    found = _FIELD.match(field)
    return (found[1] or "", found[2]) if found else ("", "")


def _ports(fields: Iterable[tuple[str, str]], devices: Container[str]) -> dict[str, str]:
    """Return what the ports of a node are called, by their marks: nothing where texts are no names of its ports."""
    told = {mark: text for mark, text in fields if mark and text}
    if len(set(told.values())) < len(told) or any(text in devices for text in told.values()):
        return {}
    return {
        mark: text
        for mark, text in told.items()
        if " " not in text and (_short(mark, text) or _PLACE.fullmatch(mark) is not None)
    }


def _name(node: str, fields: Sequence[tuple[str, str]]) -> str:
    """Return what a node is called: by its first field without a mark, if that is a name and the node's mark none.

    A label of one field without a number ("spine") is what it is, not what it is called.
    """
    text = next((text for mark, text in fields if not mark and text), "")
    place = _NUMBERED.fullmatch(node) is not None and (len(fields) > 1 or any(map(str.isdigit, text)))
    return text if text and " " not in text and (place or _same(text, node)) else node


def _short(mark: str, text: str) -> bool:
    """Return whether a mark is a name or short for it: "swp_1" of "swp1", "eth1_1" of "Ethernet1/1"."""
    letters, name = (_NO_LETTERS.sub("", each).casefold() for each in (mark, text))
    return name.startswith(letters) and _NUMBER.findall(mark) == _NUMBER.findall(text)


def _same(one: str, other: str) -> bool:
    return _MARKS.sub("", one).casefold() == _MARKS.sub("", other).casefold()
