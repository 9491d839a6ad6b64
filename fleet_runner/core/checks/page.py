"""What the catalogue tells people of a check: its page in docs/checks, the index there, its lines in the CLI."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fleet_runner.core.checks.check import OF_MAKER, Check, Code
from fleet_runner.core.checks.evidence import Read, ReadKind
from fleet_runner.core.checks.reads import READS
from fleet_runner.core.checks.verdicts import Remedy

FOLLOWS: dict[Remedy, str] = {
    Remedy.RECORD: "nothing by itself; it is recorded",
    Remedy.WATCH: "it is checked again sooner",
    Remedy.RECABLE: "a technician moves, adds, cleans or replaces a cable or module",
    Remedy.RESTART: "the service is restarted once the node is idle, and the node verified",
    Remedy.RESET: "the GPUs are reset once the node is idle, and the node verified",
    Remedy.REBOOT: "the node is rebooted once it is idle, and verified",
    Remedy.POWER_CYCLE: "the node loses power and gets it back once it is idle, and is verified",
    Remedy.REFLASH: "firmware or a setting is updated to its pin",
    Remedy.TRIAGE: "the node leaves production; a person decides",
    Remedy.RMA: "the part goes back, once a person has confirmed it",
}
"""What follows each remedy."""

_INDEX = """# Checks

Generated from `fleet_runner/core/checks` by `make docs`: change the checks there, never these pages.

A check is one question about one node. It says which reads it needs; a pure function judges what they brought. PASS
and FAIL are answers; UNKNOWN means that something could not be read, and never condemns hardware; SKIPPED means that
nobody asked, because the device type's profile says nothing of the kind, or that an active test gave way to a tenant.

A *passive* check leaves the GPUs alone and may run beside a workload; an *active* one uses them and needs the node
idle. The *section* is the part of `fleet_profile` (`inventory/group_vars/device_type_<slug>.yml`) that asks for the
check; one without a section is asked of every node.

```
fleet-runner check list                          # this table
fleet-runner check show gpu_errors               # one of these pages
fleet-runner check run gpu_errors --node gpu-01  # ask a node now, by hand
fleet-runner check log dmesg.txt                 # judge a log or report that you have, without any set-up
fleet-runner results --check gpu_errors --verdict FAIL --since 30d
fleet-runner replay --check gpu_thermals --since 30d --with limits.yml
```

What the field's other tools look at, and which of these checks does: [coverage](../checks-coverage.md).
"""

_REPLAY = """## Try a limit before it counts

`fleet-runner replay` judges what was read in the last weeks with a changed profile, and changes nothing. The file
holds the part of `fleet_profile` that changes, for all device types or by their slugs; null takes a part away:

```yaml
# limits.yml
dgxh100:
  limits: {gpu_tlimit_margin_celsius: 10}
```

A result is first judged with the profile of today. Only one that comes out as it did then is judged with the change;
the others are counted, each with its reason: the store keeps what was read, and not how a read failed, nor how cables
were designed then.
"""

_REMEDIES = """## Remedies

A finding calls for one of these; policy acts on the remedy, never on the name of a check.
"""


class InputRow(NamedTuple):
    """One thing that a check reads: its name, how it is read, and its time limit (None where a role brings it).

    `also` is one without which the check can answer.
    """

    name: str
    how: str
    seconds: float | None
    also: bool = False


def kind(check: Check) -> str:
    """Return "active" or "passive"."""
    return "active" if check.active else "passive"


def asked(check: Check) -> tuple[InputRow, ...]:
    """Return what a check reads, in its order."""
    return (*(_asked(check, name) for name in check.reads), *(_asked(check, name, also=True) for name in check.also))


def section(check: Check) -> str:
    """Return the part of the profile that asks for a check, in words."""
    return f"`{check.section}`" if check.section else "asked of every node"


def page(check: Check, stages: Sequence[str] = ()) -> str:
    """Return a check's page; `stages` are those whose playbooks ask it."""
    lines = [
        f"# {check.name}",
        "",
        "Generated from `fleet_runner/core/checks` by `make docs`; [all checks](README.md).",
        "",
        f"**{check.question}**",
        "",
        f"- It is {kind(check)}: {_manner(check)}.",
        f"- Profile: {_profile(check)}.",
        f"- Stages: {', '.join(f'`{stage}`' for stage in stages) or 'no stage runs it yet'}.",
        *_more(check),
        "",
        "## What it reads",
        "",
        *_table(("read", "how", "time limit"), (_row(each) for each in asked(check))),
        "",
        "## What it finds",
        "",
        *_findings(check.codes),
        *_measures(check),
        "",
        "## Where its rules come from",
        "",
        check.source,
    ]
    return "\n".join(lines) + "\n"


def index(checks: Mapping[str, Check]) -> str:
    """Return the table of all checks, by name, with what follows each remedy."""
    rows = (
        (f"[{name}]({name}.md)", kind(check), check.question, section(check), ", ".join(_names(check)))
        for name, check in sorted(checks.items())
    )
    table = _table(("check", "kind", "question", "section", "reads"), rows)
    remedies = _table(("remedy", "what follows"), ((remedy.value, FOLLOWS[remedy]) for remedy in Remedy))
    return "\n".join((_INDEX, *table, "", _REPLAY, _REMEDIES, *remedies)) + "\n"


def _manner(check: Check) -> str:
    if check.active:
        return "it uses the node's hardware, needs it idle, and gives way to a tenant"
    return "it leaves the GPUs alone, and may run beside a workload"


def _more(check: Check) -> list[str]:
    told = {
        "- It remembers its last observation, and judges the changes since.": check.remembers,
        "- It compares what it read with the designed cables.": check.needs_fabric,
    }
    return [sentence for sentence, so in told.items() if so]


def _profile(check: Check) -> str:
    if not check.section:
        return "asked of every node"
    return f"asked of nodes whose device type has `{check.section}`; else it is SKIPPED"


def _asked(check: Check, name: str, *, also: bool = False) -> InputRow:
    read = READS.get(name)
    if read is not None:
        return InputRow(name, _how(read) + _of_makers(name), read.seconds, also=also)
    if check.job is not None:
        return InputRow(name, "the state of the job that it has the node run, and what that printed", None, also=also)
    return InputRow(name, "brought by the role that does the work", None, also=also)


def _of_makers(name: str) -> str:
    """Say what a read is of AMD's GPUs, where that is another one, or none of NVIDIA's."""
    if instead := OF_MAKER["AMD"].get(name):
        return f"; where AMD made the GPUs: {', '.join(_how(READS[each]) for each in instead)}"
    return " (where AMD made the GPUs)" if name in OF_MAKER["NVIDIA"] else ""


def _how(read: Read) -> str:
    match read.kind:
        case ReadKind.COMMAND:
            return f"`{' '.join(read.argv)}`"
        case ReadKind.FILES:
            return ", ".join(f"`{pattern}`" for pattern in read.argv)
        case ReadKind.FILE:
            return f"`{read.path}`"
        case ReadKind.REDFISH:  # pragma: no branch  the last of the kinds
            return f"Redfish `{read.path}`"


def _row(each: InputRow) -> tuple[str, str, str]:
    limit = f"{each.seconds:g} s" if each.seconds is not None else ""
    return f"`{each.name}`", each.how.replace("|", "\\|") + (" (if there)" if each.also else ""), limit


def _names(check: Check) -> Iterable[str]:
    return (f"`{name}`" for name in (*check.reads, *check.also))


def _findings(codes: tuple[Code, ...]) -> list[str]:
    if not codes:
        return ["No fault: its result is a fact that other checks use."]
    rows = ((f"`{code.code}`", code.meaning, ", ".join(each.value for each in code.remedies)) for code in codes)
    twice = ", ".join(f"`{code.code}`" for code in codes if code.twice)
    why = ["", f"In production two rounds in a row must find {twice}: a tenant's moment may have slowed one."]
    return [*_table(("code", "what is wrong", "remedy"), rows), *(why if twice else [])]


def _measures(check: Check) -> list[str]:
    if not check.measures:
        return []
    rows = (
        (f"`{each.observed}`", f"`{each.mark}`", "at least" if each.higher else "at most") for each in check.measures
    )
    return ["", "## What it measures", "", *_table(("observed", "pass mark", "it must be"), rows)]


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    return [f"| {' | '.join(line)} |" for line in (head, ("---",) * len(head), *rows)]
