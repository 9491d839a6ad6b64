"""What the tests of the Ansible plugins share: plugins as Python modules, tools made on the spot."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def plugin(project: Path) -> Callable[[str], ModuleType]:
    """Load a plugin by its path below `plugins/`, as Ansible does: by file, not by package."""

    def load(path: str) -> ModuleType:
        file = project / "plugins" / f"{path}.py"
        spec = importlib.util.spec_from_file_location(f"fleet_plugin_{file.stem}_{file.parent.name}", file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture
def tool(tmp_path: Path) -> Callable[[str, str], str]:
    """Write a shell script and return its path."""

    def write(name: str, body: str) -> str:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return str(path)

    return write
