"""How values get into a template's text: as JSON, which is YAML as well, so that nothing in them can end a value."""

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from jinja2 import StrictUndefined, TemplateRuntimeError, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

PAST = frozenset({"e", "escape", "forceescape", "safe", "striptags", "urlize", "xmlattr"})
"""Jinja's filters whose result passes for finished text although it is no JSON; templates do not have them."""

_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""What JSON may hold as it is and YAML may not, or reads as a line break."""


def environment(**options: Any) -> ImmutableSandboxedEnvironment:
    """Return an environment in which a value that did not pass `tojson` is an error, and so is an unknown name."""
    found = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, autoescape=True, finalize=_finished, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, **options,
    )  # fmt: skip
    found.filters = {name: each for name, each in found.filters.items() if name not in PAST}
    found.filters |= {"tojson": tojson, "b64encode": encoded}
    return found


def tojson(value: Any) -> Markup:
    """Return a value as JSON on one line, which means the same in YAML."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)
    return Markup(_UNSAFE.sub(_escape, text))  # noqa: S704  it is no HTML, and it has just been escaped


def encoded(value: str) -> str:
    """Return text as base64."""
    return b64encode(value.encode("utf-8")).decode("ascii")


def _finished(value: Any) -> Any:
    if isinstance(value, Markup):
        return value
    if isinstance(value, Undefined):
        return str(value)  # raises, and says what is unknown
    raise TemplateRuntimeError("a value is put in as it is, expected it to pass tojson: {{ … | tojson }}")


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return "\ufffd" if chr(code).encode("utf-8", "ignore") == b"" else f"\\u{code:04x}"  # half a pair is no text


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Undefined):
        return str(value)  # likewise
    raise TypeError(f"a {type(value).__name__} has no JSON")
