# SPDX-License-Identifier: Apache-2.0
"""What the tests share: each runs with every URI of DLOCK_TEST_URIS."""
import os
import threading
import time
import unittest

import dlock

URIS = os.environ.get("DLOCK_TEST_URIS", "mem:").split()


def short(uri):
    """A lease short enough to see its end."""
    return uri + ("&" if "?" in uri else "?") + "ttl=1500ms"


class InThread(threading.Thread):
    """A call in a thread of its own, which is started at once."""
    def __init__(self, call):
        super().__init__()
        self.call, self.got = call, []
        self.start()

    def run(self):
        try:
            self.got.append(self.call())
        except dlock.Error as e:
            self.got.append(e)

    def result(self):
        """What the call returned, or raised."""
        self.join(60)
        if not self.got:
            raise AssertionError("the thread has no result")
        return self.got[0]


class Case(unittest.TestCase):
    """Two clients, with a mutex each: the same one."""
    uri = URIS[0]

    def setUp(self):
        self.name = self.id()
        self.store = dlock.Client(short(self.uri))
        self.other = dlock.Client(short(self.uri))
        self.mine = self.store.mutex(self.name)
        self.theirs = self.other.mutex(self.name)

    def tearDown(self):
        self.store.close()
        self.other.close()

    def eventually(self, condition):
        end = time.monotonic() + 20
        while not condition():
            self.assertLess(time.monotonic(), end, "never came true")
            time.sleep(0.001)

    def in_thread(self, call):
        return InThread(call).result()

    def in_threads(self, count, call):
        """All of them return, and nothing."""
        for t in [InThread(call) for _ in range(count)]:
            self.assertIsNone(t.result())


def for_every_uri(*classes, once=()):
    """load_tests() of a module."""
    def load_tests(loader, standard, pattern):
        suite = unittest.TestSuite()
        for cls in once:
            suite.addTests(loader.loadTestsFromTestCase(cls))
        for number, uri in enumerate(URIS):
            for cls in classes:
                suite.addTests(loader.loadTestsFromTestCase(
                    type(f"{cls.__name__}{number}", (cls,), {"uri": uri})))
        return suite

    return load_tests
