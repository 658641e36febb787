# SPDX-License-Identifier: Apache-2.0
"""What a test program's output says: its cases, and how each of them ended."""
import re
import signal

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"

# Whatever else was said: no repetition makes these good.
FATAL = re.compile(
    r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error: "
    r"|stack smashing|double free"
    r"|malloc\(\): |free\(\): |\bSAFETY\b|killed by signal (4|5|6|7|8|11)\b"
)
# These, said of a case that failed.
UNSAFE = re.compile(
    r"CRASH!|Assertion [`'].*' failed|overlap|two holders|\binside\b|token"
    r"|\bleak|left behind|left for ever|corrupt|\bstale\b",
    re.IGNORECASE,
)
CRASHES = {
    signal.SIGILL,
    signal.SIGTRAP,
    signal.SIGABRT,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGSEGV,
}
SKIP_CODE = 77
WHOLE = "(the program)"

_RUN = re.compile(r"\[RUN \] (\w+::\w+)")
_END = re.compile(r"\[(PASS|FAIL|SKIP)\] (\w+::\w+): (.*)")
_TIME = re.compile(r"\(([\d.]+)s\)")
_TESTED = re.compile(r"Synthesis: Tested: (\d+) ")
# Lines that tell of a failure, in programs that have no Criterion.
_WHERE = re.compile(r"FAIL|\.(c|cpp|py|sh|lua):\d+")
_TELLS = re.compile(r"^\[----\]|\.(c|cpp):\d+|Assertion")
_PLACE = re.compile(r"\S+\.(c|h|cpp|py|sh|lua):\d+")
_COUNT = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")


class Case:
    """One case, how it ended, and what was said first if it failed."""

    def __init__(self, program, name, outcome, seconds=0.0, said=""):
        self.program = program
        self.name = name
        self.outcome = outcome
        self.seconds = seconds
        self.said = said
        self.unsafe = False

    @property
    def title(self):
        return f"{self.program.title}: {self.name}"


def first_of(lines):
    """The first line that says something, without Criterion's margin."""
    for line in lines:
        text = line.removeprefix("[----]").strip()
        if text and not text.endswith(": Assertion Failed"):
            return text[:160]
    return ""


def _told(lines):
    """The lines that are no marks of Criterion's."""
    return [x for x in lines if not _RUN.search(x) and not _END.search(x)]


def _unsafe(lines):
    """Do they speak of what is never repeated?  Names of files do not count."""
    return any(UNSAFE.search(_PLACE.sub("", line)) for line in lines)


def _criterion(program, lines):
    cases, begun, said, tested = {}, {}, [], None
    for number, line in enumerate(lines):
        if match := _END.search(line):
            word, name, rest = match.groups()
            begin = begun.pop(name, 0)
            time = _TIME.search(rest)
            if word == "PASS":
                cases[name] = Case(program, name, PASSED)
            elif word == "FAIL":
                its = [text for n, text in said if n > begin]
                said = [(n, text) for n, text in said if n < begin]
                text = first_of([x for x in its if _TELLS.search(x)] + [rest])
                cases[name] = Case(program, name, FAILED, said=text)
                # Beside other cases its words may stand elsewhere.
                cases[name].unsafe = _unsafe([rest] + (its or _told(lines)))
            elif rest != "Test is disabled":
                cases[name] = Case(program, name, SKIPPED, said=rest)
            if name in cases and time:
                cases[name].seconds = float(time[1])
        elif match := _RUN.search(line):
            begun[match[1]] = number
        elif match := _TESTED.search(line):
            tested = int(match[1])
        else:
            said.append((number, line))
    for name in begun:
        cases[name] = Case(program, name, FAILED, said="it never ended")
    if tested is None and not begun:
        text = first_of(lines[-8:])
        cases[WHOLE] = Case(program, WHOLE, FAILED, said=text)
    return list(cases.values())


def _plain(program, lines, code):
    """Cases that the program counts, or the one that it is."""
    counted = [m for m in map(_COUNT.match, lines) if m]
    if not counted:
        outcome = {0: PASSED, SKIP_CODE: SKIPPED}.get(code, FAILED)
        said = [x for x in lines if _WHERE.search(x)] or lines[-8:]
        return [Case(program, WHOLE, outcome, said=first_of(said))]
    good, bad, left = map(int, counted[-1].groups())
    cases = [Case(program, f"#{i}", PASSED) for i in range(good)]
    cases += [Case(program, f"#{i}", SKIPPED) for i in range(left)]
    if bad or code != 0:
        said = [x for x in lines if _WHERE.search(x)] or lines[-8:]
        cases.append(Case(program, WHOLE, FAILED, said=first_of(said)))
    return cases


def judge(program, lines, code, hung):
    """The cases of one run of a program.

    CODE is its exit code, negative for a signal, and HUNG that it was killed
    because it said nothing for long.
    """
    if program.criterion:
        cases = _criterion(program, lines)
    else:
        cases = _plain(program, lines, code)
    bad = [c for c in cases if c.outcome == FAILED]

    def fail(said):
        case = Case(program, WHOLE, FAILED, said=said)
        cases.append(case)
        bad.append(case)

    if hung and not bad:
        fail("it hangs")
    elif not any(c.outcome != SKIPPED for c in cases) and code != SKIP_CODE:
        if not bad:
            fail("it ran no case")
    elif code != 0 and not bad and code != SKIP_CODE:
        fail(f"exit code {code} although no case failed")
    for pattern in program.forbidden:
        said = [line for line in lines if pattern.search(line)]
        if said and not bad:
            fail(first_of(said))
    _mark_unsafe(lines, code, hung, bad, fail)
    return cases


def _mark_unsafe(lines, code, hung, bad, fail):
    fatal = [line for line in lines if FATAL.search(line)]
    if not hung and code < 0 and -code in CRASHES:
        fatal.append(f"killed by signal {-code}")
    told = [line for line in lines if _WHERE.search(line)]
    whole_is_bad = any(c.name == WHOLE for c in bad)
    if not fatal and not (whole_is_bad and _unsafe(told)):
        return
    if not bad:
        fail(first_of(fatal))
    for case in bad:
        case.unsafe = True
        if fatal and not case.said:
            case.said = first_of(fatal)
