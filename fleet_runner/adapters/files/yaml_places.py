"""Where things stand in a YAML file: the line of what a path leads to, and keys that stand twice."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from fleet_runner.core.base.fields import Path as FieldPath
from fleet_runner.core.base.fields import named


class Document(NamedTuple):
    """A file's nodes, and what they mean; no root for an empty file."""

    root: yaml.Node | None
    content: Any


class Unreadable(Exception):  # noqa: N818  (no error of the product: whoever reads a file says what it was for)
    """A file is no YAML, or cannot be read."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


class _Loader(yaml.SafeLoader):
    """Reads what Ansible reads, without its tags: a secret, or a template, is only a text here."""


_Loader.add_multi_constructor("!", lambda loader, _tag, node: loader.construct_scalar(node))


def load(path: Path) -> Document:
    """Read a file.

    Raises:
        Unreadable: with the line, and what is wrong.
    """
    try:
        loader = _Loader(path.read_bytes())
        root = loader.get_single_node()
        return Document(root, loader.construct_document(root) if root is not None else None)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise Unreadable(line, f"this is no YAML: {error.problem or error.context}") from error
    except OSError as error:
        raise Unreadable(1, f"this cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Unreadable(1, f"this cannot be read: {' '.join(str(error).split())}") from error


def twice(node: yaml.Node, root: str = "fleet_profile") -> Iterator[tuple[int, str]]:
    """Give line and sentence of each key that stands twice: YAML takes the last one, silently."""
    yield from _twice(node, ((), root), set())


def _twice(node: yaml.Node, at: tuple[FieldPath, str], seen: set[int]) -> Iterator[tuple[int, str]]:
    if id(node) in seen:  # an alias: it was looked at where its anchor is
        return
    seen.add(id(node))
    path, root = at
    if isinstance(node, yaml.SequenceNode):
        for index, each in enumerate(node.value):
            yield from _twice(each, ((*path, index), root), seen)
    if isinstance(node, yaml.MappingNode):
        lines: dict[str, int] = {}
        for key, value in node.value:
            name = str(key.value)
            if name in lines and name != "<<":
                where = named((*path, name), root)
                yield line_of(key), f"{where}: found again, expected once; it stands in line {lines[name]}"
            lines[name] = line_of(key)
            yield from _twice(value, ((*path, name), root), seen)


def line_at(node: yaml.Node, path: FieldPath) -> int:
    """Return the line of what a path leads to, or of the nearest that there is above it."""
    line = line_of(node)
    for step in path:
        if isinstance(node, yaml.MappingNode):
            keys = [(key, value) for key, value in node.value if means(key, step)]
            if not keys:
                break
            key, node = keys[-1]
            line = line_of(key)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = line_of(node)
        else:
            break
    return line


def means(key: yaml.Node, name: str | int) -> bool:
    """Whether a key is the one that is called so, once YAML has made a number of it, say."""
    loader = _Loader("")
    return isinstance(key, yaml.ScalarNode) and str(loader.construct_object(key)) == str(name)


def line_of(node: yaml.Node) -> int:
    """Return the line in which a node begins, from 1."""
    return int(node.start_mark.line) + 1
