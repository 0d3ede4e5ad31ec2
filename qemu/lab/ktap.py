# SPDX-License-Identifier: GPL-2.0
"""Reads KTAP results (Documentation/dev-tools/ktap.rst), nested ones too."""

import re
from dataclasses import dataclass, field

_VERSION = re.compile(r"^( *)(?:KTAP version \d+|TAP version \d+)\s*$")
_PLAN = re.compile(r"^( *)1\.\.(\d+)(?:\s*#\s*(.*))?$")
_RESULT = re.compile(r"^( *)(not ok|ok) (\d+)(?:\s+-?\s*(.*?))?\s*$")
_BAIL = re.compile(r"^ *Bail out!\s*(.*)$")
_DIRECTIVE = re.compile(r"(?:^|\s)#\s*(SKIP|TODO|XFAIL)\b", re.IGNORECASE)


@dataclass
class Level:
    """The results of one nesting level while they are read."""

    indent: int
    plan: int | None = None
    skipped: bool = False
    seen: int = 0
    passed: int = 0
    failed: int = 0
    skips: int = 0


@dataclass
class Summary:
    """What a whole output amounts to. Errors in the protocol itself (a wrong
    plan, no test at all) count as failures."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list = field(default_factory=list)
    errors: list = field(default_factory=list)

    def good(self):
        return not self.failed and not self.errors

    def line(self):
        return (
            f"{self.passed} passed, {self.failed + len(self.errors)} failed, "
            f"{self.skipped} skipped"
        )

    def add(self, other, prefix=""):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += [prefix + f for f in other.failures]
        self.errors += [prefix + e for e in other.errors]


class Parser:
    """Feed it lines; finish() gives the Summary. Lines that are no KTAP are
    passed over, since programs print between their results."""

    def __init__(self):
        self.summary = Summary()
        self.levels = []

    def feed(self, line):
        line = line.rstrip("\r\n")
        if match := _VERSION.match(line):
            self._open(len(match[1]), fresh=True)
        elif match := _PLAN.match(line):
            level = self._level(len(match[1]))
            level.plan = int(match[2])
            level.skipped = "skip" in (match[3] or "").lower()
        elif match := _RESULT.match(line):
            self._result(
                len(match[1]), match[2] == "ok", int(match[3]), match[4] or ""
            )
        elif match := _BAIL.match(line):
            self.summary.errors.append(f"Bail out! {match[1]}")

    def finish(self):
        while self.levels:
            self._close()
        total = self.summary
        if not (total.passed or total.failed or total.skipped or total.errors):
            total.errors.append("no test result in the output")
        return total

    def _open(self, indent, fresh=False):
        """A new level; an open one of the same or a deeper indent ends."""
        while self.levels and (
            self.levels[-1].indent > indent
            or (fresh and self.levels[-1].indent == indent)
        ):
            self._close()
        if not self.levels or self.levels[-1].indent < indent:
            self.levels.append(Level(indent))
        return self.levels[-1]

    def _level(self, indent):
        """The level that a plan or a result of this indent belongs to."""
        if self.levels and self.levels[-1].indent == indent:
            return self.levels[-1]
        return self._open(indent)

    def _close(self):
        level = self.levels.pop()
        total = self.summary
        where = f" at indent {level.indent}" if level.indent else ""
        if level.plan is None:
            total.errors.append(f"{level.seen} tests without a plan{where}")
        elif level.plan != level.seen:
            total.errors.append(
                f"plan of {level.plan} tests, but {level.seen} results{where}"
            )
        elif level.plan == 0 and level.skipped:
            total.skipped += 1
            level.skips += 1
        return level

    def _result(self, indent, good, number, text):
        children = None
        while self.levels and self.levels[-1].indent > indent:
            errors = len(self.summary.errors)
            children = self._close()
            if len(self.summary.errors) > errors:
                children.failed += 1
        level = self._level(indent)
        level.seen += 1
        if number != level.seen:
            self.summary.errors.append(
                f"result {number} ({text}) where {level.seen} was due"
            )
        directive = _DIRECTIVE.search(text)
        kind = directive[1].upper() if directive else None
        if children is not None and (children.seen or children.skips):
            # Its subtests have been counted; only a disagreement is news.
            if not good and not children.failed and kind is None:
                self._count(level, "failed", text or str(number))
            elif children.failed:
                level.failed += 1
            return
        if kind in ("SKIP", "TODO"):
            self._count(level, "skipped", text)
        else:
            self._count(level, "passed" if good else "failed", text or str(number))

    def _count(self, level, kind, text):
        total = self.summary
        if kind == "passed":
            total.passed += 1
            level.passed += 1
        elif kind == "skipped":
            total.skipped += 1
            level.skips += 1
        else:
            total.failed += 1
            level.failed += 1
            total.failures.append(text)


def parse(text):
    """The Summary of a whole output."""
    parser = Parser()
    for line in text.splitlines():
        parser.feed(line)
    return parser.finish()
