# SPDX-License-Identifier: GPL-2.0
"""Programs that meet by the RDMA connection manager, on the devices of `lib.traffic`."""

import json

from lib import ktap, traffic

# What the server and the client of a program are started as. {server} and {client} are addresses,
# {dev} is the device of the end, {family} what some programs call the family of addresses.
PROGRAMS = {
    "rping": (
        "rping -s -a {server} -C 10 -V {more}",
        "rping -c -a {server} -I {client} -C 10 -V {more}",
    ),
    "ucmatose": (
        "ucmatose -f {family} -b {server} -c 4 {more}",
        "ucmatose -f {family} -s {server} -b {client} -c 4 {more}",
    ),
    "udaddy": ("udaddy -b {server} -c 4 {more}", "udaddy -s {server} -b {client} -c 4 {more}"),
    "cmtime": ("cmtime -b {server} -c 20 {more}", "cmtime -s {server} -b {client} -c 20 {more}"),
    "rstream": (
        "rstream -f {family} -b {server} -I 1 {more}",
        "rstream -f {family} -s {server} -I 1 {more}",
    ),
}
PERFTEST = "{program} -R -F -d {dev} {more}", "{program} -R -F -d {dev} {more} {server}"


def connections(name, state):
    """How many connections (or would-be ones) a device has in a state."""
    shown = json.loads(ktap.run(f"rdma -j res show cm_id dev {name}").out or "[]")
    return sum(entry.get("state") == state for entry in shown)


def listen(case, name, command):
    """Starts a server; returns when it listens."""
    before = connections(name, "LISTEN")
    server = traffic.Program(case, name, command)
    case.eventually(
        lambda: connections(name, "LISTEN") > before or not server.running(),
        lambda: f"`{command}` listens: {server.output()}",
    )
    return server


def start(case, program, server="tb", client="ta", family=4):
    """Starts a program, "NAME OPTIONS", at both ends: (server, client)."""
    name, _, more = program.partition(" ")
    templates = PROGRAMS.get(name, PERFTEST)
    words = {
        "program": name,
        "more": more,
        "server": traffic.ADDRESS[family][server],
        "client": traffic.ADDRESS[family][client],
        "family": {4: "ip", 6: "ip6"}[family],
    }
    if name == "rstream":
        words["family"] = family
    if name.startswith("ib_") and family == 6:
        words["program"] += " --ipv6-addr"
    first = listen(case, server, templates[0].format(dev=server, **words))
    return first, traffic.Program(case, client, templates[1].format(dev=client, **words))


def runs(case, program, server="tb", client="ta", family=4):
    """A program works. What the client said."""
    return traffic.both_end(start(case, program, server, client, family))


def all_run(case, programs, server="tb", client="ta", family=4):
    """Each of several programs works; those that do not are told of together, at the end."""
    traffic.all_run(case, programs, server, client, family, runs)


def copies(case, size, server="tb", client="ta"):
    """rcopy brings a file over as it is."""
    sent, received = f"/tmp/cm-sent-{size}", f"/tmp/cm-received-{size}"
    case.defer(f"rm -f {sent} {received}")
    case.sh(f"rm -f {received}; head -c {size} /dev/urandom > {sent}")
    first = listen(case, server, "rcopy")
    target = traffic.ADDRESS[4][server]
    second = traffic.Program(case, client, f"rcopy {sent} {target}:{received}")
    status = second.end()
    case.equal(status, 0, f"status of rcopy: {second.output()}")
    # The server goes on; it closes the file a moment after the client has ended.
    case.eventually(lambda: ktap.run(f"cmp {sent} {received}").status == 0, "the same file")
    first.kill()


def endless(case, server="tb", client="ta"):
    """rping without an end, on its way: (server, client)."""
    addresses = traffic.ADDRESS[4]
    first = listen(case, server, f"rping -s -a {addresses[server]}")
    second = traffic.Program(case, client, f"rping -c -a {addresses[server]} -C 0")
    case.eventually(
        lambda: connections(client, "CONNECT") and connections(server, "CONNECT"),
        lambda: f"connected: {first.output()} {second.output()}",
    )
    return first, second
