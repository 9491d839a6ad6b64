"""The catalogue of checks: one module each, found by its CHECK."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules

from fleet_runner.core.checks.check import Check


class Catalogue(Mapping[str, Check]):
    """Checks by name, which is their module's; each is imported when it is first asked for.

    A command needs a few of seventy. What serves loads all at once: it must not come upon a check of the next release
    later.
    """

    def __init__(self) -> None:
        self._names = dict.fromkeys(each.name for each in iter_modules(__path__))
        self._loaded: dict[str, Check] = {}

    def __getitem__(self, name: str) -> Check:
        found = self._loaded.get(name)
        if found is None:
            if name not in self._names:
                raise KeyError(name)
            found = self._loaded[name] = import_module(f"{__name__}.{name}").CHECK
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def load(self) -> None:
        """Import every check now."""
        for name in self:
            self[name]


CHECKS = Catalogue()
