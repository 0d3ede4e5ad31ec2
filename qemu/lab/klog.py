# SPDX-License-Identifier: GPL-2.0
"""Finds what must not be in a kernel log."""

import re
from dataclasses import dataclass

# Any of these in a line fails a run.
BAD = [
    # Crashes and assertions. A panic in Rust code ends in BUG().
    r"\bBUG\b[: ]",
    r"\bWARNING: ",
    r"\bOops\b",
    r"Kernel panic",
    r"general protection",
    r"[Uu]nable to handle",
    r"invalid opcode",
    r"divide error",
    r"double fault",
    r"panicked at",
    r"Call Trace:",
    # Checkers.
    r"\bKASAN\b: ",
    r"\bKCSAN\b: ",
    r"\bKMSAN\b: ",
    r"\bUBSAN\b: ",
    r"DMA-API: .*(error|leak|not |overlapping)",
    r"kmemleak: \d+ new suspected",
    r"ODEBUG: ",
    # Locking.
    r"possible circular locking",
    r"possible recursive locking",
    r"possible irq lock inversion",
    r"inconsistent lock state",
    r"unsafe lock order",
    r"bad unlock balance",
    r"held lock freed",
    r"lock held when returning",
    r"locks? held at exit",
    r"trying to register non-static key",
    r"suspicious RCU usage",
    r"MAX_LOCK\w+ too low",
    # Context.
    r"scheduling while atomic",
    r"sleeping function called from invalid context",
    r"voluntary context switch within RCU",
    # Time.
    r"blocked for more than \d+ seconds",
    r"rcu: .*\b(stalls?|starved)\b",
    r"soft lockup",
    r"hard LOCKUP",
    # Lifetimes and memory.
    r"refcount_t: ",
    r"Non-zero refcount",
    r"unregister_netdevice: waiting for",
    r"\bleaked\b",
    r"\bleak of resources\b",
    r"list_(add|del) corruption",
    r"Bad page state",
    r"Objects remaining",
    r"still has objects",
    r"page allocation failure",
    r"Out of memory",
    r"invoked oom-killer",
    # A module that does not fit the kernel.
    r"[Uu]nknown symbol",
    r"disagrees about version",
    r"Invalid relocation",
]

# Lines that match the above and are harmless: (pattern, why). A pattern must
# match one known line only.
ALLOWED = [
    (r"kmemleak: Kernel memory leak detector initialized", "start of the checker"),
    (r"Kernel memory leak detector disabled", "kmemleak=off on the command line"),
]

CUT = "------------[ cut here ]------------"
END = "---[ end trace"


@dataclass(frozen=True)
class Finding:
    """A line that fails the run, by its index in the log."""

    index: int
    line: str


def _any(patterns):
    return re.compile("|".join(f"(?:{p})" for p in patterns))


_BAD = _any(BAD)
_ALLOWED = _any(pattern for pattern, _ in ALLOWED)


def _block(lines, index):
    """The report that a line belongs to, as a range: from 'cut here' to 'end
    trace' if it is in one, else the line alone."""
    first = index
    while first >= 0 and CUT not in lines[first]:
        if END in lines[first] and first != index:
            return range(index, index + 1)
        first -= 1
    if first < 0:
        return range(index, index + 1)
    last = index
    while last < len(lines) and END not in lines[last]:
        if CUT in lines[last] and last != first:
            return range(index, index + 1)
        last += 1
    return range(first, min(last + 1, len(lines)))


def scan(text, expected=()):
    """Return (findings, missing): the bad lines of the log, and the expected
    patterns that nothing matched. An expected pattern forgives the lines that
    match it and the whole report that they are in."""
    lines = text.splitlines()
    expected = [re.compile(e) for e in expected]
    missing = []
    forgiven = set()
    for pattern in expected:
        hits = [i for i, line in enumerate(lines) if pattern.search(line)]
        if not hits:
            missing.append(pattern.pattern)
        for i in hits:
            forgiven.update(_block(lines, i))
    findings = [
        Finding(i, line)
        for i, line in enumerate(lines)
        if _BAD.search(line) and not _ALLOWED.search(line) and i not in forgiven
    ]
    return findings, missing


def excerpt(text, findings, before=3, after=30, most=120):
    """The findings with context, as lines; the bad ones are marked."""
    lines = text.splitlines()
    bad = {f.index for f in findings}
    shown = set()
    for i in bad:
        shown.update(range(max(0, i - before), min(len(lines), i + after + 1)))
    result = []
    last = None
    for i in sorted(shown):
        if len(result) >= most:
            result.append("  ... (more in the log)")
            break
        if last is not None and i != last + 1:
            result.append("  ...")
        result.append(("> " if i in bad else "  ") + lines[i])
        last = i
    return result
