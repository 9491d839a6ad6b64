"""The wheel of NetBox's plugin: all that it shows pages with, and nothing of fleet-runner."""

from pathlib import Path
from zipfile import ZipFile

from tests.netbox_plugin.wheel import built, sources


def test_its_wheel_holds_its_modules_and_templates_and_needs_nothing(tmp_path: Path) -> None:
    wheel = built(tmp_path)
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    held = {name for name in names if ".dist-info/" not in name}
    assert held == {name for name in sources() if name.startswith("netbox_fleet_runner/")}
    assert {Path(name).suffix for name in held} == {".py", ".html"}
    assert wheel.name.startswith("netbox_fleet_runner-")
    assert "Requires-Python: >=3.12" in metadata
    assert "Requires-Dist" not in metadata


def test_it_imports_nothing_of_fleet_runner() -> None:
    """NetBox's environment has no fleet-runner, and no need of one."""
    root = Path(__file__).resolve().parents[2] / "netbox_plugin"
    texts = {path: path.read_text("utf-8") for path in root.rglob("*.py")}
    assert texts
    assert not [path for path, text in texts.items() if "import fleet_runner" in text or "from fleet_runner" in text]
