"""The part of iPXE's language that boot scripts are written in, so that the lab's nodes run the real ones.

One line is commands between `&&` and `||`, as in a shell; a line that fails ends its script. A script that is
chained takes the place of the one that chains it. Pure: a `Machine` fetches, waits and prints.
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, urljoin

MOST_COMMANDS = 100_000
SETTING = re.compile(r"\$\{([^${}]*)\}")
VALUED = frozenset({"-n", "--name", "-t", "--timeout", "-k", "--key"})
"""Options of commands that take a word of their own."""

PAIR = 2
NO_MATTER = frozenset({"dhcp", "ifclose", "ifconf", "iflinkwait", "ifopen", "imgfree", "imgstat", "imgtrust", "show"})
"""Commands that change nothing here, and succeed."""


class Failed(Exception):  # noqa: N818  it is the machine that has failed to boot, as its console would say
    """A command failed, and nothing in the script was said for that; in iPXE's own words."""


class Chained(Exception):  # noqa: N818  not an error: another script goes on
    """Another script takes this one's place."""

    def __init__(self, url: str, text: str) -> None:
        super().__init__(url)
        self.url = url
        self.text = text


@dataclass(frozen=True, slots=True)
class Machine:
    """What iPXE finds around it. `fetch` returns the body of a URL or raises OSError; `pause` takes seconds."""

    settings: Mapping[str, str]
    fetch: Callable[[str], bytes]
    pause: Callable[[float], None]
    say: Callable[[str], None]


@dataclass(slots=True)
class Loaded:
    """What the machine will boot: the kernel's URL, its command line, the initial RAM disks' URLs."""

    kernel: str = ""
    arguments: str = ""
    initrds: list[str] = field(default_factory=list[str])


def boot(machine: Machine, url: str) -> Loaded:
    """Run the script at a URL, and those that it chains to, until one boots a kernel."""
    text = _text(machine, url)
    left = MOST_COMMANDS
    while True:
        script = Script(machine, url, text.splitlines(), left)
        try:
            script.run()
        except Chained as next_one:
            url, text, left = next_one.url, next_one.text, script.left
            continue
        return script.loaded


class Script:
    """One script under way, with its variables; `at` is the next line."""

    __slots__ = ("at", "booted", "left", "lines", "loaded", "machine", "url", "variables")

    def __init__(self, machine: Machine, url: str, lines: Sequence[str], left: int) -> None:
        self.machine = machine
        self.url = url
        self.lines = lines
        self.left = left
        self.at = 0
        self.booted = False
        self.loaded = Loaded()
        self.variables: dict[str, str] = dict(machine.settings)

    def run(self) -> None:
        """Run lines until the kernel is started."""
        if self.lines[:1] != ["#!ipxe"]:
            raise Failed(f"{self.url}: Exec format error")
        while not self.booted:
            if self.at >= len(self.lines):
                raise Failed(f"{self.url}: the script ended and nothing was booted")
            line = self.lines[self.at].strip()
            self.at += 1
            if line and line[0] not in "#:" and not self._line(line):
                raise Failed(f"{self.url}: {line}: failed")

    def _line(self, line: str) -> bool:
        succeeded = True
        for joint, words in _commands(self._expand(line)):
            if joint != ("||" if succeeded else "&&"):
                self.left -= 1
                succeeded = not words or self._command(words)
        return succeeded

    def _command(self, words: list[str]) -> bool:
        if self.left < 0:
            raise Failed(f"{self.url}: {MOST_COMMANDS} commands and no kernel")
        name, rest = words[0], _without_options(words[1:])
        command = COMMANDS.get(name)
        if command is not None:
            return command(self, rest)
        if name in NO_MATTER:
            return True
        raise Failed(f"{self.url}: {name}: command not found")

    def _expand(self, line: str) -> str:
        while (found := SETTING.search(line)) is not None:
            line = line[: found.start()] + self._setting(found[1]) + line[found.end() :]
        return line

    def _setting(self, named: str) -> str:
        name, _, form = named.partition(":")
        value = self.variables.get(re.sub(r"^net[0X]/", "", name), "")
        forms: dict[str, Callable[[str], str]] = {
            "uristring": lambda text: quote(text, safe=""),
            "hexhyp": lambda text: text.replace(":", "-"),
            "hexraw": lambda text: text.replace(":", ""),
        }
        return forms.get(form, str)(value)

    def _fetched(self, words: list[str]) -> tuple[str, bytes] | None:
        url = urljoin(self.url, words[0])
        try:
            return url, self.machine.fetch(url)
        except OSError as error:
            self.machine.say(f"{url}... {error}")
            return None

    def chain(self, words: list[str]) -> bool:
        """Go on with another script."""
        found = self._fetched(words)
        if found is not None:
            raise Chained(found[0], found[1].decode(errors="replace"))
        return False

    def kernel(self, words: list[str]) -> bool:
        """Load the kernel; what follows its URL is its command line."""
        found = self._fetched(words)
        if found is not None:
            self.loaded.kernel, self.loaded.arguments = found[0], " ".join(words[1:])
        return found is not None

    def initrd(self, words: list[str]) -> bool:
        """Load an initial RAM disk."""
        found = self._fetched(words)
        if found is not None:
            self.loaded.initrds.append(found[0])
        return found is not None

    def arguments(self, words: list[str]) -> bool:
        """Give the kernel, which is named first, another command line."""
        self.loaded.arguments = " ".join(words[1:])
        return True

    def start(self, words: list[str]) -> bool:
        """Start the kernel."""
        del words
        self.booted = bool(self.loaded.kernel)
        return self.booted

    def echo(self, words: list[str]) -> bool:
        """Print on the console."""
        self.machine.say(" ".join(words))
        return True

    def sleep(self, words: list[str]) -> bool:
        """Wait some seconds."""
        self.machine.pause(float(words[0]))
        return True

    def set(self, words: list[str]) -> bool:
        """Set a variable; without a value, remove it."""
        self.variables[re.sub(r"^net[0X]/", "", words[0])] = " ".join(words[1:])
        return True

    def goto(self, words: list[str]) -> bool:
        """Go on behind a label."""
        labels = [line.strip() for line in self.lines]
        if f":{words[0]}" not in labels:
            return False
        self.at = labels.index(f":{words[0]}") + 1
        return True


COMMANDS: Mapping[str, Callable[[Script, list[str]], bool]] = {
    "boot": Script.start,
    "chain": Script.chain,
    "clear": lambda script, words: script.set(words[:1]),
    "echo": Script.echo,
    "exit": lambda *_: False,
    "goto": Script.goto,
    "imgargs": Script.arguments,
    "initrd": Script.initrd,
    "iseq": lambda _, words: len(words) == PAIR and words[0] == words[1],
    "isset": lambda _, words: bool(words and words[0]),
    "kernel": Script.kernel,
    "prompt": lambda *_: False,  # nobody presses a key
    "set": Script.set,
    "sleep": Script.sleep,
}
"""What a script may say, and what does it."""


def _commands(line: str) -> list[tuple[str, list[str]]]:
    """Split a line into its commands, each with what joins it to the one before; an empty one succeeds."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for word in _words(line):
        if word in ("&&", "||"):
            found.append((word, []))
        else:
            found[-1][1].append(word)
    return found


def _words(line: str) -> list[str]:
    # iPXE knows quotes and backslashes as a shell does; one that is not closed is a mistake of the script's.
    try:
        return shlex.split(line)
    except ValueError as error:
        raise Failed(f"{line}: {error}") from error


def _without_options(words: list[str]) -> list[str]:
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in VALUED else 1
    return words[at:]


def _text(machine: Machine, url: str) -> str:
    try:
        return machine.fetch(url).decode(errors="replace")
    except OSError as error:
        raise Failed(f"{url}... {error}") from error
