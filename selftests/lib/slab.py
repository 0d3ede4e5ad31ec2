# SPDX-License-Identifier: GPL-2.0
"""Finds out whether something that is done over and over leaves kernel memory behind.

What is left once each round shows in a cache as one object more each round. Everything else
settles: the caches are shrunk before they are counted, and counted again until the number stays
below half an object each round.
"""

import time
from pathlib import Path

# Caches of the file systems: any program fills them.
NOISE = {"buffer_head", "dentry", "ext4_inode_cache"}
PATIENCE_SECONDS = 60


def _shrink():
    """Gives back what the caches keep for later."""
    Path("/proc/sys/vm/drop_caches").write_text("2")
    for cache in Path("/sys/kernel/slab").iterdir():
        if not cache.is_symlink():
            (cache / "shrink").write_text("1")


def snapshot():
    """Objects in use by cache, and mappings of the vmalloc area by caller."""
    _shrink()
    counts = {}
    for line in Path("/proc/slabinfo").read_text().splitlines()[2:]:
        name, active = line.split()[:2]
        counts[name] = int(active)
    for line in Path("/proc/vmallocinfo").read_text().splitlines():
        words = line.split()
        caller = "vmalloc " + (words[2].split("+")[0] if len(words) > 2 else "?")
        counts[caller] = counts.get(caller, 0) + 1
    return counts


def settled():
    """A snapshot after what is still to be freed was: when no cache shrinks any more."""
    now = snapshot()
    for _ in range(20):
        time.sleep(0.5)
        last, now = now, snapshot()
        if all(now.get(name, 0) > last[name] - 5 for name in last):
            break
    return now


def growth(before, least):
    """What grew by `least` or more since `before`, as {cache: objects}."""
    now = snapshot()
    grown = {name: now[name] - before.get(name, 0) for name in now}
    return {name: more for name, more in grown.items() if more >= least and name not in NOISE}


def leaks(function, rounds, warm_up=20, patience=PATIENCE_SECONDS):
    """Calls `function()` that many times: what grew by half an object each round or more, and
    stays so."""
    for _ in range(warm_up):
        function()
    before = settled()
    for _ in range(rounds):
        function()
    end = time.monotonic() + patience
    while True:
        grown = growth(before, rounds // 2)
        if not grown or time.monotonic() > end:
            return grown
        time.sleep(1)
