"""What a play is told, as a file of extra variables: data, in which Ansible looks for no template.

Ansible takes every text of such a file for its author's own, and evaluates the templates in it on this machine. What
a play is told has words in it that come from elsewhere: the name that a neighbour gives itself over LLDP, or what a
check saw before.
"""

import json
from collections.abc import Mapping
from typing import Any

MARKS = ("{{", "{%", "{#", "#jinja2:")
"""Where a template begins, for Ansible with its usual delimiters."""


def written(told: Mapping[str, Any]) -> str:
    """Return the text of the file, JSON; TypeError where something told is none."""
    text = json.dumps(told)
    return json.dumps(_data(json.loads(text))) if any(mark in text for mark in MARKS) else text


def _data(value: Any) -> Any:
    """Return a value in which each text that has a template's mark is told to be no template's."""
    if isinstance(value, dict):
        return {key: _data(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_data(each) for each in value]
    if isinstance(value, str) and any(mark in value for mark in MARKS):
        return {"__ansible_unsafe": value}
    return value
