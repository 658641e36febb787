# SPDX-License-Identifier: Apache-2.0
"""examples/tasks.py does what its first lines say."""
import os
import signal
import subprocess
import sys
import tempfile

from cases import Case, for_every_uri


class Example(Case):
    """examples/tasks.py does what its first lines say."""
    PROGRAM = os.path.join(os.path.dirname(__file__),
                           "../../examples/tasks.py")
    # Fails if another one of that name runs.
    ALONE = """#!/bin/sh
mkdir "at.$1" && ls -d at.* | wc -l >> seen && sleep 0.1 && rmdir "at.$1"
"""

    def start(self, *args, command="./alone"):
        return subprocess.Popen(
            [sys.executable, self.PROGRAM, args[0], command, *args[1:]],
            cwd=self.dir.name, env=dict(os.environ, DLOCK_URI=self.uri),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ends(self, program, status):
        said = program.communicate(timeout=60)[1]
        self.assertEqual(program.returncode, status, said)
        return said

    def setUp(self):
        super().setUp()
        self.dir = tempfile.TemporaryDirectory()
        self.make("alone", self.ALONE)

    def make(self, name, script):
        path = os.path.join(self.dir.name, name)
        with open(path, "w", encoding="ascii") as f:
            f.write(script)
        os.chmod(path, 0o755)

    def tearDown(self):
        self.dir.cleanup()
        super().tearDown()

    def seen(self):
        path = os.path.join(self.dir.name, "seen")
        with open(path, encoding="ascii") as f:
            return [int(line) for line in f]

    def test_runs_so_many_at_once(self):
        self.ends(self.start("2", *"abcde"), 0)
        self.assertEqual((len(self.seen()), max(self.seen())), (5, 2))

    def test_runs_none_twice_at_once(self):
        if "mem:" in self.uri:
            return  # of one process only
        programs = [self.start("3", "a", "b"), self.start("3", "b", "a")]
        for program in programs:
            self.ends(program, 0)
        self.assertEqual(len(self.seen()), 4)

    def test_failures(self):
        self.assertEqual(self.ends(
            self.start("1", "a", "b", command="./nothing"),
            os.EX_TEMPFAIL).count("nothing"), 2)
        self.ends(self.start("1", "a", command="false"), os.EX_TEMPFAIL)
        self.assertIn("usage", self.ends(self.start("1"), 1))

    def test_loss_ends_a_command(self):
        if "mem:" in self.uri:
            return
        program = self.start("1", "60", command="sleep")
        lock = self.other.mutex("60")
        self.eventually(lock.inspect)
        lock.take_away()
        self.assertIn("lost", self.ends(program, os.EX_TEMPFAIL))

    def test_interrupt_ends_a_command(self):
        """Before the lock is free."""
        self.make("long", "#!/bin/sh\necho $$\nexec sleep 60 >&- 2>&-\n")
        program = self.start("1", "a", command="./long")
        command = int(program.stdout.readline())
        self.addCleanup(lambda: subprocess.run(
            ["kill", str(command)], stderr=subprocess.DEVNULL))
        program.send_signal(signal.SIGINT)
        self.assertIn("KeyboardInterrupt",
                      self.ends(program, -signal.SIGINT))
        self.assertRaises(ProcessLookupError, os.kill, command, 0)


load_tests = for_every_uri(Example)
