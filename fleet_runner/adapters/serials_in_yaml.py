"""Serial numbers of parts put into a site file: in place, with every comment and all other lines left as they are."""

from collections.abc import Iterator, Mapping

import yaml

from fleet_runner.core.errors import SettingsError

ITEMS = "inventory_items"


def edited(text: str, device: str, serials: Mapping[str, str]) -> str | None:
    """Return the text with the serial number of each slot of a device; None where the device is not in this file.

    Raises:
        SettingsError: the text is no YAML, or the device has no such slot, or shares it with others by an alias.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise SettingsError(f"it is not YAML: {' '.join(str(error).split())}") from error
    if root is None or not any(_is_device(each, device) for each in _mappings(root)):
        return None
    places = _items(root, device)
    known = {_text(item, "name"): item for item in places}
    missing = [slot for slot in serials if slot not in known]
    if missing:
        raise SettingsError(
            f"{device} has no inventory item {', '.join(missing)}; it has {', '.join(map(str, known)) or 'none'}"
        )
    changes = [_change(known[slot], serial) for slot, serial in serials.items()]
    for begin, end, words in sorted(changes, reverse=True):
        text = text[:begin] + words + text[end:]
    return text


def _items(root: yaml.Node, device: str) -> list[yaml.MappingNode]:
    mine = next(each for each in _mappings(root) if _is_device(each, device))
    listed = _child(mine, ITEMS)
    rows = listed.value if isinstance(listed, yaml.SequenceNode) else []
    found = [row for row in rows if isinstance(row, yaml.MappingNode)]
    others = [_child(each, ITEMS) for each in _mappings(root) if each is not mine]
    shared = {id(row) for other in others if isinstance(other, yaml.SequenceNode) for row in other.value}
    if any(id(row) in shared for row in found):
        raise SettingsError(f"{device} shares its {ITEMS} with other devices by an alias; give it its own first")
    return found


def _change(item: yaml.MappingNode, serial: str) -> tuple[int, int, str]:
    """Return what is to be replaced by what: the serial's text, or nothing behind the name where there is none."""
    words = yaml.safe_dump(serial, default_style='"', width=1000).strip()
    found = _child(item, "serial")
    if isinstance(found, yaml.ScalarNode):
        return found.start_mark.index, found.end_mark.index, words
    name = next(value for key, value in item.value if key.value == "name")
    end = name.end_mark.index
    if item.flow_style:
        return end, end, f", serial: {words}"
    return end, end, f"\n{' ' * item.start_mark.column}serial: {words}"


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
