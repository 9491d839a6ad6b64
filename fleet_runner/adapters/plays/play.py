"""One stage's playbook through ansible-runner, as the supervisor of a batch runs it."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from ansible_runner import Runner, RunnerConfig

from fleet_runner import settings as settings_module
from fleet_runner.adapters.plays import batch_folder, engine, extra_vars, fork_server, processes, project
from fleet_runner.adapters.plays.credentials import handed
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.settings import Settings

POLL = 1.0  # seconds between two questions whether the play must end

IMPOSED = (
    "ANSIBLE_STDOUT_CALLBACK", "ANSIBLE_HOST_KEY_CHECKING", "ANSIBLE_CACHE_PLUGIN", "ANSIBLE_CACHE_PLUGIN_CONNECTION"
)  # fmt: skip
"""What ansible-runner sets over ansible.cfg: a callback that writes each event to a file (a tenth of the play's
CPU, for events that nobody reads here), no check of ssh host keys, and a cache of facts in a folder of each play.
None is wanted."""


def run(folder: Path, spec: Mapping[str, Any], over: Callable[[], bool]) -> int | None:
    """Run the playbook to its end and return its exit status; None when a signal ended it.

    `over` is asked every POLL seconds; once it returns True the play's main process is killed.
    """
    settings = settings_module.load()
    os.chdir(settings.project_dir)
    config = _config(folder, spec, settings)
    config.command = ["nice", "-n", str(processes.NICE), *fork_server.instead(settings, config.command)]
    runner = Runner(config, cancel_callback=over, event_handler=lambda _: False)
    try:
        with handed(config.env):
            runner.run()
    except OSError:
        if runner.rc is None:  # otherwise the play is over, and only files that nobody reads could not be written
            raise
    finally:
        engine.forget_environment(folder)
    return cast("int | None", runner.rc)


def template(folder: Path, settings: Settings) -> dict[str, str]:
    """Return the environment that every play has, but for what is a batch's own; the folder is left with rubbish."""
    return dict(_config(folder, {"stage": Stage.VERIFY, "runs": {}}, settings).env)


def _config(folder: Path, spec: Mapping[str, Any], settings: Settings) -> RunnerConfig:
    """Say what to run; what could be long or private goes into files, not into arguments."""
    extra = folder / "extravars.json"
    batch_folder.replace(extra, extra_vars.written({"fleet_runs": spec["runs"]}))
    own = folder / engine.RUNNER / "env"
    own.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Settings given as an argument are dropped where there is no such file.
    (own / "settings").write_text(json.dumps({"suppress_output_file": True, "pexpect_timeout": POLL}))
    config = RunnerConfig(
        str(folder / engine.RUNNER),
        ident="play",
        project_dir=str(settings.project_dir),
        playbook=str(settings.playbook(Stage(spec["stage"]))),
        inventory=str(settings.inventory_file),
        limit=",".join(spec["runs"]),
        extravars=str(extra),
        forks=settings.forks,
        envvars=_environment(folder, settings),
        omit_event_data=True,
    )
    config.prepare()
    for name in IMPOSED:
        if name in os.environ:
            config.env[name] = os.environ[name]
        else:
            config.env.pop(name, None)
    return config


def _environment(folder: Path, settings: Settings) -> dict[str, str]:
    """Say what Ansible needs beside what was inherited; ansible-runner adds its own callback plugins to ours."""
    callbacks = [str(settings.project_dir / "plugins" / "callback"), os.environ.get("ANSIBLE_CALLBACK_PLUGINS", "")]
    return {
        **project.variables(settings),
        "ANSIBLE_CALLBACK_PLUGINS": ":".join(filter(None, callbacks)),
        "ANSIBLE_NOCOLOR": "1",
        "FLEET_SPOOL": str(folder / batch_folder.SPOOL),
        **({"FLEET_ALIVE": str(folder / batch_folder.ALIVE)} if (folder / batch_folder.ALIVE).exists() else {}),
        processes.TAG: folder.name,
        "LC_ALL": "C.UTF-8",  # Ansible refuses to start under others, and tools answer in one language
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
    }
