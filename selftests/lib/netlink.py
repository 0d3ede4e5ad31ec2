# SPDX-License-Identifier: GPL-2.0
"""Just enough netlink to add and delete links without starting a program, with the kernel's own
error numbers.

A socket belongs to the network namespace that it was opened in.
"""

import errno
import socket
import struct

from lib import ktap, rdma

NETLINK_ROUTE, NETLINK_RDMA = 0, 20
NLMSG_ERROR, NLMSG_DONE = 2, 3
REQUEST, ACK, EXCL, CREATE, DUMP = 1, 4, 0x200, 0x400, 0x300

# rtnetlink
RTM_NEWLINK, RTM_DELLINK = 16, 17
IFLA_IFNAME, IFLA_LINKINFO, IFLA_INFO_KIND = 3, 18, 1

# RDMA_NL_NLDEV: commands and attributes
NLDEV = 5 << 10
GET, NEWLINK, DELLINK = 1, 3, 4
DEV_INDEX, DEV_NAME, NDEV_NAME, LINK_TYPE = 1, 2, 51, 65


def _attribute(kind, value):
    """One attribute, padded."""
    if isinstance(value, str):
        value = value.encode() + b"\0"
    return struct.pack("HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def _attributes(data):
    """The attributes of a message, as {kind: bytes}."""
    found = {}
    while len(data) >= 4:
        size, kind = struct.unpack_from("HH", data)
        found[kind & 0x3FFF] = data[4:size]
        data = data[(size + 3) & ~3 :]
    return found


class _Socket:
    """A netlink socket that sends a request and waits for the answer."""

    def __init__(self, family):
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, family)
        self._socket.settimeout(ktap.HANG_SECONDS)
        self._socket.bind((0, 0))

    def _messages(self):
        """What arrives next, as (type, body)."""
        try:
            data = self._socket.recv(1 << 17)
        except TimeoutError as e:
            raise ktap.Failure(f"netlink: no answer in {ktap.HANG_SECONDS} s") from e
        while data:
            size, kind = struct.unpack_from("IH", data)
            yield kind, data[16:size]
            data = data[(size + 3) & ~3 :]

    def ask(self, kind, flags, body):
        """(errno or 0, bodies of the answer)."""
        self._socket.send(struct.pack("IHHII", 16 + len(body), kind, REQUEST | flags, 0, 0) + body)
        bodies = []
        while True:
            for answer, content in self._messages():
                if answer in (NLMSG_ERROR, NLMSG_DONE):
                    return -struct.unpack_from("i", content)[0], bodies
                bodies.append(content)


class Rdma(_Socket):
    """RDMA devices."""

    def __init__(self):
        super().__init__(NETLINK_RDMA)

    def add(self, name, netdev, kind=rdma.TYPE):
        """`rdma link add`: 0 or an errno."""
        body = (
            _attribute(DEV_NAME, name) + _attribute(LINK_TYPE, kind) + _attribute(NDEV_NAME, netdev)
        )
        return self.ask(NLDEV | NEWLINK, ACK, body)[0]

    def delete(self, name):
        """`rdma link del`: 0 or an errno; ENODEV where there is none of that name."""
        index = self.devices().get(name)
        if index is None:
            return errno.ENODEV
        return self.ask(NLDEV | DELLINK, ACK, _attribute(DEV_INDEX, struct.pack("I", index)))[0]

    def devices(self):
        """All devices that this namespace sees, as {name: index}."""
        error, bodies = self.ask(NLDEV | GET, DUMP, b"")
        if error:
            raise ktap.Failure(f"cannot list RDMA devices: {errno.errorcode[error]}")
        found = map(_attributes, bodies)
        return {
            a[DEV_NAME].rstrip(b"\0").decode(): struct.unpack("I", a[DEV_INDEX])[0] for a in found
        }


class Route(_Socket):
    """Network devices."""

    def __init__(self):
        super().__init__(NETLINK_ROUTE)

    def add_dummy(self, name):
        """`ip link add NAME type dummy`: 0 or an errno."""
        info = _attribute(IFLA_LINKINFO, _attribute(IFLA_INFO_KIND, "dummy"))
        return self.ask(
            RTM_NEWLINK, ACK | CREATE | EXCL, bytes(16) + _attribute(IFLA_IFNAME, name) + info
        )[0]

    def delete(self, name):
        """`ip link del NAME`: 0 or an errno."""
        return self.ask(RTM_DELLINK, ACK, bytes(16) + _attribute(IFLA_IFNAME, name))[0]
