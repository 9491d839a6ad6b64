"""Templates of a boot's documents: a site's own before the built-in ones, by name; errors name file and line."""

from collections.abc import Collection, Mapping
from pathlib import Path
from traceback import extract_tb
from types import TracebackType
from typing import Any, NamedTuple

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    PrefixLoader,
    Template,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
)

from fleet_runner.core.base.errors import DocumentError, SettingsError
from fleet_runner.services.boot.file_cache import Kept
from fleet_runner.services.boot.values import environment

BUILT_IN = Path(__file__).parent / "templates"
END = ".yaml.j2"
_BUILT_IN = f"{BUILT_IN}/"


class _Found(NamedTuple):
    """An environment with its templates, the names of all of them, and of those that are a site's own."""

    environment: Environment
    known: frozenset[str]
    own: frozenset[str]


class Templates:
    """The templates of a folder, if there is one, and the built-in ones; a new or changed file counts at once."""

    def __init__(self, folder: Path | None) -> None:
        self._known = Kept(lambda: (_known(folder), _files(folder)))

    def version(self) -> object:
        """Return what is another object as soon as a template is another one."""
        return self._known()[0]

    def built_in(self, document: str, device_type: str) -> bool:
        """Whether a document's template is a built-in one for all nodes."""
        _, known, own = self._known()
        return f"{document}.{device_type}{END}" not in known and f"{document}{END}" not in own

    def render(self, document: str, device_type: str, names: Mapping[str, Any]) -> tuple[str, bool]:
        """Return a document's text, and whether it is a built-in template's, which is known to make good YAML.

        The template of a node's device type wins over the one for all.

        Raises DocumentError with the template's file and line, not with the node, which its caller names, and
        SettingsError where there is no such folder.
        """
        try:
            template = self._template(document, device_type)
            if not isinstance(template.globals, dict):  # a ChainMap: copying one is half of a rendering's time
                template.globals = dict(template.globals)
            return template.render(names), _is_built_in(template)
        except TemplateSyntaxError as error:
            raise DocumentError(f"{error.filename or error.name}:{error.lineno}: {error.message}") from None
        except TemplateNotFound as error:
            raise DocumentError(f"{_where(error.__traceback__)}: there is no template {error.message!r}") from None
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            # Their own words may quote a value, and the value may be a secret.
            raise DocumentError(f"{_where(error.__traceback__)}: a {type(error).__name__} in an expression") from None
        except TemplateError as error:
            raise DocumentError(f"{_where(error.__traceback__)}: {error.message}") from None

    def _template(self, document: str, device_type: str) -> Template:
        found, known, _ = self._known()
        own = f"{document}.{device_type}{END}"
        return found.get_template(own if own in known else f"{document}{END}")


def unused(folder: Path | None, documents: Collection[str], device_types: Collection[str]) -> tuple[Path, ...]:
    """Return the templates of a folder that no node gets by their name; those that begin with _ are for including."""
    used = {f"{each}{END}" for each in documents}
    used |= {f"{each}.{device_type}{END}" for each in documents for device_type in device_types}
    files = sorted(folder.glob("*")) if folder else []
    return tuple(each for each in files if each.name not in used and not each.name.startswith(("_", ".")))


def broken(folder: Path | None) -> list[str]:
    """Return a sentence for each template of a folder that cannot be read, or for the folder."""
    try:
        found, _, _ = _known(folder)
    except SettingsError as error:
        return [str(error)]
    said: list[str] = []
    for path in sorted(folder.glob(f"*{END}")) if folder else []:
        try:
            found.get_template(path.name)
        except TemplateSyntaxError as error:
            said.append(f"{path}:{error.lineno}: {error.message}")
        except (OSError, UnicodeDecodeError, TemplateNotFound):
            said.append(f"{path}: it cannot be read as text; correct or remove it")
    return said


def _known(folder: Path | None) -> _Found:
    if folder is not None and not folder.is_dir():
        raise SettingsError(
            f"boot_templates names {folder}, which is not a folder; create it, or correct the setting"
        )
    built_in = FileSystemLoader(BUILT_IN)
    own: list[BaseLoader] = [FileSystemLoader(folder)] if folder else []
    loader = ChoiceLoader([*own, built_in, PrefixLoader({"built-in": built_in})])
    found = environment(loader=loader, auto_reload=False)
    return _Found(found, frozenset(loader.list_templates()), frozenset(ChoiceLoader(own).list_templates()))


def _files(folder: Path | None) -> list[Path]:
    """Return what is looked at for changes: a folder and all in it that is not hidden; the built-in ones stay."""
    found = [folder, *folder.rglob("*")] if folder else []
    return [each for each in found if not any(part.startswith(".") for part in each.relative_to(found[0]).parts)]


def _is_built_in(template: Template) -> bool:
    return str(template.filename).startswith(_BUILT_IN)


def _where(traceback: TracebackType | None) -> str:
    """Return file and line of the innermost template that was being rendered."""
    frames = [each for each in extract_tb(traceback) if each.filename.endswith(END) or each.filename == "<template>"]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "the template"
