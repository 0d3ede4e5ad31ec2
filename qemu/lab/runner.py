# SPDX-License-Identifier: GPL-2.0
"""A run: its directory, its guests, and what comes of them."""

import os
import re
import selectors
import shlex
import shutil
import sys
import tempfile
import time
from pathlib import Path

from . import klog, ktap
from .machine import Machine, alone, link

# Exit statuses of qemu/run besides the job's own.
BAD_LOG = 3
TIMEOUT = 124
NO_STATUS = 125


def say(text):
    print(f"run: {text}", file=sys.stderr, flush=True)


def new_directory(runs, name):
    """The first free NAME-N; mkdir decides between parallel runs."""
    runs.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "run"
    number = 1
    while True:
        path = runs / f"{name}-{number}"
        try:
            path.mkdir()
            return path
        except FileExistsError:
            number += 1


class Job:
    """What the guests are to do."""

    def __init__(self, name, text, modules=(), env=None, shell=False):
        self.name = name
        self.text = text  # of an executable file
        self.modules = list(modules)
        self.env = env or {}
        self.shell = shell

    def write(self, directory, role=None):
        (directory / "out").mkdir()
        env = dict(self.env)
        if role:
            env["LAB_ROLE"] = role
        lines = [f"{key}={shlex.quote(value)}\n" for key, value in env.items()]
        (directory / "env").write_text("".join(lines))
        if self.modules:
            # A copy, so that the next build does not disturb this run.
            (directory / "modules").mkdir()
            for module in self.modules:
                shutil.copy2(module, directory / "modules")
        job = directory / "job"
        if self.shell:
            (directory / "command").write_text(self.text)
            (directory / "command").chmod(0o755)
            (directory / "shell").touch()
            (directory / "rc").write_text(
                "PS1='guest:\\w# '\nalias job=/run/lab/command\n"
                "echo 'This is the guest; the checkout is /oxe, results go to"
                " /out, \"job\" runs the command, ^A x ends it at once.'\n"
            )
            job.write_text("#!/bin/bash\nexec bash --rcfile /run/lab/rc -i\n")
        else:
            job.write_text(self.text)
        job.chmod(0o755)


class Guest:
    """A machine with what is seen of it."""

    def __init__(self, machine, prefix):
        self.machine = machine
        self.prefix = prefix
        self.pending = b""
        self.timed_out = None  # length of the kernel log when the time ran out
        self.open = False
        self.log = None

    def start(self):
        self.log = open(self.machine.directory / "output.log", "wb")
        self.machine.start()
        self.open = True

    def output(self, data):
        self.log.write(data)
        self.log.flush()
        if not self.prefix:
            sys.stdout.buffer.write(data)
            sys.stdout.flush()
            return
        *lines, self.pending = (self.pending + data).split(b"\n")
        for line in lines:
            sys.stdout.buffer.write(self.prefix + line + b"\n")
        sys.stdout.flush()

    def close(self):
        if self.pending:
            sys.stdout.buffer.write(self.prefix + self.pending + b"\n")
            sys.stdout.flush()
        if self.log:
            self.log.close()
        self.open = False


class Run:
    """All guests of a run, from their start to the verdict."""

    def __init__(self, setup, job, runs, two=False, timeout=900, expected=(), want_ktap=False):
        self.setup = setup
        self.job = job
        self.timeout = timeout
        self.expected = expected
        self.want_ktap = want_ktap
        self.directory = new_directory(runs, job.name)
        # Socket paths must be short; the disk's scratch copy goes here as well.
        self.sockets = Path(tempfile.mkdtemp(prefix="oxe-run-"))
        self.guests = []
        if two:
            meet = self.directory / "meet"
            meet.mkdir()
            for role in "ab":
                directory = self.directory / role
                directory.mkdir()
                job.write(directory, role)
                machine = Machine(
                    setup, directory, self.sockets, role, meet, link(self.sockets, role)
                )
                self.guests.append(Guest(machine, f"{role}| ".encode()))
        else:
            job.write(self.directory)
            machine = Machine(setup, self.directory, self.sockets, net=alone())
            self.guests.append(Guest(machine, b""))

    def run(self):
        """Boot, wait for the end, and return the exit status."""
        start = time.monotonic()
        before = os.times()
        try:
            for guest in self.guests:
                guest.start()
            if self.setup.terminal:
                self.guests[0].machine.process.wait()
            else:
                self._watch(start + self.timeout)
        finally:
            for guest in self.guests:
                guest.machine.stop()
                guest.close()
            shutil.rmtree(self.sockets, ignore_errors=True)
        after = os.times()
        cpu = (
            after.children_user + after.children_system
            - before.children_user - before.children_system
        )  # fmt: skip
        self.cost = f"{time.monotonic() - start:.1f} s, {cpu:.1f} s of CPU"
        return self._verdict()

    def _watch(self, deadline):
        """Pass the guests' output on until all have ended."""
        with selectors.DefaultSelector() as selector:
            for guest in self.guests:
                selector.register(
                    guest.machine.process.stdout, selectors.EVENT_READ, guest
                )
            while selector.get_map():
                left = deadline - time.monotonic()
                if left <= 0:
                    self._timed_out()
                    return
                for key, _ in selector.select(min(left, 5)):
                    data = os.read(key.fd, 65536)
                    if data:
                        key.data.output(data)
                    else:
                        selector.unregister(key.fileobj)
                        key.data.machine.process.wait()

    def _timed_out(self):
        for guest in self.guests:
            if guest.machine.process.poll() is None:
                guest.timed_out = guest.machine.log_size()
                name = guest.machine.name
                say(
                    f"no end after {self.timeout} s; saving the stacks of guest"
                    f"{' ' + name if name else ''} in its kernel.log"
                )
                guest.machine.dump()

    def _verdict(self):
        statuses = [self._check(guest) for guest in self.guests]
        result = next((s for s in (BAD_LOG, TIMEOUT, NO_STATUS) if s in statuses), None)
        if result is None:
            result = next((s for s in statuses if s), 0)
        if self.want_ktap:
            total = ktap.Summary()
            for guest in self.guests:
                name = guest.machine.name
                text = guest.machine.directory / "output.log"
                total.add(
                    ktap.parse(text.read_text(errors="replace")),
                    f"{name}: " if name else "",
                )
            for failure in total.failures:
                say(f"not ok: {failure}")
            for error in total.errors:
                say(f"KTAP error: {error}")
            print(total.line(), flush=True)
            if not total.good():
                result = result or 1
        return result

    def _check(self, guest):
        """The status of one guest, with everything that is wrong with it said."""
        machine = guest.machine
        name = f"guest {machine.name}: " if machine.name else ""
        status = machine.status()
        try:
            log = (machine.directory / "kernel.log").read_bytes()
        except OSError:
            log = b""
        # The stacks of a stuck guest were asked for; what came before them counts.
        log = log[: guest.timed_out].decode(errors="replace")
        if guest.timed_out is not None:
            say(f"{name}the time ran out; its stacks are at the end of its kernel log")
            result = TIMEOUT
        elif status is None:
            result = NO_STATUS
            if not self.setup.terminal:
                say(f"{name}ended without a status; the end of its kernel log:")
                self._tail(machine.directory / "kernel.log")
                self._tail(machine.directory / "qemu.log")
        else:
            result = status
        findings, missing = klog.scan(log, self.expected)
        if findings:
            say(f"{name}{len(findings)} bad lines in the kernel log:")
            for line in klog.excerpt(log, findings):
                print(line, file=sys.stderr, flush=True)
            result = BAD_LOG
        for pattern in missing:
            say(f"{name}nothing in the kernel log matches {pattern!r}")
            result = BAD_LOG
        return result

    @staticmethod
    def _tail(path, count=15):
        if path.exists():
            for line in path.read_text(errors="replace").splitlines()[-count:]:
                print(f"  {line}", file=sys.stderr, flush=True)
