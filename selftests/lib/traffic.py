# SPDX-License-Identifier: GPL-2.0
"""Two devices that are joined, stock programs at both ends, and queue pairs by way of pyverbs."""

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from pyverbs import addr, cq, device, enums, mr, pd, qp, wr

from lib import ktap, life, net, rdma

# TCP ports that the stock programs meet at.
PORTS = (18515, 18516)
ADDRESS = {4: {"ta": "10.9.0.1", "tb": "10.9.0.2"}, 6: {"ta": "fd00:9::1", "tb": "fd00:9::2"}}
# Seconds that a program may take: large messages are slow in a guest that is emulated.
PATIENCE = 5 * ktap.HANG_SECONDS
NETNS = {"ta": "na", "tb": "nb"}
NETDEV = {"ta": "va", "tb": "vb"}
RIGHTS = (
    enums.IBV_ACCESS_LOCAL_WRITE
    | enums.IBV_ACCESS_REMOTE_WRITE
    | enums.IBV_ACCESS_REMOTE_READ
    | enums.IBV_ACCESS_REMOTE_ATOMIC
)


_standing = ktap.Case()
_what = []


def pair(case, mtu=1500, kinds=(rdma.TYPE, rdma.TYPE)):
    """The devices `ta` and `tb` in namespaces `na` and `nb`, on the ends `va` and `vb` of a
    cable. They stay for later cases that want the same, until `take_down`."""
    if _what != [mtu, kinds]:
        take_down()
        _make(_standing, mtu, kinds)
        _what[:] = [mtu, kinds]
    case.defer(_calm)


def take_down():
    """Removes what `pair` made."""
    _what.clear()
    _standing.clean_up()


def _calm():
    """Ends what `netem` does."""
    for name, netns in NETNS.items():
        ktap.run(f"tc -n {netns} qdisc del dev {NETDEV[name]} root 2>/dev/null")


def _make(case, mtu, kinds):
    """Makes the pair."""
    for kind in set(kinds):
        case.sh(f"modprobe {'rdma_rxe' if kind == 'rxe' else kind}")
    for netns in NETNS.values():
        rdma.netns(case, netns)
    case.sh("ip link add va netns na type veth peer name vb netns nb")
    case.defer("ip -n na link del va 2>/dev/null || true")
    for (name, netns), kind in zip(NETNS.items(), kinds):
        netdev = NETDEV[name]
        case.sh(
            f"ip -n {netns} addr add {ADDRESS[4][name]}/24 dev {netdev}; "
            f"ip -n {netns} addr add {ADDRESS[6][name]}/64 dev {netdev} nodad; "
            f"ip -n {netns} link set {netdev} mtu {mtu} up"
        )
    for (name, netns), kind in zip(NETNS.items(), kinds):
        case.sh(rdma.ns(netns, f"rdma link add {name} type {kind} netdev {NETDEV[name]}"))
        case.defer(f"rdma link del {name} 2>/dev/null || true")
    for name in NETNS:
        for family in ADDRESS:
            case.eventually(lambda n=name, f=family: gid_index(n, f) is not None, "GIDs")
    for netns, target in (("na", "tb"), ("nb", "ta")):
        for family in ADDRESS.values():
            case.sh(rdma.ns(netns, f"ping -qc1 {family[target]}"))


def gid_index(name, family=4):
    """The index of a device's GID of that family; None where there is none yet."""
    wanted = net.text(ADDRESS[family][name])
    for file in Path(f"/sys/class/infiniband/{name}/ports/1/gids").iterdir():
        with contextlib.suppress(OSError):
            if file.read_text().strip() == wanted:
                return int(file.name)
    return None


def _listens(netns):
    """Whether a program listens in a namespace for its other end."""
    with life.inside(netns):
        lines = [
            line.split()
            for name in ("tcp", "tcp6")
            for line in Path(f"/proc/thread-self/net/{name}").read_text().splitlines()[1:]
        ]
    wanted = {f"{port:04X}" for port in PORTS}
    return any(words[3] == "0A" and words[1].split(":")[1] in wanted for words in lines)


class Program:
    """A stock program at one end, in the background."""

    def __init__(self, case, name, command):
        self._output = tempfile.TemporaryFile()  # noqa: SIM115
        self.command = command
        self._child = subprocess.Popen(
            ["ip", "netns", "exec", NETNS[name], *command.split()],
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._output,
        )
        self.pid = self._child.pid
        case.defer(self.kill)

    def output(self):
        """What it has said."""
        return os.pread(self._output.fileno(), 1 << 20, 0).decode(errors="replace")

    def end(self, seconds=PATIENCE):
        """Waits for its end, so long at most: its status."""
        try:
            return self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise ktap.Failure(f"`{self.command}` hangs: {self.output()}") from None

    def running(self):
        """Whether it has not ended."""
        return self._child.poll() is None

    def kill(self):
        """Ends it, whatever it does."""
        self._child.kill()
        self._child.wait(ktap.HANG_SECONDS)


def command(program, name, family=4):
    """The program's command line for a device."""
    option = "-g" if program.startswith("ibv_") else "-F -x"
    return f"{program.split()[0]} -d {name} {option} {gid_index(name, family)} " + " ".join(
        program.split()[1:]
    )


def start(case, program, server="tb", client="ta", family=4):
    """Starts a program's server and then its client: both."""
    first = Program(case, server, command(program, server, family))
    case.eventually(
        lambda: _listens(NETNS[server]) or not first.running(),
        lambda: f"the server listens: {first.output()}",
    )
    target = ADDRESS[4][server]
    return first, Program(case, client, f"{command(program, client, family)} {target}")


def both_end(ends):
    """A server and its client end with status 0. What the client said."""
    try:
        seen = ends[1].end(), ends[0].end()
        if seen != (0, 0):
            # What it complains of comes before what it had buffered.
            said = "; ".join(f"`{end.command}` said {end.output()[:3000]}" for end in ends)
            raise ktap.Failure(f"statuses of client and server: {seen}; {said}")
        return ends[1].output()
    finally:
        for end in ends:
            end.kill()


def runs(case, program, server="tb", client="ta", family=4):
    """A program works. What the client said."""
    return both_end(start(case, program, server, client, family))


def all_run(case, programs, server="tb", client="ta", family=4, run=runs):
    """Each of several programs works, if `run` does it; those that do not are told of together, at
    the end."""
    failures = []
    for program in programs:
        print(f"# {time.monotonic():.0f} s: {program}, IPv{family}", flush=True)
        try:
            run(case, program, server, client, family)
        except ktap.Failure as e:
            failures.append(f"{program}: {e}")
    case.true(not failures, "\n".join(failures))


def netem(case, what, name="ta"):
    """Lets a device's end of the cable lose packets, or the like, of what it sends."""
    tc = f"tc -n {NETNS[name]} qdisc replace dev {NETDEV[name]} root netem {what}"
    case.sh(f"modprobe sch_netem; {tc}")


def hurry(function, seconds=60):
    """Calls what may wait for ever; after so many seconds it fails."""

    def ring(*_):
        raise ktap.Failure(f"{function} waited for {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        return function()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def status(completion):
    """The status of a completion, by name."""
    names = (n for n in dir(enums) if n.startswith("IBV_WC_") and n.endswith(("_ERR", "SUCCESS")))
    return next(n for n in names if getattr(enums, n) == completion.status)[len("IBV_WC_") :]


def _channels():
    """The descriptors of this process that are channels of events."""
    found = set()
    for file in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            if "infinibandevent" in os.readlink(file):
                found.add(int(file.name))
    return found


class End:
    """A queue pair on a device, with memory, a completion queue and a channel."""

    def __init__(self, case, name, kind="RC", size=1 << 16, entries=64, depth=32, **options):
        self.name, self.kind = name, kind
        self.context = device.Context(name=name)
        case.defer(self.context.close)
        self.pd = pd.PD(self.context)
        before = _channels()
        self.channel = cq.CompChannel(self.context)
        (self._channel_fd,) = _channels() - before
        self.cq = cq.CQ(self.context, entries, None, self.channel)
        self.mr = mr.MR(self.pd, size, RIGHTS)
        caps = qp.QPCap(
            max_send_wr=depth, max_recv_wr=depth, max_send_sge=4, max_recv_sge=4, **options
        )
        self.qp = self.make_qp(getattr(enums, f"IBV_QPT_{kind}"), caps)

    def make_qp(self, kind, caps):
        """Its queue pair."""
        init = qp.QPInitAttr(qp_type=kind, scq=self.cq, rcq=self.cq, cap=caps, sq_sig_all=0)
        return qp.QP(self.pd, init)

    def connect(self, peer, family=4, **attributes):
        """Makes it ready to send to a peer; attributes are those of a modify."""
        attr = qp.QPAttr(port_num=1)
        values = {
            "qp_access_flags": RIGHTS,
            "dest_qp_num": peer.qp.qp_num,
            "path_mtu": enums.IBV_MTU_1024,
            "timeout": 12,
            "retry_cnt": 7,
            "rnr_retry": 7,
            "min_rnr_timer": 1,
            "max_rd_atomic": 16,
            "max_dest_rd_atomic": 16,
            "qkey": 0x1234,
            **attributes,
        }
        for key, value in values.items():
            setattr(attr, key, value)
        attr.ah_attr = self.address(peer, family)
        self.qp.to_rts(attr)

    def address(self, peer, family=4):
        """The address of the peer's port, from here."""
        route = addr.GlobalRoute(
            dgid=peer.context.query_gid(1, gid_index(peer.name, family)),
            sgid_index=gid_index(self.name, family),
        )
        return addr.AHAttr(gr=route, is_global=1, port_num=1)

    def sge(self, offset, length, key=None):
        """A piece of the memory."""
        return wr.SGE(self.mr.buf + offset, length, self.mr.lkey if key is None else key)

    def post(
        self,
        number,
        opcode="SEND",
        offset=0,
        length=64,
        flags=enums.IBV_SEND_SIGNALED,
        to=None,
        key=None,
        atomic=None,
        **options,
    ):
        """Posts a request of that number; `to` is (address, rkey), `atomic` the operands."""
        request = wr.SendWR(
            wr_id=number,
            opcode=getattr(enums, f"IBV_WR_{opcode}"),
            num_sge=1,
            sg=[self.sge(offset, length, key)],
            send_flags=flags,
            **options,
        )
        if atomic:
            request.set_wr_atomic(to[1], to[0], *atomic)
        elif to:
            request.set_wr_rdma(to[1], to[0])
        self.qp.post_send(request)

    def receive(self, number, offset=0, length=4096):
        """Posts a receive buffer."""
        self.qp.post_recv(wr.RecvWR(wr_id=number, num_sge=1, sg=[self.sge(offset, length)]))

    def completions(self, count):
        """Waits for so many completions."""
        found, end = [], time.monotonic() + ktap.HANG_SECONDS / 2
        while len(found) < count:
            found += self.cq.poll(count - len(found))[1]
            if time.monotonic() > end:
                seen = [(c.wr_id, status(c)) for c in found]
                raise ktap.Failure(f"{count} completions on {self.name}: there are {seen}")
        return found

    def done(self, count):
        """Waits for so many completions: [(number, status)]."""
        return [(c.wr_id, status(c)) for c in self.completions(count)]

    def told(self):
        """Whether the channel has something to say, or has a moment later."""
        return bool(select.select([self._channel_fd], [], [], 0.2)[0])

    def remote(self, offset=0):
        """Where a peer finds the memory."""
        return self.mr.buf + offset, self.mr.rkey

    def counters(self):
        """Those of the port."""
        return rdma.counters(self.name)


def ends(case, kind="RC", size=1 << 16, **attributes):
    """Two queue pairs that are connected, on `ta` and `tb`."""
    both = End(case, "ta", kind, size), End(case, "tb", kind, size)
    both[0].connect(both[1], **attributes)
    both[1].connect(both[0], **attributes)
    return both


def pattern(end, length, seed=1):
    """Fills the memory of an end: the bytes."""
    data = bytes((i * 7 + seed + (i >> 8)) & 0xFF for i in range(min(length, 1 << 16)))
    data *= length // len(data)
    end.mr.write(data, len(data))
    return data
