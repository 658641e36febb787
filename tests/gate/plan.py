# SPDX-License-Identifier: Apache-2.0
"""What is to be run: the test programs of a build, with their classes.

CMake knows them (tests/CMakeLists.txt) and ctest tells them as JSON, so that
a program is described in one place.
"""
import fnmatch
import json
import re
import subprocess

CLASSES = ("pure", "real", "long")
PATTERN = "DLOCK_GATE_CASES"


class Program:
    """One test program of one build: how to run it, and what is asked of it."""

    def __init__(self, build, test):
        properties = {p["name"]: p["value"] for p in test["properties"]}
        self.build = build
        self.name = test["name"]
        self.command = test.get("command", [])
        self.directory = properties.get("WORKING_DIRECTORY")
        self.labels = properties.get("LABELS", [])
        self.limit_s = float(properties.get("TIMEOUT", 900))
        self.cost = float(properties.get("COST", 0))
        self.processors = int(properties.get("PROCESSORS", 1))
        self.alone = bool(properties.get("RUN_SERIAL"))
        self.forbidden = [
            re.compile(text)
            for text in properties.get("FAIL_REGULAR_EXPRESSION", [])
        ]
        self.environment = dict(
            line.split("=", 1) for line in properties.get("ENVIRONMENT", [])
        )
        self.pattern = self.environment.pop(PATTERN, None)

    @property
    def title(self):
        return self.name if self.build == "dev" else f"{self.build}/{self.name}"

    @property
    def criterion(self):
        return "criterion" in self.labels

    @property
    def kind(self):
        """The class: of several, the first that CLASSES names."""
        return next((k for k in CLASSES if k in self.labels), None)

    def command_for(self, case=None, whole=False):
        """The command line for one case, for the gate's cases or for all."""
        pattern = None if whole else self.pattern
        if case:
            pattern = case.replace("::", "/")
        if pattern and self.criterion:
            return self.command + ["--filter", pattern]
        return self.command


def programs(directory, build):
    """The test programs of a build directory."""
    text = subprocess.run(
        ["ctest", "--show-only=json-v1"],
        cwd=directory,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [Program(build, test) for test in json.loads(text)["tests"]]


def unclassed(all_of_them):
    """Those that have no class, or several."""
    return [
        p.name
        for p in all_of_them
        if sum(label in CLASSES for label in p.labels) != 1
    ]


def select(all_of_them, labels=(), only=None, others=()):
    """Those with one of LABELS, and with none that has a "-" in LABELS, whose
    names match a pattern of ONLY and none of OTHERS."""
    wanted = [x for x in labels if not x.startswith("-")]

    def matches(program, patterns):
        return any(fnmatch.fnmatchcase(program.name, x) for x in patterns)

    return [
        p
        for p in all_of_them
        if (not wanted or any(label in p.labels for label in wanted))
        and not any("-" + label in labels for label in p.labels)
        and (only is None or matches(p, only))
        and not matches(p, others)
    ]
