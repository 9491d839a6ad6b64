"""Stands in for ansible-playbook or a supervisor: `python -I -S shim.py FOLDER ansible-playbook WORDS...`.

It has the parent that listens in FOLDER fork the play, passes signals on to it, and ends as it ends. Where there is
no parent, or one that is slow or does not want to, it becomes ansible-playbook: nothing has run by then. One that
says nothing at all is marked, so that nobody else waits for it. It imports what Python brings along, and little of
that. A supervisor goes on alone: the shim ends once it has begun.

The talk: the parent says "+"; the shim sends its arguments, environment and descriptors; the fork says its process
id, or why it will not; the shim sees that it carries the batch's tag and says "go"; the fork says its exit status, or
that it has begun. Before "go" nothing runs, and a fork whose shim is gone ends. Killed by SIGKILL, the shim takes the
play with it, as if the play had been meant; tasks go on to their ends then, as those of ansible-playbook do.
"""

import array
import json
import os
import select
import signal
import socket
import sys
import time

PATIENCE = 5.0  # seconds that all of the talk may take until it begins, however many answers there are
MOST = 4096  # bytes of an answer


def main(arguments: list[str]) -> None:
    """Have it forked, or become what was to be forked."""
    folder, command = arguments[0], arguments[1:]
    try:
        status = _forked(folder, command)
    except (OSError, ValueError) as error:
        _say(f"not forked from a warm parent: {error}")
        os.execvp(command[0], command)  # noqa: S606  what was to be run
    if status < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(status)


def _forked(folder: str, command: list[str]) -> int:
    """Return the exit status of the forked play, -1 for one that was killed; raise when nothing was started.

    Of a supervisor that has not said that it began nobody knows: another one runs nothing where it did.
    """
    until = time.monotonic() + PATIENCE
    with socket.socket(socket.AF_UNIX) as call:
        call.settimeout(PATIENCE)
        place = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        call.connect(f"/proc/self/fd/{place}/socket")
        _hear(call, place)
        call.settimeout(max(0.0, until - time.monotonic()))
        _ask(call, command)
        answer = _line(call, until)
        if not answer.startswith("pid "):
            raise ValueError(answer or "the fork ended")
        pid, _, alone = answer.removeprefix("pid ").partition(" ")
        play = os.pidfd_open(int(pid))
        if not _is_marked(pid):
            raise ValueError(f"process {pid} does not carry the batch's tag")
        if alone:
            return _begun(call, until)
        passed: list[int] = []

        def pass_on(number: int, _: object) -> None:
            passed.append(number)
            _pass_on(play, number)

        before = {number: signal.signal(number, pass_on) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            call.sendall(b"go\n")
            return _follow(call, play)
        except OSError:
            for number, handler in before.items():
                signal.signal(number, handler)
            if passed:  # the fork ended before it had read "go", as it was asked to: nothing begins in its place
                return 128 + passed[0]
            raise


def _hear(call: socket.socket, place: int) -> None:
    """Wait until the parent answers; where it does not, have nobody else wait for it."""
    try:
        said = call.recv(1)
    except TimeoutError:
        os.close(os.open("silent", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600, dir_fd=place))
        raise
    if said != b"+":
        raise ValueError("it ended before it answered")


def _begun(call: socket.socket, until: float) -> int:
    """Have a supervisor begin, and return 0 once it has."""
    call.sendall(b"go\n")
    if _line(call, until) != "began":
        raise ValueError("the fork ended before it began")
    return 0


def _ask(call: socket.socket, command: list[str]) -> None:
    """Send what the play needs of this process: all that exec would have kept."""
    umask = os.umask(0o077)
    os.umask(umask)
    asked = {
        "command": command,
        "environment": dict(os.environ),
        "folder": os.getcwd(),  # noqa: PTH109  pathlib is slow to import
        "umask": umask,
        "ignored": [number for number in (signal.SIGHUP,) if signal.getsignal(number) == signal.SIG_IGN],
    }
    text = json.dumps(asked).encode()
    data = len(text).to_bytes(8, "big") + text
    handles = array.array("i", [0, 1, 2])
    sent = call.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handles)])
    call.sendall(data[sent:])


def _line(call: socket.socket, until: float) -> str:
    """Return the next answer; OSError where it is not there by then, also of one who says little at a time."""
    text = b""
    while not text.endswith(b"\n") and len(text) < MOST:
        call.settimeout(max(0.0, until - time.monotonic()))
        more = call.recv(MOST)
        if not more:
            break
        text += more
    return text.decode(errors="replace").strip()


def _is_marked(pid: str) -> bool:
    """Whether the fork is found by the batch's tag, as all of a batch must be."""
    with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123  as above
        return os.fsencode(f"FLEET_BATCH={os.environ.get('FLEET_BATCH', '')}") in file.read().split(b"\0")


def _pass_on(play: int, number: int) -> None:
    try:  # noqa: SIM105  contextlib is not imported, to be quick
        signal.pidfd_send_signal(play, number)
    except ProcessLookupError:
        pass


def _follow(call: socket.socket, play: int) -> int:
    """Wait for the play's end and return its status, which it says itself, since this is not its parent."""
    select.select([play], [], [])
    try:
        answer = _line(call, 0.0)
    except BlockingIOError:  # it was killed, and its workers still live
        return -1
    return int(answer[5:]) if answer.startswith("exit ") else -1


def _say(sentence: str) -> None:
    try:  # noqa: SIM105  as above
        os.write(2, f"{sentence}\n".encode())
    except OSError:
        pass


if __name__ == "__main__":
    main(sys.argv[1:])
