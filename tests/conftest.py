"""What every test may ask for, and what becomes of a test that skips where nothing may be skipped."""

import gc
import os
import shutil
import signal
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine import database
from fleet_runner.core.budgets.modes import Mode, Scope, Setting
from tests.booting import image
from tests.examples import OF_A_HUNDRED

ROOT = Path(__file__).resolve().parent.parent
NO_SKIPS = "FLEET_NO_SKIPS"
LONG = ("chaos", "e2e", "scenarios")
"""Folders whose modules take minutes each."""

LIVE = "tests/netbox/live/"
"""The folder whose files share a NetBox."""

# How long an example takes, or to draw it, says how busy the computer is, and nothing about the code.
settings.register_profile(
    "fleet", deadline=None, max_examples=OF_A_HUNDRED, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("fleet")

for _number in (signal.SIGINT, signal.SIGHUP):  # ignored where the tests were started in the background, by nohup
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number is signal.SIGINT else signal.SIG_DFL)


@pytest.fixture(autouse=True)
def _logs_of_its_own() -> Iterator[None]:
    """A command that ran in a test's own process set how everything logs, and to whose standard error."""
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="session", autouse=True)
def written_through() -> Iterator[Callable[[Any, object], None]]:
    """What a store's connection is given in service: each commit waits for the disk.

    Here none does, for no test takes this machine's power away. A process that is killed loses nothing by that.
    """
    in_service = database._prepare_sqlite

    def prepare(connection: Any, record: object) -> None:
        in_service(connection, record)
        connection.execute("PRAGMA synchronous = OFF")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "_prepare_sqlite", prepare)
        yield in_service


@pytest.fixture(scope="session")
def _empty_store(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """A store without nodes, to copy: its tables come by every migration, which takes a tenth of a second.

    At all of its fleet automation may act; what it does where nobody said so is tested where modes are.
    """
    made = Store.create.__func__

    @cache
    def empty() -> Path:
        path = tmp_path_factory.mktemp("empty") / "fleet.db"
        with made(Store, f"sqlite:///{path}") as store:
            store.set_mode(Setting(Scope.FLEET, "", None, Mode.ACT, 0.0, "tests"))
        return path

    return empty


@pytest.fixture(autouse=True)
def _stores_are_copied(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, _empty_store: Callable[[], Path]
) -> None:
    """Have a new store in a file be a copy of an empty one, but where the making of stores is what is tested."""
    if "store" in request.path.parts:
        return
    made = Store.create.__func__

    def create(cls: type[Store], url: str, **options: Any) -> Store:
        file = Path(url.removeprefix("sqlite:///"))
        if url.startswith("sqlite:///") and file.parent.is_dir() and not file.exists():
            shutil.copy(_empty_store(), file)
        found: Store = made(cls, url, **options)
        return found

    monkeypatch.setattr(Store, "create", classmethod(create))


@pytest.fixture(scope="session")
def project() -> Path:
    """The project's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def samples() -> Path:
    """Captured evidence from real machines, where it lies beside the project."""
    path = samples_dir()
    if not path.is_dir():
        pytest.skip(f"no captured evidence at {path}; FLEET_SAMPLES names another folder")
    return path


@pytest.fixture(scope="session")
def evidence() -> Path:
    """Small hand-written evidence, one folder per tool."""
    return ROOT / "tests" / "evidence"


@pytest.fixture(scope="session")
def boot_image() -> image.Image:
    """A boot image of the real role's making, built when the role has changed since it was built last."""
    if why := image.why_not():
        pytest.skip(why)
    return image.image()


def samples_dir() -> Path:
    """Where captured evidence would be."""
    return Path(os.environ.get("FLEET_SAMPLES", ROOT.parent / "shared" / "samples"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among modules and thousands of tests: that takes a fourteenth of all CPU time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that nobody waits for it alone at the end.

    Leave replays of captured evidence out where nothing may skip and it is absent: it is no part of a clone.
    """
    items.sort(key=lambda item: not any(folder in item.path.parts for folder in LONG))
    if not os.environ.get(NO_SKIPS) or samples_dir().is_dir():
        return
    replays = [item for item in items if "samples" in getattr(item, "fixturenames", ())]
    config.hook.pytest_deselected(items=replays)
    items[:] = [item for item in items if item not in replays]


class OneNetBox(LoadFileScheduling):
    """Give a file to one worker, and to one of them all files that share a NetBox."""

    def _split_scope(self, nodeid: str) -> str:
        return LIVE if nodeid.startswith(LIVE) else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    """Have `--dist loadfile` start one NetBox."""
    return OneNetBox(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that skips has failed where nothing may be skipped; an expected failure is not a skip."""
    report = yield
    if os.environ.get(NO_SKIPS) and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, but {NO_SKIPS} is set: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Likewise for a module that skips as a whole."""
    report = yield
    if os.environ.get(NO_SKIPS) and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, but {NO_SKIPS} is set: {report.longrepr}"
    return report
