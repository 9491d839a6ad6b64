"""The rules of the house that no other tool holds: each a rule of CONTRIBUTING.md, over the files as they are."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from fleet_runner.cli import COMMANDS
from fleet_runner.cli.base.session import Exit
from fleet_runner.core.lifecycle.states import Stage

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (
    "fleet_runner", "netbox_plugin", "plugins", "playbooks", "roles", "inventory", "scripts", "tests", "docs", ".ci",
)  # fmt: skip
PLAYBOOKS = sorted((ROOT / "playbooks").glob("*.yml"))
ROLES = sorted(path for path in (ROOT / "roles").glob("*") if (path / "tasks").is_dir())
ADRS = sorted((ROOT / "docs" / "adr").glob("*.md"))
GUIDES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
SHAPELESS = {"manager", "handler", "service", "helper", "helpers", "utils", "util", "common", "base", "misc"}


def named(paths: list[Path]) -> pytest.MarkDecorator:
    """One test per file, under the file's name."""
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.relative_to(ROOT).as_posix())


def texts() -> Iterator[tuple[Path, str]]:
    """Every text file of the project, but the lock files, which hold nothing that a person wrote."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
    paths += [path for path in ROOT.glob("*") if path.suffix != ".lock"]
    for path in paths:
        if path.is_file() and "__pycache__" not in path.parts and path.name not in {".coverage", ".git"}:
            try:
                yield path, path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def matching(pattern: str) -> list[str]:
    """Where a pattern occurs, as file:line."""
    found = re.compile(pattern)
    return [
        f"{path.relative_to(ROOT)}:{number}"
        for path, text in texts()
        for number, line in enumerate(text.splitlines(), 1)
        if found.search(line)
    ]


@named(PLAYBOOKS)
def test_a_playbook_is_short_and_decides_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 25
    assert not re.search(r"^\s*-?\s*when:", text, re.MULTILINE)


def test_every_stage_has_the_playbook_of_its_name() -> None:
    assert {stage.value for stage in Stage} <= {path.stem for path in PLAYBOOKS}


@named(ROLES)
def test_a_role_says_what_it_takes(path: Path) -> None:
    specs = yaml.safe_load((path / "meta" / "argument_specs.yml").read_text(encoding="utf-8"))
    assert specs["argument_specs"]["main"]["short_description"]


@named(ROLES)
def test_a_scenario_skips_nothing(path: Path) -> None:
    """Its tests run without the conftest that has a skip fail in CI."""
    assert not [each for each in path.glob("molecule/*/tests/*.py") if re.search(r"(\.|or)skip", each.read_text())]


def test_no_file_names_a_package_registry() -> None:
    """Which index pip asks is the machine's business."""
    hosts = ["py" + "pi.org", "python" + "hosted", "registry." + "npmjs", "proxy." + "golang", "--index" + "-url"]
    assert not matching("|".join(map(re.escape, hosts)))


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    assert not matching(r"(?<![\w.}])/(wor" + r"k|ro" + r"ot|far" + r"m|hom" + r"e/[a-z]+)/(?!\.)")


def test_the_layers_hold() -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = [int(path.name[:4]) for path in ADRS]
    assert numbers == list(range(1, len(ADRS) + 1))


@named(ADRS)
def test_a_decision_gives_context_decision_and_consequences(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# {int(path.name[:4])}. ")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]


@named(GUIDES)
def test_every_make_command_that_a_guide_names_exists(path: Path) -> None:
    known = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    used = set(re.findall(r"(?:^|`)make ([a-z-]+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    assert used
    assert used <= known


def test_every_command_that_the_readme_names_exists() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code = "\n".join(block or span for block, span in re.findall(r"```\n(.*?)```|`([^`]+)`", text, re.DOTALL))
    used = set(re.findall(r"fleet-runner ([a-z]+)\b", code))
    assert {"status", "explain", "certify", "serve"} <= used
    assert used <= set(COMMANDS)


def test_files_that_the_guides_name_exist() -> None:
    for path in GUIDES:
        links = re.findall(r"\]\(([^)#:]+)[^):]*\)", path.read_text(encoding="utf-8"))
        assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_exit_code_is_documented() -> None:
    text = (ROOT / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)] == sorted(Exit)


def test_every_silenced_rule_has_its_reason() -> None:
    """A code, and on the same line why."""
    silenced = re.compile(r"#\s*(noqa|type: ignore|pyright: ignore)")
    reasoned = re.compile(silenced.pattern + r"(: [A-Z0-9, ]+?|\[[\w-]+(, ?[\w-]+)*\])(  | - )\S")
    bare = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path, text in texts()
        for line in text.splitlines()
        if path.suffix == ".py" and path != Path(__file__) and silenced.search(line) and not reasoned.search(line)
    ]
    assert not bare


def test_no_client_of_a_test_has_a_time_limit_that_nobody_chose() -> None:
    """An answer has five seconds then, which a busy computer may need for a page."""
    calls = re.compile(r"^(httpx\.(Client|get|post|put|patch|delete|head|stream)|requests\.(get|post))$")
    hasty = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if "httpx" in (text := path.read_text("utf-8")) or "requests" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and calls.match(ast.unparse(node.func))
        and "timeout" not in {each.arg for each in node.keywords}
    ]
    assert hasty == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert not [path for path in (ROOT / "fleet_runner").rglob("*.py") if path.stem in SHAPELESS]


def folders(path: Path) -> set[str]:
    """The packages in a folder of the package or of the tests."""
    return {each.name for each in path.iterdir() if any(each.glob("*.py"))}


def test_core_is_its_domains_and_each_stands_on_the_map() -> None:
    core = ROOT / "fleet_runner" / "core"
    assert [path.name for path in core.glob("*.py")] == ["__init__.py"]
    on_the_map = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = on_the_map[on_the_map.index("| domain |") : on_the_map.index("`core/base`")]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == folders(core) - {"base"}


@pytest.mark.parametrize(
    ("layer", "own"),
    [
        ("reconcile", {"loop"}),
        ("adapters/store", {"engine", "schema", "maintenance", "runs", "results", "netbox", "migrations", "reader"}),
    ],
)
def test_a_layer_has_the_folders_of_core_and_those_of_its_own(layer: str, own: set[str]) -> None:
    assert folders(ROOT / "fleet_runner" / layer) <= folders(ROOT / "fleet_runner" / "core") | own


def test_no_file_holds_more_than_one_idea_can_fill() -> None:
    """Tests are lists of sentences and may be longer than what they test."""
    for path, text in texts():
        if path.suffix == ".py":
            assert len(text.splitlines()) <= (500 if path.is_relative_to(ROOT / "tests") else 350), path
