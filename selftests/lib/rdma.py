# SPDX-License-Identifier: GPL-2.0
"""What the tests know of iproute2, sysfs and the driver under test."""

import json
import os
from pathlib import Path

from lib import ktap

# The driver under test. `TYPE=rxe` checks the tests against the kernel's C driver.
TYPE = os.environ.get("TYPE", "oxe")
MODULE = "oxe" if TYPE == "oxe" else "rdma_rxe"
PORT = 4791


def ns(name, command):
    """The command, inside of a network namespace; the same command where `name` is None."""
    return f"ip netns exec {name} {command}" if name else command


def links(netns=None):
    """`rdma link` as {device name: {"netdev": .., "state": .., ..}}."""
    shown = ktap.run(ns(netns, "rdma -j link show")).out
    return {link["ifname"]: link for link in json.loads(shown or "[]")}


def attribute(device, path):
    """A sysfs attribute of an RDMA device, without the newline."""
    return Path(f"/sys/class/infiniband/{device}/{path}").read_text().strip()


def gids(device):
    """The GID table of port 1 without the empty entries, as {gid: netdev}."""
    base = Path(f"/sys/class/infiniband/{device}/ports/1")
    table = {}
    for entry in sorted(base.glob("gids/*"), key=lambda p: int(p.name)):
        gid = entry.read_text().strip()
        if gid.replace(":", "").strip("0"):
            table[gid] = (base / "gid_attrs/ndevs" / entry.name).read_text().strip()
    return table


def counters(device):
    """The hardware counters of port 1."""
    base = Path(f"/sys/class/infiniband/{device}/ports/1/hw_counters")
    return {c.name: int(c.read_text()) for c in base.iterdir() if c.name != "lifespan"}


def sockets(netns=None):
    """The UDP sockets on the RoCEv2 port, as `ss` shows their local addresses."""
    shown = ktap.run(ns(netns, f"ss -Huln sport = :{PORT}")).out
    return sorted(line.split()[3] for line in shown.splitlines())


def add(case, name, netdev, netns=None, delete=True):
    """`rdma link add`; undone at the end of the case."""
    case.sh(ns(netns, f"rdma link add {name} type {TYPE} netdev {netdev}"))
    if delete:
        case.defer(ns(netns, f"rdma link del {name} 2>/dev/null || true"))


def dummy(case, name="d0", up=True):
    """A dummy network device; removed at the end of the case."""
    case.sh(f"ip link add {name} type dummy")
    case.defer(f"ip link del {name} 2>/dev/null || true")
    if up:
        case.sh(f"ip link set {name} up")
    return name


def netns(case, name):
    """A network namespace; removed at the end of the case."""
    case.sh(f"ip netns add {name}")
    case.defer(f"ip netns del {name} 2>/dev/null || true")
    case.sh(f"ip -n {name} link set lo up")
    return name
