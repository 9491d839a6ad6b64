"""The benchmarks are run by people, now and then: what a renamed module breaks in one is to be seen at once."""

import ast
import importlib
from pathlib import Path

import pytest

BENCHMARKS = sorted((Path(__file__).resolve().parent.parent / "benchmarks").glob("*.py"))


def taken(path: Path) -> list[tuple[str, str]]:
    """Each (module, name) that a file takes from the product or the tests."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        (node.module or "", alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in {"fleet_runner", "tests"}
        for alias in node.names
    ]


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_what_it_takes_from_the_product_is_there(path: Path) -> None:
    missing = [f"{module}.{name}" for module, name in taken(path) if not there(module, name)]

    assert missing == []


def there(module: str, name: str) -> bool:
    """Whether the module can be imported and has the name, be it a module of its own."""
    try:
        return hasattr(importlib.import_module(module), name) or bool(importlib.import_module(f"{module}.{name}"))
    except ModuleNotFoundError:
        return False
