# SPDX-License-Identifier: Apache-2.0
"""What is told at the end of a run, and whether it was good."""
import os
import statistics

from verdict import FAILED, PASSED, SKIPPED, WHOLE

SLOWEST = 10
CPU_FLOOR_S = 0.25  # below, a factor of two is noise


class Report:
    """Collects cases; prints what matters; says whether all is well."""

    def __init__(self, repeats):
        self.repeats = repeats
        self.cases = []
        self.slow = []
        self.cpu_of = {}
        self.flaky = []
        self.repeated = 0

    def add(self, program, run, cases):
        self.cases += cases
        timed = [(c.seconds, c.title) for c in cases if c.seconds]
        self.slow += timed or [(run.seconds, f"{program.title}: {WHOLE}")]
        for name, seconds in run.cpu_of.items():
            self.cpu_of[f"{program.title} {name}"] = seconds
        if not program.criterion:
            self.cpu_of[f"{program.title} {WHOLE}"] = run.cpu_s

    def to_repeat(self):
        """The failures that may be repeated, not more than there are repeats
        left; none if something failed that is never repeated."""
        bad = [c for c in self.cases if c.outcome == FAILED]
        if any(c.unsafe or c.program.kind == "pure" for c in bad):
            return []
        return bad[: self.repeats]

    def passed_at_last(self, case):
        self.flaky.append(f"FLAKY: {case.title} ({case.said})")
        case.outcome = PASSED

    def count(self, outcome):
        return sum(c.outcome == outcome for c in self.cases)

    def print_slowest(self):
        print(f"the {SLOWEST} slowest:")
        for seconds, title in sorted(self.slow, reverse=True)[:SLOWEST]:
            print(f"  {seconds:6.1f} s  {title}")

    def print_hungry(self, usual):
        """Cases that took more than twice their usual processor time, when
        how fast this machine is today has been allowed for."""
        both = sorted(k for k in self.cpu_of if k in usual)
        ratios = [self.cpu_of[k] / usual[k] for k in both]
        factor = statistics.median(ratios) if ratios else 1
        for name in both:
            most = 2 * max(usual[name], CPU_FLOOR_S) * max(factor, 1)
            if self.cpu_of[name] > most:
                print(
                    f"CPU: {name}: {self.cpu_of[name]:.2f} s of processor"
                    f" time, usually {usual[name]:.2f} s"
                )

    def finish(self, minimum):
        """Print failures, FLAKY lines and the count.  Is all well?"""
        bad = [c for c in self.cases if c.outcome == FAILED]
        ran = self.count(PASSED) + len(bad)
        for case in bad:
            word = "SAFETY" if case.unsafe else "failed"
            print(f"{word}: {case.title} ({case.said})")
        failed = len(bad)
        if ran < minimum:
            print(f"failed: {ran} cases ran, and {minimum} must")
            failed += 1
        for line in self.flaky:
            print(line)
        print(
            f"{len(self.flaky)} flaky, {self.repeated} of"
            f" {self.repeats} repeats used"
        )
        good, left = self.count(PASSED), self.count(SKIPPED)
        print(f"{good} passed, {failed} failed, {left} skipped", flush=True)
        return failed == 0 and good > 0


def read_minimum(path):
    """The number in a file whose other lines begin with '#'."""
    with open(path, encoding="utf-8") as file:
        return int(next(x for x in file if not x.startswith("#")))


def read_usual(path):
    """Lines "SECONDS PROGRAM CASE": usual processor times."""
    usual = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                if not line.startswith("#"):
                    seconds, name = line.rstrip("\n").split(" ", 1)
                    usual[name] = float(seconds)
    return usual


def write_usual(path, cpu_of):
    with open(path, "w", encoding="utf-8") as file:
        file.write(
            "# Processor time of cases in seconds, by tests/gate/run"
            " --learn; those below a tenth are left out.\n"
        )
        for name in sorted(cpu_of):
            if cpu_of[name] >= 0.1:
                file.write(f"{cpu_of[name]:.2f} {name}\n")
