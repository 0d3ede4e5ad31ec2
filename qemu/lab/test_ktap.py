# SPDX-License-Identifier: GPL-2.0
"""The KTAP reader, above all what it must not let pass."""

import unittest

from . import ktap

GOOD = """\
booting
KTAP version 1
1..3
ok 1 first
# a diagnostic
ok 2 - second # SKIP no such hardware
some program's output
ok 3 third
"""

NESTED = """\
KTAP version 1
1..2
  KTAP version 1
  1..2
    KTAP version 1
    1..1
    ok 1 deep
  ok 1 middle
  not ok 2 broken
not ok 1 outer
ok 2 plain
"""


def counts(text):
    total = ktap.parse(text)
    return total.passed, total.failed, total.skipped, len(total.errors)


class Parse(unittest.TestCase):
    def test_flat(self):
        self.assertEqual(counts(GOOD), (2, 0, 1, 0))
        self.assertEqual(ktap.parse(GOOD).line(), "2 passed, 0 failed, 1 skipped")

    def test_nested_counts_leaves_only(self):
        self.assertEqual(counts(NESTED), (2, 1, 0, 0))
        self.assertEqual(ktap.parse(NESTED).failures, ["broken"])

    def test_failure_is_not_good(self):
        self.assertFalse(ktap.parse(NESTED).good())

    def test_nothing_at_all_is_not_good(self):
        for text in ("", "hello\n", "KTAP version 1\n1..0\n"):
            with self.subTest(text=text):
                self.assertFalse(ktap.parse(text).good())

    def test_plan_too_long(self):
        total = ktap.parse(GOOD.replace("1..3", "1..4"))
        self.assertFalse(total.good())
        self.assertIn("plan of 4 tests, but 3 results", total.errors[0])
        self.assertEqual(total.line(), "2 passed, 1 failed, 1 skipped")

    def test_plan_missing(self):
        self.assertFalse(ktap.parse(GOOD.replace("1..3\n", "")).good())

    def test_inner_plan_mismatch(self):
        self.assertFalse(ktap.parse(NESTED.replace("    1..1", "    1..2")).good())

    def test_numbers_out_of_order(self):
        self.assertFalse(ktap.parse(GOOD.replace("ok 3", "ok 4")).good())

    def test_parent_fails_without_failing_child(self):
        text = NESTED.replace("  not ok 2", "  ok 2")
        self.assertEqual(counts(text), (3, 1, 0, 0))

    def test_parent_passes_with_failing_child(self):
        text = NESTED.replace("not ok 1 outer", "ok 1 outer")
        self.assertFalse(ktap.parse(text).good())

    def test_plan_at_the_end(self):
        self.assertEqual(counts("TAP version 13\nok 1 a\nok 2 b\n1..2\n"), (2, 0, 0, 0))

    def test_skip_all(self):
        self.assertEqual(counts("KTAP version 1\n1..0 # SKIP not here\n"), (0, 0, 1, 0))

    def test_bail_out(self):
        self.assertFalse(ktap.parse(GOOD + "Bail out! no memory\n").good())

    def test_todo_is_no_failure(self):
        self.assertEqual(
            counts("KTAP version 1\n1..1\nnot ok 1 x # TODO later\n"), (0, 0, 1, 0)
        )

    def test_two_suites_one_after_the_other(self):
        self.assertEqual(counts(GOOD + GOOD), (4, 0, 2, 0))

    def test_adding_guests(self):
        total = ktap.Summary()
        total.add(ktap.parse(GOOD), "a: ")
        total.add(ktap.parse(NESTED), "b: ")
        self.assertEqual(total.line(), "4 passed, 1 failed, 1 skipped")
        self.assertEqual(total.failures, ["b: broken"])


if __name__ == "__main__":
    unittest.main()
