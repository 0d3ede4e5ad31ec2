# SPDX-License-Identifier: GPL-2.0
"""Network devices for the tests, and what RDMA makes of their addresses."""

import contextlib
import errno
import fcntl
import ipaddress
import os
import struct
from pathlib import Path

from lib import ktap

# linux/if_tun.h
TUNSETIFF, TUNSETLINK = 0x400454CA, 0x400454CD
IFF_TUN, IFF_TAP, IFF_NO_PI = 1, 2, 0x1000


def mac(netdev):
    """The Ethernet address of a network device, as bytes."""
    return bytes.fromhex(
        Path(f"/sys/class/net/{netdev}/address").read_text().strip().replace(":", "")
    )


def eui64(address):
    """The modified EUI-64 of an Ethernet address (RFC 4291, appendix A)."""
    return bytes([address[0] ^ 2]) + address[1:3] + b"\xff\xfe" + address[3:]


def guid(eui):
    """An EUI-64 as sysfs and the tools write it."""
    return ":".join(eui[i : i + 2].hex() for i in range(0, 8, 2))


def link_local(netdev):
    """The link-local address that a network device's Ethernet address makes."""
    return ipaddress.IPv6Address(bytes.fromhex("fe80000000000000") + eui64(mac(netdev)))


def gid(address):
    """The GID of an IP address: itself, or the IPv4-mapped address."""
    address = ipaddress.ip_address(address)
    return address if address.version == 6 else ipaddress.IPv6Address(f"::ffff:{address}")


def text(address):
    """A GID as sysfs writes it."""
    packed = gid(address).packed
    return ":".join(packed[i : i + 2].hex() for i in range(0, 16, 2))


def veth(case, netdev, peer, peer_netns=None, number=4):
    """A pair, up, with the addresses 10.NUMBER.0.1 and .2, fd00:NUMBER::1 and ::2; removed at
    the end of the case."""
    case.sh(f"ip link add {netdev} type veth peer name {peer}")
    case.defer(f"ip link del {netdev} 2>/dev/null || true")
    there = "ip"
    if peer_netns:
        there = f"ip -n {peer_netns}"
        case.sh(f"ip link set {peer} netns {peer_netns}")
    for ip, name, host in (("ip", netdev, 1), (there, peer, 2)):
        case.sh(f"{ip} addr add 10.{number}.0.{host}/24 dev {name}")
        case.sh(f"{ip} addr add fd00:{number}::{host}/64 dev {name} nodad")
        case.sh(f"{ip} link set {name} up")
    return netdev


def tun(case, name, mode=IFF_TUN, link_type=None):
    """A TUN or TAP device with this process at its other end: the open file."""
    case.sh("modprobe tun")
    file = os.open("/dev/net/tun", os.O_RDWR)
    case.defer(lambda: close(file))
    fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH22x", name.encode(), mode | IFF_NO_PI))
    if link_type is not None:
        fcntl.ioctl(file, TUNSETLINK, link_type)
    return file


def close(file):
    """Closes a file, whether it is open or not."""
    with contextlib.suppress(OSError):
        os.close(file)


def make(case, name, kind, options="", on=None):
    """`ip link add` of a kind that the kernel may lack, on the device `on`; removed at the end
    of the case. Whether there is such a kind."""
    result = ktap.run(f"ip link add {f'link {on}' if on else ''} name {name} type {kind} {options}")
    if "Unknown device type" in result.err:
        return False
    if result.status:
        raise ktap.Failure(str(result))
    case.defer(f"ip link del {name} 2>/dev/null || true")
    return True


def errno_of(function):
    """The name of the errno that a call of the system raises, or "ok"."""
    try:
        function()
    except OSError as e:
        return errno.errorcode[e.errno]
    return "ok"
