# SPDX-License-Identifier: GPL-2.0
"""Queue pairs that go from one chosen address to another."""

import contextlib
import ipaddress
from pathlib import Path

from pyverbs import addr, enums, wr

from lib import ktap, net, traffic


def gid_of(name, address=None, netdev=None, family=4):
    """The index of the GID of an address, by default the device's own of that family, of a network
    device if one is named; None where there is none."""
    wanted = net.text(address or traffic.ADDRESS[family][name])
    port = Path(f"/sys/class/infiniband/{name}/ports/1")
    for file in sorted((port / "gids").iterdir(), key=lambda f: int(f.name)):
        with contextlib.suppress(OSError):
            owner = (port / "gid_attrs/ndevs" / file.name).read_text().strip()
            if file.read_text().strip() == wanted and netdev in (None, owner):
                return int(file.name)
    return None


def wait_for_gid(case, name, address, netdev=None):
    """As `gid_of`, once there is one."""
    case.eventually(
        lambda: gid_of(name, address, netdev) is not None, f"{name} has a GID for {address}"
    )
    return gid_of(name, address, netdev)


def link_local(netdev, netns):
    """The link-local address of a network device."""
    shown = ktap.run(f"ip -n {netns} -o -6 addr show dev {netdev} scope link").out.split()
    return str(ipaddress.IPv6Interface(shown[3]).ip)


class At(traffic.End):
    """A queue pair that sends from the GID of an index; `header` are attributes of the global
    route, such as the traffic class."""

    def __init__(self, case, name, gid, kind="RC", header=None, **options):
        super().__init__(case, name, kind, **options)
        self.gid, self.header = gid, header or {}

    def address(self, peer, family=None):
        """The address of the peer, from here; of the family that the GID has."""
        route = addr.GlobalRoute(
            dgid=peer.context.query_gid(1, peer.gid), sgid_index=self.gid, **self.header
        )
        return addr.AHAttr(gr=route, is_global=1, port_num=1)

    def post(self, number, *args, to_handle=None, **options):
        """As of `End`; `to_handle` is (address handle, queue pair number) for a datagram."""
        if not to_handle:
            super().post(number, *args, **options)
            return
        request = wr.SendWR(
            wr_id=number,
            opcode=enums.IBV_WR_SEND,
            num_sge=1,
            sg=[self.sge(0, 64)],
            send_flags=enums.IBV_SEND_SIGNALED,
        )
        request.set_wr_ud(*to_handle, 0x1234)
        self.qp.post_send(request)


def connected(
    case, family=4, gids=None, names=("ta", "tb"), header=None, size=1 << 16, **attributes
):
    """Two queue pairs that are connected, at GIDs of these indices."""
    gids = gids or [gid_of(name, family=family) for name in names]
    both = [At(case, name, gid, "RC", header, size=size) for name, gid in zip(names, gids)]
    for end, peer in (both, both[::-1]):
        end.connect(peer, **attributes)
    return both
