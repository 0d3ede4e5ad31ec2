# SPDX-License-Identifier: GPL-2.0
"""Test cases that report in KTAP (Documentation/dev-tools/ktap.rst).

A topic is an executable with functions that take a `Case`:

    def add_and_delete(case):
        case.sh("ip link add d0 type dummy")
        case.defer("ip link del d0")
        case.equal(link_names(), ["oxe0"])

    if __name__ == "__main__":
        ktap.main([add_and_delete])

Arguments name cases to run; without any, all run. `-l` lists them.
"""

import subprocess
import sys
import time
import traceback

# A guard against hangs, nothing else: an emulated machine is slow.
HANG_SECONDS = 120


class Failure(Exception):
    """The case failed; the text says why."""


class Skip(Exception):
    """The case cannot run here; the text says why."""


class Result:
    """What a command said."""

    def __init__(self, command, status, out, err):
        self.command, self.status, self.out, self.err = command, status, out, err

    def __str__(self):
        return f"`{self.command}` exited {self.status}: {self.out}{self.err}".rstrip()


def run(command, stdin=None):
    """Runs a shell command to its end, whatever its status."""
    try:
        done = subprocess.run(
            ["bash", "-c", command],
            input=stdin,
            stdin=None if stdin else subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as e:
        raise Failure(f"`{command}` did not end in {HANG_SECONDS} s") from e
    return Result(command, done.returncode, done.stdout, done.stderr)


class Case:
    """A running test case."""

    def __init__(self):
        self._deferred = []

    def sh(self, command):
        """Runs a shell command that has to succeed; its output, without the last newline."""
        result = run(command)
        if result.status != 0:
            raise Failure(str(result))
        return result.out.rstrip("\n")

    def fails(self, command, message):
        """Runs a shell command that has to fail with `message` in its output."""
        result = run(command)
        if result.status == 0:
            raise Failure(f"`{command}` succeeded")
        self.contains(result.out + result.err, message)

    def defer(self, command):
        """Runs a shell command or calls a function when the case ends, last first, whatever came
        of it."""
        self._deferred.append(command)

    def equal(self, seen, expected, what=""):
        """Both are the same."""
        if seen != expected:
            raise Failure(f"{what}: saw {seen!r}, expected {expected!r}".lstrip(": "))

    def true(self, condition, what):
        """It holds."""
        if not condition:
            raise Failure(what)

    def contains(self, text, part):
        """The one is in the other."""
        if part not in text:
            raise Failure(f"{part!r} is not in {text!r}")

    def eventually(self, condition, what):
        """It holds, or will soon: for what the kernel does a moment later. `what` may be a
        function, called on failure."""
        end = time.monotonic() + HANG_SECONDS
        while not condition():
            if time.monotonic() > end:
                raise Failure(f"never happened: {what() if callable(what) else what}")
            time.sleep(0.05)

    def skip(self, why):
        """The case cannot run here."""
        raise Skip(why)

    def clean_up(self):
        """Runs what was deferred; what fails of it is a comment, since much may be gone with the
        rest."""
        for what in reversed(self._deferred):
            if callable(what):
                what()
                continue
            result = run(what)
            if result.status != 0:
                print("#", str(result).replace("\n", "\n# "))
        self._deferred.clear()


def run_case(function):
    """Runs one case: (passed, directive, lines of diagnosis)."""
    case = Case()
    try:
        function(case)
        return True, "", ""
    except Skip as e:
        return True, f" # SKIP {e}", ""
    except Failure as e:
        where = traceback.extract_tb(e.__traceback__)
        lines = [f"line {f.lineno}: {f.line}" for f in where if f.name == function.__name__]
        return False, "", "\n".join(lines + [str(e)])
    except Exception:  # noqa: BLE001, a broken test is a failed test
        return False, "", traceback.format_exc()
    finally:
        case.clean_up()


def main(cases):
    """Runs the cases and ends the program: 0 if none failed."""
    names = sys.argv[1:]
    if names == ["-l"]:
        print("\n".join(case.__name__ for case in cases))
        sys.exit(0)
    unknown = set(names) - {case.__name__ for case in cases}
    if unknown:
        sys.exit(f"no such case: {', '.join(sorted(unknown))}; -l lists them")
    if names:
        cases = [case for case in cases if case.__name__ in names]
    print("KTAP version 1")
    print(f"1..{len(cases)}", flush=True)
    failed = 0
    for number, case in enumerate(cases, 1):
        passed, directive, diagnosis = run_case(case)
        failed += not passed
        for line in diagnosis.splitlines():
            print("#", line)
        print(f"{'ok' if passed else 'not ok'} {number} {case.__name__}{directive}", flush=True)
    sys.exit(1 if failed else 0)
