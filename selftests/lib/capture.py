# SPDX-License-Identifier: GPL-2.0
"""RoCEv2 packets as tcpdump sees them leave and come."""

import collections
import ipaddress
import signal
import struct
import subprocess
import tempfile

from lib import ktap, rdma

VLAN, IPV4, IPV6 = 0x8100, 0x0800, 0x86DD

Packet = collections.namedtuple(
    "Packet", "vlan source destination traffic_class hops label port bytes opcode"
)


class Capture:
    """What passes a network device from here on; `packets` ends it. Packets are segmented before
    they get there."""

    def __init__(self, case, netdev, netns=None):
        segment = rdma.ns(netns, f"ethtool -K {netdev} tx-udp-segmentation")
        case.sh(f"{segment} off")
        case.defer(f"{segment} on")
        self._file = tempfile.NamedTemporaryFile(suffix=".pcap", dir="/tmp")  # noqa: SIM115
        self._child = subprocess.Popen(
            rdma.ns(netns, f"tcpdump -U --immediate-mode -s 200 -i {netdev} -w -").split(),
            stdin=subprocess.DEVNULL,
            stdout=self._file,
            stderr=subprocess.PIPE,
            text=True,
        )
        case.defer(self._end)
        # tcpdump says that it listens when it does.
        case.contains(self._child.stderr.readline(), "listening on")

    def _end(self):
        """Ends tcpdump, which writes what it has."""
        if self._child.poll() is None:
            self._child.send_signal(signal.SIGINT)
        self._child.communicate(timeout=ktap.HANG_SECONDS)

    def packets(self):
        """The RoCEv2 packets."""
        self._end()
        with open(self._file.name, "rb") as file:
            return [p for p in map(decode, frames(file.read())) if p]

    def path(self):
        """The file."""
        return self._file.name


def frames(pcap):
    """The frames of a file in the classic format."""
    magic, link_type = struct.unpack_from("=I16xI", pcap)
    assert (magic, link_type) == (0xA1B2C3D4, 1), f"pcap of magic {magic:x}, type {link_type}"
    at = 24
    while at + 16 <= len(pcap):
        length = struct.unpack_from("=8xI", pcap, at)[0]
        yield pcap[at + 16 : at + 16 + length]
        at += 16 + length


def decode(frame):
    """A RoCEv2 packet; None for any other."""
    kind, at, vlan = struct.unpack_from("!H", frame, 12)[0], 14, None
    if kind == VLAN:
        tag, kind = struct.unpack_from("!HH", frame, 14)
        vlan, at = tag & 0xFFF, 18
    header = frame[at:]
    if kind == IPV4 and header[9] == 17:
        length, label = struct.unpack_from("!H", header, 2)[0], None
        traffic_class, hops, udp = header[1], header[8], header[20:]
        ends = header[12:16], header[16:20]
    elif kind == IPV6 and header[6] == 17:
        first, length = struct.unpack_from("!IH", header)
        label, traffic_class, hops = first & 0xFFFFF, first >> 20 & 0xFF, header[7]
        udp = header[40:]
        ends = header[8:24], header[24:40]
    else:
        return None
    source, destination = struct.unpack_from("!HH", udp)
    if destination != rdma.PORT:
        return None
    addresses = (str(ipaddress.ip_address(bytes(end))) for end in ends)
    return Packet(vlan, *addresses, traffic_class, hops, label, source, length, udp[8])
