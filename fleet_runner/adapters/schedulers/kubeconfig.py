"""A kubeconfig file, read again where it, or a file that it names, has changed: tokens are rotated."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.inventory.consistency import show

FILES = ("tokenFile", "client-certificate", "client-key", "certificate-authority")
"""What a kubeconfig names files by."""

Stamp = tuple[tuple[str, int, int, int], ...]


class Kubeconfig:
    """One kubeconfig, and how its files were when it was read last."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._files: tuple[Path, ...] = (file,)
        self._read: Stamp | None = None

    @property
    def is_read(self) -> bool:
        """Whether it was read, and nothing has changed since."""
        return self._read is not None and self._read == self._stamp()

    def forget(self) -> None:
        """Have it read again: an API server does not take what it says any more."""
        self._read = None

    def read(self) -> Any:
        """Return the client's configuration for its current context; SettingsError where it cannot be used."""
        try:
            import kubernetes  # noqa: PLC0415  an extra that only fleets under Kubernetes install
        except ImportError as error:
            raise SettingsError(
                "scheduler is kubernetes: install its client, pip install 'fleet-runner[kubernetes]'"
            ) from (error)
        if _mode(self.file) & 0o077:
            raise SettingsError(f"kubeconfig {self.file} can be read by others than its owner; chmod 600 it")
        chosen = kubernetes.client.Configuration()
        load: Callable[..., None] = kubernetes.config.load_kube_config
        first = _stamp(self.file)  # before it is read: what changes meanwhile is read again
        self._files = (self.file, *self._named())
        stamp = (first, *map(_stamp, self._files[1:]))
        try:
            load(str(self.file), client_configuration=chosen, persist_config=False)
            _keep_plain(chosen)
        except Exception as error:
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            raise SettingsError(f"kubeconfig {self.file} cannot be used: {show(why)}") from error
        chosen.retries = False
        self._read = stamp
        return chosen

    def _stamp(self) -> Stamp:
        return tuple(map(_stamp, self._files))

    def _named(self) -> Iterator[Path]:
        """Yield the files that it names; of one that is no kubeconfig none, its reader says what is wrong with it."""
        try:
            said = yaml.safe_load(self.file.read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError):
            return
        for many, kind in (("users", "user"), ("clusters", "cluster")):
            entries = said.get(many) if isinstance(said, dict) else None
            for each in entries if isinstance(entries, list) else ():
                entry = each.get(kind) if isinstance(each, dict) else None
                named = (entry.get(key) for key in FILES) if isinstance(entry, dict) else ()
                yield from (self.file.parent / name for name in named if isinstance(name, str))


def _keep_plain(chosen: Any) -> None:
    """Have its token be one line, now and each time that the client takes it anew; none is in an error's text.

    Most who write a token to a file end the line, and the client would send that, too.
    """
    take = chosen.refresh_api_key_hook

    def plain(taken: Any) -> None:
        take(taken)
        taken.refresh_api_key_hook = plain  # it has put its own back
        for key, value in taken.api_key.items():
            taken.api_key[key] = value.strip()
            if not (value.isascii() and value.strip().isprintable()):
                raise ValueError("its token is not one line of ASCII")

    if take is not None:
        plain(chosen)


def _mode(path: Path) -> int:
    """Return a file's mode, 0 where it cannot be seen: its reader says why."""
    try:
        return path.stat().st_mode
    except OSError:
        return 0


def _stamp(path: Path) -> tuple[str, int, int, int]:
    """Return what changes with a file, or with the link that leads to another one."""
    try:
        seen = path.stat()
    except OSError:
        return str(path), 0, 0, 0
    return str(path), seen.st_ino, seen.st_mtime_ns, seen.st_size
