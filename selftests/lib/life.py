# SPDX-License-Identifier: GPL-2.0
"""What the tests of the life cycle share: the module, namespaces, the kernel log, "all is gone"
and "all works"."""

import contextlib
import ctypes
import errno
import os
from pathlib import Path

from lib import ktap, netlink, rdma

_libc = ctypes.CDLL(None, use_errno=True)
SYS_DELETE_MODULE, SYS_FINIT_MODULE = (176, 313) if os.uname().machine == "x86_64" else (106, 273)
MODULE_INIT_COMPRESSED_FILE = 4


def _syscall(*args):
    """0 or an errno."""
    return ctypes.get_errno() if _libc.syscall(*args) < 0 else 0


def loaded(module=rdma.MODULE):
    """Whether a module is loaded."""
    return Path(f"/sys/module/{module}/refcnt").exists()


def users(module=rdma.MODULE):
    """The reference count of a module, as /proc/modules has it."""
    return int(Path(f"/sys/module/{module}/refcnt").read_text())


class Module:
    """The module, loaded and unloaded without starting a program."""

    def __init__(self, case, name=rdma.MODULE):
        case.sh(f"modprobe {name}")
        self.name = name
        self._file = case.sh(f"modinfo -n {name}")
        self._flags = 0 if self._file.endswith(".ko") else MODULE_INIT_COMPRESSED_FILE

    def load(self):
        """0 or an errno."""
        with open(self._file, "rb") as file:
            return _syscall(SYS_FINIT_MODULE, file.fileno(), b"", self._flags)

    def unload(self):
        """`rmmod`: 0 or an errno."""
        return _syscall(SYS_DELETE_MODULE, self.name.encode(), os.O_NONBLOCK)


@contextlib.contextmanager
def inside(name):
    """Runs the calling thread inside of a network namespace."""
    with open("/proc/self/ns/net", "rb") as home, open(f"/run/netns/{name}", "rb") as there:
        os.setns(there, os.CLONE_NEWNET)
        try:
            yield
        finally:
            os.setns(home, os.CLONE_NEWNET)


class Log:
    """The kernel log from here on."""

    def __init__(self):
        self._fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self._fd, 0, os.SEEK_END)
        self._lines = []

    def lines(self, part):
        """The lines with `part` in them, since this object was made."""
        while True:
            try:
                self._lines.append(os.read(self._fd, 8192).decode(errors="replace"))
            except BlockingIOError:
                break
            except OSError as e:
                if e.errno != errno.EPIPE:  # overwritten meanwhile: go on with the next
                    raise
        return [line for line in self._lines if part in line]


def gone(case, *names, netns=None):
    """The devices `names` are gone, or will soon be; all, where none is named. So are the
    sockets in that case."""
    nl = netlink.Rdma()
    case.eventually(
        lambda: not (set(names or nl.devices()) & set(nl.devices())),
        f"devices gone: {names or 'all'}",
    )
    if not names:
        case.eventually(lambda: rdma.sockets(netns) == [], "sockets closed")


def add_soon(case, name, netdev):
    """Adds a link whose name a device had that went with its network device: the name is free a
    moment after the device is out of sight."""
    nl = netlink.Rdma()
    seen = set()

    def added():
        seen.add(nl.add(name, netdev))
        return 0 in seen or seen != {errno.EEXIST}

    case.eventually(added, f"{name} added")
    case.equal(seen - {errno.EEXIST}, {0}, "rdma link add")


def works(case):
    """A link can be made, and goes with its network device, at once."""
    nl, route = netlink.Rdma(), netlink.Route()
    case.sh(f"modprobe {rdma.MODULE}")
    case.equal(route.add_dummy("works0"), 0, "ip link add")
    case.defer(lambda: route.delete("works0"))
    add_soon(case, "works", "works0")
    case.true("works" in nl.devices(), "the new device is not there")
    case.true(rdma.sockets(), "no socket is open")
    case.equal(route.delete("works0"), 0, "ip link del")
    gone(case, "works")


def is_free(case, netdev, netns=None):
    """Nobody holds a reference to a network device: it goes without the kernel having to wait
    for it."""
    log = Log()
    case.sh(rdma.ns(netns, f"ip link del {netdev}"))
    case.equal(log.lines("waiting for"), [], "references to the network device")


def exclusive(case):
    """Puts the system into exclusive mode, until the end of the case: each device belongs to one
    namespace."""
    case.eventually(
        lambda: ktap.run("rdma system set netns exclusive").status == 0, "exclusive mode"
    )
    case.defer(
        lambda: case.eventually(
            lambda: ktap.run("rdma system set netns shared").status == 0, "shared mode"
        )
    )


def needs_oxe(case):
    """For what only this driver promises."""
    if rdma.TYPE != "oxe":
        case.skip("about oxe alone")
