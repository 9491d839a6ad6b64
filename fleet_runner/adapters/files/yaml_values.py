"""Values of a device put into a site file: in place, with every comment and all other lines left as they are."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import yaml

from fleet_runner.core.base.errors import SettingsError

ITEMS = "inventory_items"


class Put(NamedTuple):
    """A value for a key of a row, by its name, of one of a device's lists; without a list, of the device itself."""

    rows: str
    name: str
    key: str
    value: str


def edited(text: str, device: str, serials: Mapping[str, str]) -> str | None:
    """Return the text with the serial number of each slot of a device; None where the device is not in this file.

    Raises:
        SettingsError: the text is no YAML, or the device has no such slot, or shares it with others by an alias.
    """
    return put(text, device, [Put(ITEMS, slot, "serial", serial) for slot, serial in serials.items()])


def put(text: str, device: str, values: Iterable[Put]) -> str | None:
    """Return the text with some values of a device; None where the device is not in this file.

    Raises:
        SettingsError: as `edited`.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise SettingsError(f"it is not YAML: {' '.join(str(error).split())}") from error
    if root is None or not any(_is_device(each, device) for each in _mappings(root)):
        return None
    wanted = list(values)
    known = {rows: _rows(root, device, rows) for rows in {each.rows for each in wanted}}
    for rows, places in known.items():
        missing = [each.name for each in wanted if each.rows == rows and each.name not in places]
        if missing:
            what = rows.removesuffix("s").replace("_", " ")
            has = ", ".join(map(str, places)) or "none"
            raise SettingsError(f"{device} has no {what} {', '.join(missing)}; it has {has}")
    changes = [_change(known[each.rows][each.name], each) for each in wanted]
    for begin, end, words in sorted(changes, reverse=True):
        text = text[:begin] + words + text[end:]
    return text


def _rows(root: yaml.Node, device: str, rows: str) -> dict[str | None, yaml.MappingNode]:
    mine = next(each for each in _mappings(root) if _is_device(each, device))
    if not rows:
        return {"": mine}
    found = [row for row in _listed(mine, rows) if isinstance(row, yaml.MappingNode)]
    shared = {id(row) for each in _mappings(root) if each is not mine for row in _listed(each, rows)}
    if any(id(row) in shared for row in found):
        raise SettingsError(f"{device} shares its {rows} with other devices by an alias; give it its own first")
    return {_text(row, "name"): row for row in found}


def _listed(node: yaml.MappingNode, name: str) -> list[yaml.Node]:
    found = _child(node, name)
    return found.value if isinstance(found, yaml.SequenceNode) else []


def _change(row: yaml.MappingNode, given: Put) -> tuple[int, int, str]:
    """Return what is to be replaced by what: the value's text, or nothing behind the name where there is none."""
    words = yaml.safe_dump(given.value, default_style='"', width=1000).strip()
    found = _child(row, given.key)
    if isinstance(found, yaml.ScalarNode):
        return found.start_mark.index, found.end_mark.index, words
    name = next(value for key, value in row.value if key.value == "name")
    end = name.end_mark.index
    if row.flow_style:
        return end, end, f", {given.key}: {words}"
    return end, end, f"\n{' ' * row.start_mark.column}{given.key}: {words}"


def _mappings(node: yaml.Node) -> Iterator[yaml.MappingNode]:
    """Yield the records of a file: the root, or what lists hold below it."""
    if isinstance(node, yaml.SequenceNode):
        for each in node.value:
            yield from _mappings(each)
    elif isinstance(node, yaml.MappingNode):
        if any(key.value == "devices" for key, _ in node.value):
            for key, value in node.value:
                if key.value == "devices":
                    yield from _mappings(value)
        else:
            yield node


def _is_device(node: yaml.MappingNode, name: str) -> bool:
    return _text(node, "name") == name and (
        _child(node, ITEMS) is not None or _child(node, "device_type") is not None
    )


def _text(node: yaml.MappingNode, key: str) -> str | None:
    found = _child(node, key)
    return found.value if isinstance(found, yaml.ScalarNode) else None


def _child(node: yaml.MappingNode, name: str) -> yaml.Node | None:
    return next((value for key, value in node.value if key.value == name), None)
