"""Text from nodes, made inert for each tracker: nothing in it mentions people, becomes a link or is run as markup.

What is longer than a line goes into a block that is shown as it is. A zero-width space breaks what would be active
even there, or in a title; people do not see it.
"""

import re
from textwrap import wrap
from typing import Any

from fleet_runner.core.base.printable import printable

BREAK = "\u200b"
"""Zero-width space."""

CUT = " …"

NETBOX_COLUMNS = 80
"""Characters that fit into a line of a device's journal in NetBox, whose table scrolls sideways beyond."""

_REFERENCE = re.compile(r"([@#!~%&$])(?=[\w\[{])")
"""How GitHub and GitLab begin a mention of people, issues, merge requests, labels, milestones, epics and snippets."""

_LINK = re.compile(r"(?i)(://|www\.|mailto:)")
_FENCES = re.compile(r"`{3,}")
_WIKI_BLOCK = re.compile(r"(?i)\{(?=\s*(?:noformat|code))")
_JOURNAL_CODE = re.compile(r"(?i)\[(?=/?code\])")


def line(text: str, most: int) -> str:
    """Return one line, as for a title, that mentions nobody and leads nowhere."""
    plain = " ".join(printable(text).split())
    return cut(_REFERENCE.sub(rf"\1{BREAK}", unlinked(plain)), most)


def unlinked(text: str) -> str:
    """Return text in which no address is made a link."""
    return _LINK.sub(lambda found: f"{found[0][:1]}{BREAK}{found[0][1:]}", text)


def cut(text: str, most: int) -> str:
    """Return text of at most so many characters, with a mark where the rest is missing."""
    return text if len(text) <= most else text[: most - len(CUT)] + CUT


def markdown(text: str) -> str:
    """Return text as a fenced block: no HTML, mention, image, reference or quick action works in one."""
    longest = max((len(found) for found in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{printable(text)}\n{fence}"


def netbox(text: str) -> str:
    """Return text as a block for NetBox's journals, in lines that fit; a longer word stays whole, to be copied."""
    lines = printable(text).split("\n")
    fitting = (wrap(each, NETBOX_COLUMNS, break_long_words=False, break_on_hyphens=False) or [""] for each in lines)
    return markdown("\n".join(each for some in fitting for each in some))


def wiki(text: str) -> str:
    """Return text as a block of Jira's wiki markup, which shows it as it is."""
    return f"{{noformat}}\n{_WIKI_BLOCK.sub('{' + BREAK, unlinked(printable(text)))}\n{{noformat}}"


def adf(*blocks: str) -> dict[str, Any]:
    """Return blocks as a document of Atlassian's format, in which text is only ever text."""
    shown = [printable(block) for block in blocks if block.strip()]
    return {
        "type": "doc",
        "version": 1,
        "content": [{"type": "codeBlock", "content": [{"type": "text", "text": block}]} for block in shown],
    }


def journal(text: str) -> str:
    """Return text for ServiceNow, whose journals run HTML between [code] and [/code], and mention with @[."""
    plain = _JOURNAL_CODE.sub(f"[{BREAK}", unlinked(printable(text)))
    return plain.replace("@[", f"@{BREAK}[").replace("<", f"<{BREAK}")
