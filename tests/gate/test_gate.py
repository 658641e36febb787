#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_gate.py PLANTED - failures of each sort end as they should.

PLANTED is the program of tests/gate/planted.c.  Each case here makes a build
directory that ctest can read, and has tests/gate/run judge what is in it.
"""
import os
import subprocess
import sys
import tempfile
import unittest

RUN = os.path.join(os.path.dirname(os.path.realpath(__file__)), "run")
PLANTED = ""

OVERFLOW = """
#include <stdlib.h>
int main(void)
{
	char *p = malloc(3);
	volatile int i = 3;
	return p[i];
}
"""


class Outcome:
    def __init__(self, code, text):
        self.code = code
        self.text = text
        self.lines = text.splitlines()
        self.count = self.lines[-1]

    def starting(self, word):
        return [x for x in self.lines if x.startswith(word)]


class Gate(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="dlock-gate-test.")
        self.addCleanup(directory.cleanup)
        self.root = directory.name
        self.tests = []
        os.mkdir(self.path("b"))

    def path(self, *names):
        return os.path.join(self.root, *names)

    def add(self, name, command, labels, properties=""):
        line = " ".join(f'"{word}"' for word in command)
        self.tests.append(
            f"add_test({name} {line})\n"
            f'set_tests_properties({name} PROPERTIES LABELS "{labels}"'
            f" {properties})\n"
        )

    def plant(self, cases, kind="real", properties=""):
        name = f"planted{len(self.tests)}"
        self.add(
            name,
            # One at a time: the messages of two cases would mix.
            [PLANTED, "--verbose=1", "-j1"],
            f"criterion;{kind}",
            'ENVIRONMENT "DLOCK_GATE_CASES=planted/@('
            f'{cases});PLANTED_DIR={self.root}" {properties}',
        )

    def script(self, text, kind="real"):
        name = f"script{len(self.tests)}"
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o700)
        self.add(name, [path], f"plain;{kind}")

    def run_gate(self, *more, build="b"):
        with open(self.path("b", "CTestTestfile.cmake"), "w",
                  encoding="utf-8") as file:
            file.writelines(self.tests)
        ended = subprocess.run(
            [RUN, "--gate", "--root", self.root, "--logs", self.path("logs"),
             "--minimum", "1", *more, build],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        return Outcome(ended.returncode, ended.stdout)

    def assertRepeated(self, outcome, flaky, count):
        self.assertEqual(outcome.code, 0, outcome.text)
        self.assertEqual(len(outcome.starting("FLAKY: ")), flaky)
        self.assertTrue(outcome.lines[-2].startswith(f"{flaky} flaky, "))
        self.assertEqual(outcome.count, count)

    def assertFinal(self, outcome, word, said, count=None):
        self.assertEqual(outcome.code, 1, outcome.text)
        told = outcome.starting(word + ": ")
        self.assertTrue(any(said in line for line in told), outcome.text)
        self.assertEqual(outcome.starting("again: "), [])
        if count:
            self.assertEqual(outcome.count, count)

    def test_good(self):
        self.plant("good*|skipped")
        self.assertRepeated(self.run_gate(), 0,
                            "2 passed, 0 failed, 1 skipped")

    def test_late_is_repeated(self):
        self.plant("good|late_1")
        outcome = self.run_gate()
        self.assertRepeated(outcome, 1, "2 passed, 0 failed, 0 skipped")
        self.assertEqual(
            outcome.starting("FLAKY: "),
            ["FLAKY: b/planted0: planted::late_1 (took 700 ms, of 500)"])

    def test_time_that_was_left_is_nothing_left_behind(self):
        self.plant("good|late_4")
        self.assertRepeated(self.run_gate(), 1,
                            "2 passed, 0 failed, 0 skipped")

    def test_late_each_time_fails(self):
        self.plant("good|late_each_time")
        outcome = self.run_gate()
        self.assertEqual(outcome.code, 1)
        self.assertEqual(len(outcome.starting("again: ")), 1)
        self.assertEqual(len(outcome.starting("failed: ")), 1)
        self.assertEqual(outcome.count, "1 passed, 1 failed, 0 skipped")

    def test_three_repeats_of_a_run(self):
        self.plant("late_[12]")
        self.plant("late_3")
        self.assertRepeated(self.run_gate(), 3,
                            "3 passed, 0 failed, 0 skipped")

    def test_a_fourth_fails(self):
        self.plant("late_[12]")
        self.plant("late_[34]")
        outcome = self.run_gate()
        self.assertEqual(outcome.code, 1)
        self.assertEqual(len(outcome.starting("FLAKY: ")), 3)
        self.assertEqual(outcome.count, "3 passed, 1 failed, 0 skipped")

    def test_pure_is_never_repeated(self):
        self.plant("good|late_1", kind="pure")
        self.assertFinal(self.run_gate(), "failed", "took 700 ms",
                         "1 passed, 1 failed, 0 skipped")

    def test_long_is_repeated(self):
        self.plant("late_1", kind="long")
        self.assertRepeated(self.run_gate(), 1,
                            "1 passed, 0 failed, 0 skipped")

    def test_hang_is_found_and_repeated(self):
        self.plant("good|hangs_once")
        outcome = self.run_gate("--quiet-limit", "2")
        self.assertRepeated(outcome, 1, "2 passed, 0 failed, 0 skipped")
        self.assertIn("planted::hangs_once (it never ended)", outcome.text)

    def test_limit_of_a_program(self):
        self.plant("good|hangs_once", properties="TIMEOUT 2")
        self.assertRepeated(self.run_gate(), 1,
                            "2 passed, 0 failed, 0 skipped")

    def test_safety_is_never_repeated(self):
        for case, said in (
            ("overlaps_once", "overlaps == 0"),
            ("falls_once", "dlock_token(h) > last"),
            ("leaves_once", "left behind"),
            ("crashes_once", ""),
            ("asserts_once", "is_first_time"),
        ):
            with self.subTest(case):
                self.tests = []
                self.plant(f"good|late_each_time|{case}")
                self.assertFinal(self.run_gate(), "SAFETY", said,
                                 "1 passed, 2 failed, 0 skipped")

    def test_sanitizer(self):
        source = self.path("overflow.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(OVERFLOW)
        subprocess.run(
            ["gcc", "-g", "-fsanitize=address", "-o", self.path("overflow"),
             source], check=True)
        self.script(f"{self.path('overflow')} || true; echo all is well")
        self.assertFinal(self.run_gate(), "SAFETY", "AddressSanitizer",
                         "1 passed, 1 failed, 0 skipped")

    def test_program_killed_by_a_crash(self):
        self.script("kill -SEGV $$")
        self.assertFinal(self.run_gate(), "SAFETY", "killed by signal 11")

    def test_plain_program(self):
        self.script("echo 4 passed, 0 failed, 2 skipped")
        self.script("exit 0")
        self.script("exit 77")
        self.assertRepeated(self.run_gate(), 0,
                            "5 passed, 0 failed, 3 skipped")

    def test_plain_program_is_repeated(self):
        self.script(f"mkdir {self.path('once')} 2> /dev/null && "
                    "{ echo FAIL: took long; exit 1; }; exit 0")
        outcome = self.run_gate()
        self.assertRepeated(outcome, 1, "1 passed, 0 failed, 0 skipped")
        self.assertIn("(FAIL: took long)", outcome.starting("FLAKY: ")[0])

    def test_no_case_ran(self):
        self.plant("of_no_such_name", kind="pure")
        self.assertFinal(self.run_gate(), "failed", "it ran no case")

    def test_too_few_cases(self):
        self.plant("good*")
        outcome = self.run_gate("--minimum", "3")
        self.assertFinal(outcome, "failed", "2 cases ran, and 3 must",
                         "2 passed, 1 failed, 0 skipped")

    def test_hungry_case_is_named(self):
        usual = self.path("usual")
        self.plant("good|computes")
        self.script("exit 0")
        learnt = self.run_gate("--usual", usual, "--learn")
        self.assertEqual(learnt.starting("CPU: "), [])
        with open(usual, encoding="utf-8") as file:
            self.assertIn(" b/planted0 planted::computes\n", file.read())
        with open(usual, "w", encoding="utf-8") as file:
            file.write("0.20 b/planted0 planted::computes\n"
                       "0.10 b/planted0 planted::good\n"
                       "0.10 b/script1 (the program)\n")
        outcome = self.run_gate("--usual", usual)
        self.assertRepeated(outcome, 0, "3 passed, 0 failed, 0 skipped")
        self.assertEqual(len(outcome.starting("CPU: ")), 1)
        self.assertIn("planted::computes", outcome.starting("CPU: ")[0])

    def test_no_program(self):
        self.plant("good")
        self.assertEqual(self.run_gate("--only", "other").code, 1)

    def test_labels(self):
        self.plant("good")
        self.script("exit 1", kind="pure")
        self.script("exit 1", kind="real;once")
        self.assertRepeated(self.run_gate(build="b:real,-once"), 0,
                            "1 passed, 0 failed, 0 skipped")
        self.assertEqual(self.run_gate(build="b:real").code, 1)

    def test_program_that_is_not_built(self):
        self.script("exit 0")
        self.add("missing", [self.path("missing")], "plain;real")
        outcome = self.run_gate()
        self.assertEqual(outcome.code, 1)
        self.assertIn("b/missing is not built", outcome.text)

    def test_program_without_class(self):
        self.plant("good", kind="other")
        outcome = self.run_gate()
        self.assertEqual(outcome.code, 1)
        self.assertIn("no class, or several", outcome.text)

    def test_who_outlives_its_program(self):
        self.script("sleep 60 & echo left alone; exit 0")
        self.assertRepeated(self.run_gate(), 0,
                            "1 passed, 0 failed, 0 skipped")


if __name__ == "__main__":
    PLANTED = os.path.abspath(sys.argv.pop())
    result = unittest.main(argv=[sys.argv[0]], exit=False, verbosity=2).result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed, 0 skipped")
    sys.exit(1 if bad or not result.testsRun else 0)
