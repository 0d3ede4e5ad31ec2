# SPDX-License-Identifier: GPL-2.0
"""One guest: its QEMU command line, its process, and its end."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

CONSOLE = [
    "console=ttyS0",
    "loglevel=7",
    # An oops ends the guest at once, with its report on the console.
    "oops=panic",
    "panic=-1",
    "sysrq_always_enabled=1",
    # The last resort for a guest that does not answer even to sysrq.
    "unknown_nmi_panic=1",
    "nokaslr",
    "mitigations=off",
    "random.trust_cpu=on",
    "net.ifnames=0",
]
# An emulated guest on a busy host is slow, which is no fault of its kernel.
PATIENT = [
    "rcupdate.rcu_cpu_stall_timeout=120",
    "watchdog_thresh=60",
    "workqueue.watchdog_thresh=240",
    # The clocks of emulated CPUs are one clock: comparing them only costs, and one CPU may be made
    # to wait long for the other.
    "tsc=nowatchdog",
]


@dataclass
class Setup:
    """What is common to the guests of a run."""

    qemu: list  # command prefix
    image: Path  # vmlinux, initrd.cpio, root.ext4
    checkout: Path
    accel: str
    smp: int = 2
    mem: str = "2G"
    icount: bool = False
    append: str = ""
    terminal: bool = False


def value(path):
    """A path as the value of a QEMU option, where commas are doubled."""
    return str(path).replace(",", ",,")


class Qmp:
    """Just enough of QEMU's control protocol."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(5)
        self.socket.connect(str(path))
        self.file = self.socket.makefile("rw")
        self.file.readline()
        self.command("qmp_capabilities")

    def command(self, name, **arguments):
        request = {"execute": name, "arguments": arguments}
        self.file.write(json.dumps(request) + "\n")
        self.file.flush()
        while True:
            line = self.file.readline()
            if not line:
                raise OSError("QEMU closed its control socket")
            answer = json.loads(line)
            if "return" in answer or "error" in answer:
                return answer


class Machine:
    """A guest. The run's directory is shared with it, see qemu/guest/init."""

    def __init__(self, setup, directory, sockets, name="", meet=None, net=()):
        self.setup = setup
        self.directory = directory
        self.sockets = sockets
        self.name = name
        self.meet = meet
        self.net = list(net)
        self.process = None
        self.qmp_path = sockets / f"qmp{name}"
        self.console_path = sockets / f"console{name}"

    def command(self):
        s = self.setup
        if s.accel == "kvm":
            accel, cpu, smp = ["-accel", "kvm"], "host", s.smp
        else:
            thread = "single" if s.icount else "multi"
            accel, cpu, smp = ["-accel", f"tcg,thread={thread}"], "max", s.smp
        if s.icount:
            # One instruction is one nanosecond; idle time is skipped.
            accel += ["-icount", "shift=0,sleep=off"]
            smp = 1
        append = list(CONSOLE)
        if s.accel != "kvm":
            append += PATIENT
        if s.append:
            append.append(s.append)
        result = [
            *s.qemu, *accel, "-cpu", cpu, "-smp", str(smp), "-m", s.mem,
            "-nodefaults", "-display", "none", "-no-reboot",
            "-kernel", str(s.image / "vmlinux"),
            "-initrd", str(s.image / "initrd.cpio"),
            "-append", " ".join(append),
            "-drive", f"file={value(s.image)}/root.ext4,format=raw,if=virtio,snapshot=on",
            "-device", "isa-debug-exit,iobase=0xf4,iosize=4",
            "-qmp", f"unix:{self.qmp_path},server=on,wait=off",
            # The log file gets everything; the socket is for a stuck guest.
            "-chardev", f"socket,id=console,path={self.console_path},server=on,"
            f"wait=off,logfile={value(self.directory)}/kernel.log",
            "-serial", "chardev:console",
            *self._share("oxe", s.checkout, readonly=True),
            *self._share("run", self.directory),
        ]  # fmt: skip
        if self.meet:
            result += self._share("meet", self.meet)
        if s.terminal:
            result += ["-chardev", "stdio,id=terminal,mux=on,signal=off"]
            result += ["-serial", "chardev:terminal"]
        else:
            result += ["-chardev", "file,id=output,path=/dev/stdout"]
            result += ["-device", "virtio-serial-pci"]
            result += ["-device", "virtserialport,chardev=output,name=oxe.output"]
        return result + self.net

    @staticmethod
    def _share(tag, path, readonly=False):
        return [
            "-virtfs",
            f"local,path={value(path)},mount_tag={tag},security_model=none,"
            f"multidevs=remap,readonly={'on' if readonly else 'off'}",
        ]

    def start(self):
        command = self.command()
        if shutil.which("setpriv"):
            # No guest outlives its runner.
            command = ["setpriv", "--pdeathsig", "TERM", "--", *command]
        environment = dict(os.environ, TMPDIR=str(self.sockets))
        if self.setup.terminal:
            self.process = subprocess.Popen(command, env=environment)
            return
        with open(self.directory / "qemu.log", "wb") as log:
            self.process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )

    def status(self):
        """The job's exit status; None when the guest ended without one."""
        try:
            return int((self.directory / "status").read_text())
        except (OSError, ValueError):
            return None

    def stop(self):
        """End the guest, whatever state it is in."""
        process = self.process
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def dump(self):
        """Have a stuck guest write its stacks to its kernel log: blocked tasks,
        then the CPUs, by sysrq on the console; by NMI if it does not answer."""
        try:
            qmp = Qmp(self.qmp_path)
            with socket.socket(socket.AF_UNIX) as console:
                console.settimeout(5)
                console.connect(str(self.console_path))
                answered = False
                for key in b"wlt":
                    before = self.log_size()
                    qmp.command("chardev-send-break", id="console")
                    console.sendall(bytes([key]))
                    self._drain(console, 3 if key != ord("t") else 10)
                    answered = answered or self.log_size() > before + 80
                if not answered:
                    qmp.command("inject-nmi")
                    self._drain(console, 5)
            return True
        except OSError as error:
            print(f"run: no stacks from the guest: {error}", flush=True)
            return False

    def log_size(self):
        """How much the kernel has said so far."""
        return (self.directory / "kernel.log").stat().st_size

    def _drain(self, console, seconds):
        """Read the console until it is quiet."""
        end = time.monotonic() + seconds
        quiet = 1.0
        while time.monotonic() < end:
            console.settimeout(quiet)
            try:
                if not console.recv(65536):
                    return
                # As long as it talks it may go on.
                end = max(end, time.monotonic() + 2)
            except socket.timeout:
                return


def link(machines_sockets, role):
    """The QEMU options that join two guests by a network cable."""
    path = machines_sockets / "cable"
    if role == "a":
        netdev = f"stream,id=cable,server=on,addr.type=unix,addr.path={path}"
    else:
        netdev = (
            f"stream,id=cable,server=off,addr.type=unix,addr.path={path},"
            "reconnect-ms=100"
        )
    return _nic(netdev, 1 if role == "a" else 2)


def alone():
    """The QEMU options of a network device that leads nowhere."""
    return _nic("hubport,id=cable,hubid=0", 1)


def _nic(netdev, number):
    device = f"virtio-net-pci,netdev=cable,mac=52:54:00:00:00:{number:02x}"
    return ["-netdev", netdev, "-device", device]
