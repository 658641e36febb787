# SPDX-License-Identifier: Apache-2.0
"""Runs one test program, and ends it if it says nothing for long."""
import os
import select
import signal
import subprocess
import tempfile
import time

QUIET_S = 240  # no program says nothing for that long


class Run:
    """How one run of a program ended."""

    def __init__(self):
        self.lines = []
        self.code = 0
        self.hung = False
        self.seconds = 0.0
        self.cpu_s = 0.0  # of the program and of all that it waited for
        self.cpu_of = {}  # of single cases: tests/support/cpu.c


class Runner:
    """Runs programs from several threads; stop() ends those under way."""

    def __init__(self, logs, quiet_s=QUIET_S):
        self.logs = logs
        self.quiet_s = quiet_s
        self.groups = set()
        self.stopped = False

    def stop(self):
        self.stopped = True
        for group in list(self.groups):
            _kill(group)

    def run(self, program, case=None, whole=False):
        run = Run()
        with tempfile.TemporaryDirectory(prefix="dlock-gate.") as directory:
            used = os.path.join(directory, "cpu")
            environment = dict(os.environ, **program.environment)
            environment.update(DLOCK_GATE_CPU=used, LC_ALL="C.UTF-8")
            begin = time.monotonic()
            process = subprocess.Popen(
                program.command_for(case, whole),
                cwd=program.directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self.groups.add(process.pid)
            try:
                text = self._read(process, program.limit_s, run)
                _, status, usage = os.wait4(process.pid, 0)
            finally:
                self.groups.discard(process.pid)
            process.returncode = run.code = os.waitstatus_to_exitcode(status)
            process.stdout.close()
            run.seconds = time.monotonic() - begin
            run.cpu_s = usage.ru_utime + usage.ru_stime
            run.cpu_of = _cpu_of_cases(used)
        run.lines = text.decode(errors="replace").splitlines()
        self._keep(program, case, text)
        return run

    def _read(self, process, limit_s, run):
        """All that it says until it ends; those who outlive it may not keep
        the pipe open."""
        text = bytearray()
        end = time.monotonic() + limit_s
        heard = time.monotonic()
        ended = None
        fd = process.stdout.fileno()
        while True:
            readable, _, _ = select.select([fd], [], [], 0.2)
            now = time.monotonic()
            if readable:
                more = os.read(fd, 65536)
                if not more:
                    break
                text += more
                heard = now
            if ended is None and _is_over(process.pid):
                ended = now
            if ended is not None and now > ended + 2:
                break
            if ended is None and now > min(end, heard + self.quiet_s):
                run.hung = True
                _kill(process.pid)
        if ended is None:
            _wait_until_over(process.pid, run)
        return bytes(text)

    def _keep(self, program, case, text):
        directory = os.path.join(self.logs, program.build)
        os.makedirs(directory, exist_ok=True)
        name = program.name + (".again" if case else "") + ".log"
        with open(os.path.join(directory, name), "wb") as file:
            file.write(text)


def _is_over(pid):
    """Without reaping it."""
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, pid, flags) is not None


def _wait_until_over(pid, run, limit_s=60):
    """It has closed its output, and should end."""
    ended = os.pidfd_open(pid)
    try:
        if not select.select([ended], [], [], limit_s)[0]:
            run.hung = True
            _kill(pid)
            select.select([ended], [], [])
    finally:
        os.close(ended)


def _kill(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _cpu_of_cases(path):
    used = {}
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                seconds, name = line.split()
                used[name] = float(seconds)
    except FileNotFoundError:
        pass
    return used
