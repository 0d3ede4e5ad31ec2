# SPDX-License-Identifier: GPL-2.0
"""The QEMU command line and the run directories, without a guest."""

import tempfile
import unittest
from pathlib import Path

from . import runner
from .machine import Machine, Setup, link


def command(role="", net=(), **options):
    setup = Setup(["qemu"], Path("/image"), Path("/src"), **options)
    machine = Machine(setup, Path("/run"), Path("/tmp/s"), role, net=net)
    return " ".join(machine.command())


class CommandLine(unittest.TestCase):
    def test_tcg_has_the_wanted_cpus(self):
        line = command(accel="tcg", smp=4)
        self.assertIn("-accel tcg,thread=multi -cpu max -smp 4", line)

    def test_icount_is_one_cpu_in_one_thread(self):
        line = command(accel="tcg", smp=4, icount=True)
        self.assertIn("tcg,thread=single -icount shift=0,sleep=off", line)
        self.assertIn("-smp 1 ", line)

    def test_kvm(self):
        self.assertIn("-accel kvm -cpu host", command(accel="kvm"))

    def test_the_image_is_never_written(self):
        self.assertIn("root.ext4,format=raw,if=virtio,snapshot=on", command(accel="tcg"))

    def test_the_checkout_is_read_only(self):
        self.assertRegex(command(accel="tcg"), r"path=/src,mount_tag=oxe\S*readonly=on")

    def test_the_cable_has_two_ends(self):
        a, b = (" ".join(link(Path("/tmp/s"), role)) for role in "ab")
        self.assertIn("server=on", a)
        self.assertIn("server=off", b)
        self.assertNotEqual(a.split("mac=")[1], b.split("mac=")[1])


class Directories(unittest.TestCase):
    def test_every_run_has_its_own(self):
        with tempfile.TemporaryDirectory() as top:
            names = [runner.new_directory(Path(top), "a b/c").name for _ in range(3)]
        self.assertEqual(names, ["a-b-c-1", "a-b-c-2", "a-b-c-3"])

    def test_a_job_is_written_for_its_role(self):
        with tempfile.TemporaryDirectory() as top:
            job = runner.Job("x", "#!/bin/sh\n", [], {"A": "b c"})
            job.write(Path(top), "a")
            self.assertEqual((Path(top) / "env").read_text(), "A='b c'\nLAB_ROLE=a\n")
            self.assertTrue((Path(top) / "job").stat().st_mode & 0o100)


if __name__ == "__main__":
    unittest.main()
