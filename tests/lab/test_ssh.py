"""The lab's ssh takes what Ansible's ssh plugin passes, and keeps the nodes apart."""

import subprocess

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.lab import plan
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.tools.ssh import WITH_VALUE, parse
from tests.lab.bench import shell

LETTERS = st.sampled_from("46AaCfGgKkMNnqsTtVvXxYy")
VALUES = st.text("abc/=%@:.-_ ", min_size=1, max_size=8).filter(lambda text: not text.startswith("-"))
OPTIONS = st.one_of(
    st.lists(LETTERS, min_size=1, max_size=3).map(lambda letters: ["-" + "".join(letters)]),
    st.tuples(st.sampled_from(sorted(WITH_VALUE)), VALUES).map(lambda pair: ["-" + pair[0], pair[1]]),
    st.tuples(st.sampled_from(sorted(WITH_VALUE)), VALUES).map(lambda pair: ["-" + pair[0] + pair[1]]),
)


@given(st.lists(OPTIONS, max_size=8), st.lists(st.text(max_size=5), max_size=3))
def test_whatever_the_options_the_destination_is_found(options: list[list[str]], command: list[str]) -> None:
    words = [word for option in options for word in option]
    if command[:1] == ["--"]:
        command = command[1:]
    assert parse([*words, "root@gpu-01", *command])[1][:1] == ["root@gpu-01"]


def test_ansibles_own_command_line_is_understood() -> None:
    line = [
        "-C",
        "-o",
        "ControlMaster=auto",
        "-o",
        "ControlPersist=60s",
        "-o",
        'User="root"',
        "-o",
        "ConnectTimeout=10",
    ]
    line += ["-o", 'ControlPath="/home/me/.ansible/cp/1a2b"', "-tt", "10.20.0.11", "/bin/sh -c 'echo ~ && sleep 0'"]
    options, rest = parse(line)
    assert rest == ["10.20.0.11", "/bin/sh -c 'echo ~ && sleep 0'"]
    assert {"C", "o", "t"} <= set(options)
    assert parse(["-o", "ControlPersist"])[1] == []
    assert parse(["-O", "stop", "gpu-01"])[0]["O"] == "stop"


def test_a_node_is_found_by_name_by_address_and_with_a_user(lab: Lab, node: str) -> None:
    for host in (node, f"root@{node}", plan.address(1), f"admin@{plan.address(1)}"):
        assert shell(lab, host, "echo $FLEET_LAB_NODE").stdout == f"{node}\n"
    answer = shell(lab, "gpu-77", "true")
    assert answer.returncode == 255
    assert "Could not resolve hostname gpu-77" in answer.stderr
    assert shell(lab, "../nodes/gpu-01", "true").returncode == 255


def test_nothing_of_the_controllers_environment_reaches_a_node(lab: Lab, node: str) -> None:
    words = [lab.root / "bin" / "ssh", node, "env"]
    answer = subprocess.run(
        words, capture_output=True, text=True, check=True, env={"FLEET_BATCH": "b-1", "PATH": "/usr/bin"}
    )
    seen = dict(line.split("=", 1) for line in answer.stdout.splitlines())
    assert "FLEET_BATCH" not in seen
    assert seen["HOME"] == str(lab.node(node) / "home")
    assert seen["TMPDIR"] == str(lab.node(node) / "tmp")


def test_status_input_and_output_pass_through(lab: Lab, node: str) -> None:
    words = [lab.root / "bin" / "ssh", node, "cat; echo oops >&2; exit 7"]
    answer = subprocess.run(words, input="hello", capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout, answer.stderr) == (7, "hello", "oops\n")


def test_closing_a_control_connection_does_nothing(lab: Lab) -> None:
    answer = subprocess.run([lab.root / "bin" / "ssh", "-O", "stop", "gpu-02"], capture_output=True, check=False)
    assert (answer.returncode, answer.stdout) == (0, b"")
