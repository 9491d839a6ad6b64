"""Numbers put into a YAML file by their keys, with every comment and all other lines left as they are."""

from collections.abc import Mapping
from decimal import Decimal

import yaml

from fleet_runner.core.base.errors import SettingsError

STEP = 2
"""Columns by which a mapping is indented."""


def edited(text: str, numbers: Mapping[str, float]) -> str:
    """Return the text with each number at its key ("fleet_profile.active.fio.read_gbps_min"), in place or added.

    Raises:
        SettingsError: the text is no YAML, or a key leads to something else than a number.
    """
    for key, value in numbers.items():
        text = _put(text, key, _written(value))
    return text


def _written(value: float) -> str:
    """Write a number without an exponent, which YAML would read as a text."""
    return f"{Decimal(repr(float(value))):f}".removesuffix(".0")


def _put(text: str, key: str, value: str) -> str:
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise SettingsError(f"it is not YAML: {' '.join(str(error).split())}") from error
    names = key.split(".")
    for at, name in enumerate(names):
        if not isinstance(node, yaml.MappingNode):
            where = ".".join(names[:at]) or "the file"
            raise SettingsError(f"{where} is no mapping, expected one with {name} in it")
        found = _child(node, name)
        if found is None:
            return _added(text, node, names[at:], value)
        node = found
    if not isinstance(node, yaml.ScalarNode):
        raise SettingsError(f"{key} holds more than a number; look at the file")
    return text[: node.start_mark.index] + value + text[node.end_mark.index :]


def _child(node: yaml.MappingNode, name: str) -> yaml.Node | None:
    return next((value for key, value in node.value if key.value == name), None)


def _added(text: str, node: yaml.MappingNode, names: list[str], value: str) -> str:
    """Add keys to a mapping: before the brace of one in braces, else in lines of their own below its last."""
    if node.flow_style:
        words = value
        for name in reversed(names[1:]):
            words = f"{{{name}: {words}}}"
        end = node.end_mark.index - 1
        before = text[:end].rstrip() if node.value else text[:end]
        return f"{before}{', ' if node.value else ''}{names[0]}: {words}{text[end:]}"
    column = node.start_mark.column
    lines = [f"{' ' * (column + STEP * at)}{name}:" for at, name in enumerate(names)]
    lines[-1] += f" {value}"
    at = _end(text, node)
    return f"{text[:at]}{'' if text[:at].endswith(chr(10)) else chr(10)}{chr(10).join(lines)}\n{text[at:]}"


def _end(text: str, node: yaml.Node) -> int:
    """Return where the line after a mapping's last value begins; what follows may be comments on something else."""
    while isinstance(node, yaml.MappingNode | yaml.SequenceNode) and not node.flow_style and node.value:
        node = node.value[-1][1] if isinstance(node, yaml.MappingNode) else node.value[-1]
    mark = node.end_mark.index
    if node.end_mark.column == 0 and mark > node.start_mark.index:
        return mark
    line = text.find("\n", mark)
    return len(text) if line < 0 else line + 1
