"""Templates of a boot's documents: a site's own before the built-in ones, by name; errors name file and line."""

from collections.abc import Mapping
from pathlib import Path
from traceback import extract_tb
from types import TracebackType
from typing import Any

import yaml
from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    FileSystemLoader,
    PrefixLoader,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
)

from fleet_runner.boot.values import environment
from fleet_runner.core.errors import DocumentError

BUILT_IN = Path(__file__).parent / "templates"
END = ".yaml.j2"
HEADER = "#cloud-config"
MAX_BYTES = 1_000_000  # of one document: cloud-init reads it into memory, and its own limits are far below

_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Templates:
    """The templates of a folder, if there is one, and the built-in ones; a changed file counts at once."""

    def __init__(self, folder: Path | None) -> None:
        built_in = FileSystemLoader(BUILT_IN)
        own: list[BaseLoader] = [FileSystemLoader(folder)] if folder else []
        self._environment = environment(
            loader=ChoiceLoader([*own, built_in, PrefixLoader({"built-in": built_in})]), auto_reload=True
        )

    def render(self, document: str, device_type: str, names: Mapping[str, Any]) -> str:
        """Return a document's text; the template of a node's device type wins over the one for all.

        Raises DocumentError with the template's file and line; names the node nowhere, since its caller does.
        """
        try:
            template = self._environment.select_template([f"{document}.{device_type}{END}", f"{document}{END}"])
            return template.render(names)
        except TemplateSyntaxError as error:
            raise DocumentError(f"{error.filename or error.name}:{error.lineno}: {error.message}") from None
        except TemplateNotFound as error:
            raise DocumentError(f"{_where(error.__traceback__)}: there is no template {error.message!r}") from None
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            # Their own words may quote a value, and the value may be a secret.
            raise DocumentError(f"{_where(error.__traceback__)}: a {type(error).__name__} in an expression") from None
        except TemplateError as error:
            raise DocumentError(f"{_where(error.__traceback__)}: {error.message}") from None


def checked(text: str, *, header: bool) -> bytes:
    """Return a document for sending if it is a YAML mapping, with cloud-init's first line where it needs one."""
    body = text.encode("utf-8")
    if len(body) > MAX_BYTES:
        raise DocumentError(f"it has {len(body)} bytes, expected {MAX_BYTES} at most")
    if header and text.partition("\n")[0].rstrip() != HEADER:
        raise DocumentError(f"its first line is not {HEADER}, so cloud-init would ignore it")
    try:
        whole = _is_mapping(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1} of the document" if mark else "the document"
        raise DocumentError(f"{line} is no YAML: {error.problem or error.context}") from None
    except yaml.YAMLError:
        raise DocumentError("the document is no YAML: it holds a character that YAML does not know") from None
    if not whole:
        raise DocumentError("the document is no mapping, expected `key: value` lines, or {} for none")
    return body


def _is_mapping(text: str) -> bool:
    """Read the events only, which costs a third of building values; tags and aliases need the whole work."""
    parser = _PARSER(text)
    first: Any = None
    while not isinstance(event := parser.get_event(), yaml.StreamEndEvent):
        if isinstance(event, yaml.NodeEvent):
            first = first or event
            if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None) is not None:
                return isinstance(yaml.load(text, Loader=_PARSER), dict)  # noqa: S506  it is a safe loader
        elif isinstance(event, yaml.DocumentStartEvent) and first is not None:
            raise DocumentError("it holds a second YAML document, expected one")
    return isinstance(first, yaml.MappingStartEvent)


def _where(traceback: TracebackType | None) -> str:
    """Return file and line of the innermost template that was being rendered."""
    frames = [each for each in extract_tb(traceback) if each.filename.endswith(END) or each.filename == "<template>"]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "the template"
