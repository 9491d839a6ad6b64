"""YAML with line marks, read for what site files need and refusing the rest of YAML.

Scalars keep their text: a serial number 0012 stays what was written, and who reads the field knows its type.
"""

import math
from typing import Any

import yaml

from fleet_runner.core.inventory.consistency import Problem, show

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MAX_DEPTH = 40
MAX_ALIASED = 100_000  # values that aliases may repeat in one file: plenty for people, too few for a bomb
RESOLVED = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("null", "bool", "int", "float"))
"""What a scalar without quotes can mean besides text; dates stay text, as JSON has none."""

_RESOLVERS = yaml.SafeLoader.yaml_implicit_resolvers
_MEANINGS = yaml.constructor.SafeConstructor()


class Plain(str):
    """A scalar without quotes: it may mean a number, true, false or nothing."""

    __slots__ = ()


class Map:
    """A YAML mapping; `lines` has the line of every key, counted from 1."""

    __slots__ = ("items", "line", "lines")

    def __init__(self, line: int) -> None:
        self.line = line
        self.items: dict[str, Any] = {}
        self.lines: dict[str, int] = {}


class Seq:
    """A YAML sequence; `lines` has the line of every entry, counted from 1."""

    __slots__ = ("items", "line", "lines")

    def __init__(self, line: int) -> None:
        self.line = line
        self.items: list[Any] = []
        self.lines: list[int] = []


class Unreadable(Exception):  # noqa: N818  it carries a problem up to the file it is in
    """The file cannot be read any further."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line, self.text = line, text


def parse(text: str, file: str, problems: list[Problem]) -> Any:
    """Return the tree of a file (Map, Seq, or str), or None for an empty one; what is wrong goes to `problems`."""
    try:
        return _Builder(text, file, problems).document()
    except Unreadable as error:
        problems.append(Problem(f"{file}:{error.line}", error.text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        hint = "; indent with spaces, not tabs" if "\t" in _line(text, line) else "; correct the YAML there"
        problems.append(Problem(f"{file}:{line}", f"invalid YAML: {error.problem or error.context}{hint}"))
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        problems.append(
            Problem(f"{file}:{line}", f"invalid YAML: found the character {error.character!r}, take it out")
        )
    except yaml.YAMLError as error:
        problems.append(Problem(f"{file}:1", f"invalid YAML: {show(error)}; correct it"))
    return None


def meaning(text: str) -> Any:
    """Return what a scalar means, as PyYAML and so Ansible read it: "no" without quotes is False."""
    if not isinstance(text, Plain):
        return text
    for tag, pattern in _RESOLVERS.get(text[:1], ()):
        if tag in RESOLVED and pattern.match(text):
            return _value(tag, str(text))
    return str(text)


def plain_json(node: Any) -> Any:
    """Return what a tree means, as JSON values; numbers that JSON cannot carry stay text."""
    match node:
        case Map():
            return {key: plain_json(value) for key, value in node.items.items()}
        case Seq():
            return [plain_json(value) for value in node.items]
        case _:
            return meaning(node)


def _value(tag: str, text: str) -> Any:
    try:
        found = _MEANINGS.construct_object(yaml.ScalarNode(tag, text))
    except ValueError:
        return text  # a number that Python refuses to read, such as one of 5,000 digits
    finally:
        _MEANINGS.constructed_objects.clear()
    return text if isinstance(found, float) and not math.isfinite(found) else found


def _line(text: str, number: int) -> str:
    lines = text.split("\n", number)
    return lines[number - 1] if number <= len(lines) else ""


class _Builder:
    """Builds one file's tree from its events; aliases are shared, and counted as if they were not."""

    def __init__(self, text: str, file: str, problems: list[Problem]) -> None:
        self.parser = LOADER(text)
        self.file, self.problems = file, problems
        self.anchors: dict[str, tuple[Any, int, int]] = {}  # tree, how many values, how deep
        self.count = 0
        self.aliased = 0
        self.deepest = 0

    def document(self) -> Any:
        tree = None
        while not isinstance(event := self.parser.get_event(), yaml.StreamEndEvent):
            if isinstance(event, yaml.NodeEvent):
                tree = self.node(event, 0)
            elif isinstance(event, yaml.DocumentStartEvent) and tree is not None:
                raise Unreadable(_line_of(event), "found a second YAML document, expected one per file")
        return tree

    def node(self, event: Any, depth: int) -> Any:
        if isinstance(event, yaml.ScalarEvent) and event.tag is None and event.anchor is None:
            self.count += 1  # nine of ten nodes are this: no more work than it takes
            return Plain(event.value) if event.implicit[0] else event.value
        if isinstance(event, yaml.AliasEvent):
            return self.alias(str(event.anchor), _line_of(event), depth)
        if event.tag is not None:
            raise Unreadable(_line_of(event), f"found the YAML tag {show(event.tag)}, expected plain values")
        before, outside = self.count, self.deepest
        self.deepest = 0
        self.reach(depth, _line_of(event))
        self.count += 1
        tree = self.content(event, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = (tree, self.count - before, self.deepest - depth)
        self.deepest = max(outside, self.deepest)
        return tree

    def content(self, event: Any, depth: int) -> Any:
        if isinstance(event, yaml.ScalarEvent):
            return Plain(event.value) if event.implicit[0] else event.value
        if isinstance(event, yaml.SequenceStartEvent):
            found = Seq(_line_of(event))
            while not isinstance(child := self.parser.get_event(), yaml.SequenceEndEvent):
                found.items.append(self.node(child, depth + 1))
                found.lines.append(child.start_mark.line + 1)
            return found
        tree = Map(_line_of(event))
        self.fill(tree, depth)
        return tree

    def reach(self, depth: int, line: int) -> None:
        self.deepest = max(self.deepest, depth)
        if depth > MAX_DEPTH:
            raise Unreadable(line, f"values are nested more than {MAX_DEPTH} deep; flatten them")

    def fill(self, tree: Map, depth: int) -> None:
        merged: list[Any] = []
        while not isinstance(event := self.parser.get_event(), yaml.MappingEndEvent):
            line = event.start_mark.line + 1
            key = self.node(event, depth + 1)
            value = self.node(self.parser.get_event(), depth + 1)
            if not isinstance(key, str):
                raise Unreadable(line, "found a list or mapping as a key, expected a name")
            if isinstance(key, Plain) and key == "<<":
                merged.append((value, line))
            elif key in tree.items:
                text = f"key {show(key)} is already given on line {tree.lines[key]}; take one out"
                self.problems.append(Problem(f"{self.file}:{line}", text))
            else:
                tree.items[str(key)] = value
                tree.lines[str(key)] = line
        for value, line in merged:
            _merge(tree, value, line)

    def alias(self, name: str, line: int, depth: int) -> Any:
        if name not in self.anchors:
            raise Unreadable(line, f"found the alias {show('*' + name)} inside or before what it stands for")
        tree, size, height = self.anchors[name]
        self.reach(depth + height, line)
        self.count += size
        self.aliased += size
        if self.aliased > MAX_ALIASED:
            raise Unreadable(line, f"aliases repeat more than {MAX_ALIASED} values; write the file without them")
        return tree


def _line_of(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _merge(tree: Map, value: Any, line: int) -> None:
    """Take over the keys of a merge (`<<: *defaults`) that the mapping does not give itself."""
    for source in value.items if isinstance(value, Seq) else [value]:
        if not isinstance(source, Map):
            raise Unreadable(line, "found a merge (<<) of something that is not a mapping")
        for key, taken in source.items.items():
            if key not in tree.items:
                tree.items[key], tree.lines[key] = taken, line
