"""A ticket's text in parts, and its devices in the order of its steps."""

from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.tickets.work_orders.sheets import ordered, sheet


def ticket(body: str, nodes: tuple[str, ...] = ("gpu-1", "gpu-12", "leaf-1"), title: str = "gpu-1: bad") -> Ticket:
    return Ticket(1, "f", "c", title, body, nodes, "RECABLE", 0.0)


def test_a_body_falls_into_what_is_said_done_and_typed() -> None:
    told = sheet(ticket("gpu-1, hall R1.\nbad\nIt is worn.\n1. Pull.\n\n2. Push.\nThen: fleet-runner certify gpu-1."))
    assert told.said == ("It is worn.",)
    assert told.steps == ("Pull.", "Push.")
    assert told.after == ("Then: fleet-runner certify gpu-1.",)


def test_a_body_without_steps_has_none() -> None:
    told = sheet(ticket("Lost.\nAt last: fleet-runner retry gpu-1\n2. no first step"))
    assert told.steps == ()
    assert told.said == ("Lost.", "2. no first step")
    assert told.after == ("At last: fleet-runner retry gpu-1",)
    assert sheet(ticket("")).said == ()


def test_devices_come_in_the_order_of_the_steps() -> None:
    told = ticket("1. Pull leaf-1 port 3 (hall R1).\n2. Plug it into gpu-12.")
    assert ordered(told) == ("leaf-1", "gpu-12", "gpu-1")


def test_a_long_ticket_is_cut() -> None:
    many = "\n".join(f"{number}. x" for number in range(1, 300))
    assert len(sheet(ticket(many)).steps) == 100
