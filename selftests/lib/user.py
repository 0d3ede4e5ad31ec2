# SPDX-License-Identifier: GPL-2.0
"""A process that has an RDMA device open, by way of pyverbs."""

import ipaddress
import itertools
import socket

from pyverbs import device, pd, pyverbs_error

DEVICE_FATAL = 8
# enum ibv_gid_type
ROCE_V2 = 2


def _errno(error):
    """The errno of a pyverbs error."""
    return getattr(error, "error_code", None) or str(error)


class User:
    """Has the device `name` open, with a protection domain. For `processes.Actor`."""

    def __init__(self, name):
        self._context = device.Context(name=name)
        self._pd = pd.PD(self._context)

    def wait_for(self, kind):
        """Waits for an asynchronous event of a kind; others may come before: how many did."""
        for others in itertools.count():
            event = self._context.get_async_event()
            event.ack()
            if int(event.event_type) == kind:
                return others

    def query(self):
        """Queries the port: 0 or an errno."""
        try:
            self._context.query_port(1)
        except pyverbs_error.PyverbsError as e:
            return _errno(e)
        return 0

    def another_pd(self):
        """Makes one more protection domain: 0 or an errno."""
        try:
            pd.PD(self._context).close()
        except pyverbs_error.PyverbsError as e:
            return _errno(e)
        return 0

    def close(self):
        """Lets go of everything."""
        self._pd.close()
        self._context.close()


def open_and_query(name):
    """Opens a device, queries its port, closes it: 0 or an errno or what the library said."""
    try:
        with device.Context(name=name) as context:
            context.query_port(1)
    except pyverbs_error.PyverbsError as e:
        return _errno(e)
    return 0


def active_mtu(name):
    """The port's active MTU, in bytes."""
    with device.Context(name=name) as context:
        return 128 << context.query_port(1).active_mtu


def gid_table(name):
    """The entries in use of the GID table of port 1, as [(GID, network device, whether of RoCE
    v2)], by their index."""
    with device.Context(name=name) as context:
        entries = sorted(
            context.query_gid_table(context.query_port(1).gid_tbl_len), key=lambda e: e.gid_index
        )
    return [
        (ipaddress.IPv6Address(e.gid_str()), _interface(e.ndev_ifindex), e.gid_type == ROCE_V2)
        for e in entries
    ]


def _interface(index):
    """The name of a network device; "" where there is none of that index."""
    try:
        return socket.if_indextoname(index)
    except OSError:
        return ""
