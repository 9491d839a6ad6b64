"""NVLink domains that drain as one: what the trays that serve on say of those that are out, or about to be."""

from collections.abc import Mapping

from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import SERVING, Condition
from fleet_runner.core.nvlink.domains import DRAIN, OF_DOMAIN, Domain
from fleet_runner.core.nvlink.trouble import named


def told(domain: Domain, rows: Mapping[str, Node]) -> dict[str, str]:
    """Return a sentence for each serving tray that drains as one with a tray that is out, or that is spared by it.

    `rows` are the trays that the store knows. A tray that drains alone tells nobody of it.
    """
    out = {name: word for name in domain.drains if name in rows and (word := _out(rows[name]))}
    found: dict[str, str] = {}
    for name in domain.trays:
        if name not in rows or _out(rows[name]) or not out:
            continue
        joint = [f"{each} ({word})" for each, word in out.items() if _are_one(domain, each, name)]
        spared = [f"{each} ({word})" for each, word in out.items() if not _are_one(domain, each, name)]
        if joint:
            found[name] = f"its NVLink domain drains as one ({DRAIN}), and a tray of it is out: {named(joint)}"
        else:
            found[name] = f"its partition is spared ({DRAIN}) while a tray of another one is out: {named(spared)}"
    return found


def _out(row: Node) -> str:
    """Say how a tray is out, or about to be; "" where it serves."""
    pending = row.conditions.get(Condition.PENDING)
    if row.state in SERVING:
        return f"{pending.detail} pending" if pending is not None else ""
    return row.state.value


def _are_one(domain: Domain, out: str, other: str) -> bool:
    mine = domain.partitions.get(out)
    return domain.drains[out] == OF_DOMAIN or domain.partitions.get(other) == mine
