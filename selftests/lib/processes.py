# SPDX-License-Identifier: GPL-2.0
"""Helpers of a test that run beside it: forked processes, none of which outlives the case."""

import collections
import errno
import multiprocessing
import traceback

from lib import ktap

_FORK = multiprocessing.get_context("fork")


def name_of(error):
    """An errno by name; "ok" for 0."""
    return errno.errorcode.get(error, str(error)) if error else "ok"


class _Process:
    """A forked process and a pipe to it."""

    def __init__(self, case, target, *args):
        self._pipe, theirs = _FORK.Pipe()
        self._process = _FORK.Process(target=self._run, args=(theirs, target, args), daemon=True)
        self._process.start()
        theirs.close()
        case.defer(self.kill)

    def _run(self, pipe, target, args):
        self._pipe.close()
        try:
            target(pipe, *args)
        except EOFError:
            pass
        except BaseException:  # noqa: BLE001, all of it goes to the test
            pipe.send(("failed", traceback.format_exc()))

    def send(self, what):
        """Says something to the process."""
        self._pipe.send(what)

    def receive(self):
        """What the process answers."""
        if not self._pipe.poll(ktap.HANG_SECONDS):
            raise ktap.Failure(f"process {self._process.pid} hangs: {self.stack()}")
        try:
            kind, value = self._pipe.recv()
        except EOFError:
            raise ktap.Failure("a process of the test died") from None
        if kind == "failed":
            raise ktap.Failure(f"a process of the test failed: {value}")
        return value

    def stack(self):
        """Where it is in the kernel."""
        return ktap.run(f"cat /proc/{self._process.pid}/stack").out

    def kill(self):
        """Ends it, whatever it does."""
        self._process.kill()
        self._process.join(ktap.HANG_SECONDS)
        self._pipe.close()


class Loop(_Process):
    """Calls `function()` over and over in a process of its own, and counts what it returns."""

    def __init__(self, case, function):
        self._turns = _FORK.Value("Q", 0)
        super().__init__(case, self._loop, function, self._turns)
        self.receive()

    @staticmethod
    def _loop(pipe, function, turns):
        seen = collections.Counter()
        pipe.send(("ok", "started"))
        while not pipe.poll(0):
            seen[function()] += 1
            turns.value += 1
        pipe.send(("ok", seen))

    def turns(self):
        """How often it has called the function until now."""
        return self._turns.value

    def stop(self):
        """Lets it finish its turn: how often it returned what."""
        self.send("stop")
        return self.receive()


def stop(loops):
    """Stops several, and adds up."""
    return sum((loop.stop() for loop in loops), collections.Counter())


class Actor(_Process):
    """An object that lives in a process of its own: `actor.call("method", 1, 2)`."""

    def __init__(self, case, make, *args):
        super().__init__(case, self._serve, make, args)
        self.receive()

    @staticmethod
    def _serve(pipe, make, args):
        thing = make(*args)
        pipe.send(("ok", None))
        while True:
            method, arguments = pipe.recv()
            pipe.send(("ok", getattr(thing, method)(*arguments)))

    def start(self, method, *args):
        """Calls a method; `receive` gets the result."""
        self.send((method, args))

    def call(self, method, *args):
        """Calls a method and waits for the result."""
        self.start(method, *args)
        return self.receive()


def at_once(case, functions):
    """Calls each function in a process of its own, all at the same moment: their results, in
    order."""
    barrier = _FORK.Barrier(len(functions))

    def take_part(pipe, function):
        barrier.wait(ktap.HANG_SECONDS)
        pipe.send(("ok", function()))

    processes = [_Process(case, take_part, function) for function in functions]
    return [process.receive() for process in processes]
