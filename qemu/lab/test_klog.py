# SPDX-License-Identifier: GPL-2.0
"""The kernel log scanner: a splat must fail a run, an ordinary boot must not."""

import unittest

from . import klog

BOOT = """\
[    0.000000] Linux version 7.3.4+deb13-amd64 (debian-kernel@lists.debian.org)
[    0.000000] Kernel command line: console=ttyS0 loglevel=7 oops=panic panic=-1
[    0.120000] Spectre V2 : User space: Vulnerable
[    3.400000] EXT4-fs (vda): mounted filesystem r/w without journal.
[    4.100000] oxe: loading out-of-tree module taints kernel.
[    4.200000] oxe: module verification failed: signature missing - tainting kernel
[    4.500000] clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable
[    5.000000] guest: job starts at 5.00
"""

WARNING = """\
[    9.000000] ------------[ cut here ]------------
[    9.000001] refcount_t: underflow; use-after-free.
[    9.000002] WARNING: lib/refcount.c:28 at refcount_warn_saturate+0x9d/0xe0, CPU#0: rmmod/88
[    9.000003] Modules linked in: oxe(OE)
[    9.000004] Call Trace:
[    9.000005]  <TASK>
[    9.000006]  oxe_free+0x10/0x20 [oxe]
[    9.000007]  </TASK>
[    9.000008] ---[ end trace 0000000000000000 ]---
"""

# One line for each kind of report, as kernels print them.
SPLATS = [
    "[    1.0] BUG: kernel NULL pointer dereference, address: 0000000000000008",
    "[    1.0] BUG: KASAN: slab-use-after-free in oxe_rx+0x5a/0x90 [oxe]",
    "[    1.0] kernel BUG at lib/list_debug.c:62!",
    "[    1.0] Oops: general protection fault, probably for non-canonical address",
    "[    1.0] Oops: 0002 [#1] SMP NOPTI",
    "[    1.0] Kernel panic - not syncing: Fatal exception",
    "[    1.0] WARNING: possible circular locking dependency detected",
    "[    1.0] WARNING: possible recursive locking detected",
    "[    1.0] WARNING: inconsistent lock state",
    "[    1.0] WARNING: suspicious RCU usage",
    "[    1.0] WARNING: CPU: 0 PID: 9 at net/core/dev.c:1 x+0x1/0x2",
    "[    1.0] INFO: task rmmod:77 blocked for more than 120 seconds.",
    "[    1.0] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
    "[    1.0] rcu: INFO: rcu_preempt self-detected stall on CPU",
    "[    1.0] watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [x:1]",
    "[    1.0] refcount_t: addition on 0; use-after-free.",
    "[    1.0] unregister_netdevice: waiting for va to become free. Usage count = 2",
    "[    1.0] UBSAN: array-index-out-of-bounds in x.c:3:4",
    "[    1.0] BUG: scheduling while atomic: x/1/0x00000100",
    "[    1.0] BUG: sleeping function called from invalid context at mm/slab.c:1",
    "[    1.0] kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
    "[    1.0] BUG: RESTRACK detected leak of resources",
    "[    1.0] BUG oxe_cache (Tainted: G): Objects remaining on __kmem_cache_shutdown()",
    "[    1.0] rust_kernel: panicked at rust/driver/oxe.rs:10:5:",
    "[    1.0] oxe: Unknown symbol _RNvNtCs1_6kernel5print (err -2)",
    "[    1.0] list_del corruption. prev->next should be",
]


class Scan(unittest.TestCase):
    def test_ordinary_boot_passes(self):
        self.assertEqual(klog.scan(BOOT), ([], []))

    def test_every_splat_fails(self):
        for line in SPLATS:
            with self.subTest(line=line):
                findings, _ = klog.scan(BOOT + line + "\n")
                self.assertEqual([f.line for f in findings], [line])

    def test_warning_report_is_found_and_shown(self):
        findings, _ = klog.scan(BOOT + WARNING)
        self.assertEqual(len(findings), 3)
        shown = "\n".join(klog.excerpt(BOOT + WARNING, findings))
        self.assertIn("> [    9.000002] WARNING", shown)
        self.assertIn("oxe_free+0x10", shown)

    def test_expected_report_is_forgiven_as_a_whole(self):
        findings, missing = klog.scan(BOOT + WARNING, [r"refcount_t: underflow"])
        self.assertEqual((findings, missing), ([], []))

    def test_expected_report_forgives_no_other(self):
        other = WARNING.replace("underflow", "saturated")
        findings, _ = klog.scan(WARNING + BOOT + other, [r"refcount_t: underflow"])
        self.assertEqual(len(findings), 3)
        self.assertTrue(all(f.index > 10 for f in findings))

    def test_expected_but_absent_is_missing(self):
        self.assertEqual(klog.scan(BOOT, ["no such line"])[1], ["no such line"])

    def test_allow_list_is_justified(self):
        for pattern, why in klog.ALLOWED:
            self.assertTrue(pattern and why)


if __name__ == "__main__":
    unittest.main()
