# SPDX-License-Identifier: Apache-2.0
"""Clients: opened, asked, closed; and what they refuse."""
import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest.mock
import warnings
import weakref

import dlock
import dlock.aio
from cases import Case, InThread, for_every_uri, short

PASSWORD = "what nobody may read"


class Clients(Case):
    def test_reports(self):
        with dlock.Client(self.uri, label="a label") as store:
            with store.mutex(self.name) as hold:
                found = self.theirs.inspect()
                since = found[0].since
                self.assertTrue(since is None or
                                abs(since - time.time()) < 60, since)
                self.assertEqual([p.label for p in found], ["a label"])
                self.assertEqual(found[0].token, hold.token)
                self.assertIn(self.name,
                              [entry.name for entry in self.other.list()])
                self.assertEqual(store.ttl is None, hold.remaining is None)
                stats = store.stats()
                self.assertEqual((stats.holds, stats.granted), (1, 1))
                self.assertEqual(stats.wait.count, 1)
                self.assertEqual(sum(stats.wait.buckets), 1)
                self.assertEqual(stats.hold.count, 0)
                self.assertEqual((stats.passed, stats.retaken, stats.kept),
                                 (0, 0, 0))
            held = store.stats().hold
            self.assertEqual((held.count, sum(held.buckets)), (1, 1))
            self.assertGreater(held.total, 0)
            self.assertIn("FENCE", store.caps)
            self.assertTrue(store.uri.startswith(self.uri[:3]))
            self.assertIn(store.uri, repr(store))
            self.assertGreaterEqual(store.linger, 0)
        self.assertIn("closed", repr(store))

    def test_permits(self):
        mine = self.store.semaphore(self.name, 3)
        with mine:
            found = mine.permits()
            self.assertEqual(found, dlock.Permits(3, 1, 2))
            self.assertEqual(found.free, 2)
            one = self.other.semaphore(self.name, 3).inspect()[0]
            self.assertEqual((one.permits, one.limit), (1, 3))
        self.assertRaises(dlock.Invalid, mine.resize, 0)
        for wrong in 0, 4, True:
            self.assertRaises(dlock.Invalid, mine.acquire, 0, permits=wrong)
        self.assertRaises(dlock.Invalid, self.store.mutex(self.name).acquire,
                          0, permits=1)
        if "PERMITS" in self.store.caps:
            with mine.acquire(5, permits=2):
                self.assertEqual(mine.permits(), dlock.Permits(3, 2, 1))
                self.assertIsNone(mine.try_acquire(permits=2))
                mine.try_acquire().release()
        else:
            self.assertRaises(dlock.NotSupported, mine.try_acquire, 0,
                              permits=2)
        if "RESIZE" in self.store.caps:
            self.assertRaises(dlock.Invalid, mine.resize, 2)
            with mine:
                mine.resize(1)
                self.assertEqual(mine.permits(), dlock.Permits(1, 1, 0))
                self.assertIsNone(mine.try_acquire())
        with self.store.mutex(self.name):
            one = self.theirs.inspect()[0]
            self.assertEqual((one.permits, one.limit), (0, 0))

    def test_read_sides_of_a_multi_lock(self):
        both = dlock.MultiLock([self.store.mutex(self.name + "/m"),
                                self.store.rwlock(self.name).use_read_side()])
        theirs = self.other.rwlock(self.name)
        with both:
            self.assertIsNone(theirs.try_acquire())
            theirs.try_acquire_shared().release()
        theirs.acquire(5).release()

    def test_upgrade(self):
        lock = self.store.rwlock(self.name)
        theirs = self.other.rwlock(self.name)
        if "UPGRADE" not in self.store.caps:
            self.assertRaises(dlock.NotSupported, dlock.Upgradeable, lock)
            return
        self.assertRaises(dlock.Invalid, dlock.Upgradeable,
                          self.store.mutex(self.name))
        mine = dlock.Upgradeable(lock)
        with mine.acquire(5) as reads:
            with theirs.acquire_shared(5):
                self.assertIsNone(mine.try_upgrade(reads))
                self.assertRaises(dlock.TimedOut, mine.upgrade, reads, 0.02)
                reads.check()
            with mine.upgrade(reads, 5) as writes:
                self.assertIsNone(theirs.try_acquire_shared())
                self.assertGreater(writes.token, reads.token)
                self.assertRaises(dlock.Invalid, reads.release)
                self.assertTrue(reads.held)
            theirs.acquire_shared(5).release()
            self.assertIsNone(theirs.try_acquire())
            self.assertIsNone(reads.member(2))
            self.assertTrue(reads.member(0).held)
        self.assertRaises(dlock.Invalid, mine.upgrade, reads)
        theirs.acquire(5).release()

    def test_upgrade_beside_a_release(self):
        """The hold that another thread releases is upgraded or released."""
        if "UPGRADE" not in self.store.caps:
            return
        lock = dlock.Upgradeable(self.store.rwlock(self.name, unbound=True))
        for _ in range(200):
            reads = lock.acquire(20)
            releasing = InThread(reads.release)
            try:
                lock.upgrade(reads, 20).release()
            except dlock.Invalid:
                pass
            if releasing.result() is not None:
                reads.release()
        self.other.mutex(self.name).acquire(20).release()

    def test_bad_input(self):
        with self.assertRaisesRegex(dlock.Invalid, "nostore"):
            dlock.Client("nostore://h")
        self.assertRaises(dlock.Invalid, self.store.mutex, "")
        self.assertRaises(dlock.Invalid, self.store.mutex, "a\0b")
        with self.assertRaisesRegex(dlock.Invalid, "character 2 of the name"):
            self.store.mutex("a\udc80")
        for permits in (-1, 0, 2 ** 32, 2 ** 64, 10 ** 5000, True):
            with self.assertRaisesRegex(dlock.Invalid, "permits"):
                self.store.semaphore("a", permits)
        self.store.semaphore("a", 2 ** 32 - 1)
        with self.assertRaisesRegex(dlock.Invalid, "a lease of -1 seconds"):
            self.mine.acquire(0, lease=-1)

    def test_wrong_types_are_named(self):
        mine, hold = self.mine, self.mine.acquire()
        for wrong, call in (
                ("the URI .* not NoneType", lambda: dlock.Client(None)),
                ("label .* not int", lambda: dlock.Client("mem:", label=0)),
                ("password .* not bool",
                 lambda: dlock.Client("mem:", password=False)),
                ("require .* not int",
                 lambda: dlock.Client("mem:", require=1)),
                ("on_event .* not int",
                 lambda: dlock.Client("mem:", on_event=1)),
                ("on_log .* not str",
                 lambda: dlock.Client("mem:", on_log="a")),
                ("on_event .* not int",
                 lambda: dlock.aio.Client("mem:", on_event=1)),
                ("the name .* not bytes", lambda: self.store.mutex(b"a")),
                ("permits .* not float",
                 lambda: self.store.semaphore("a", 1.5)),
                ("a member .* not int", lambda: dlock.MultiLock([mine, 5])),
                ("a member .* dlock.aio.Client, not Lock",
                 lambda: dlock.aio.MultiLock([mine])),
                ("an Upgradeable .* not int", lambda: dlock.Upgradeable(5)),
                ("a timeout .* not str", lambda: mine.acquire("5")),
                ("a lease .* not str", lambda: mine.acquire(0, lease="5")),
                ("an extension .* not NoneType", lambda: hold.extend(None)),
                ("a member's number .* not str", lambda: hold.member("0"))):
            with self.assertRaisesRegex(TypeError, wrong):
                call()
        hold.release()

    def test_has_no_copies(self):
        store = dlock.aio.Client(self.uri)
        with self.mine.acquire() as hold:
            for thing in self.store, self.mine, hold, store:
                for copied in copy.copy, copy.deepcopy, pickle.dumps:
                    with self.assertRaisesRegex(TypeError, "cannot be copied"):
                        copied(thing)
        gc.collect()
        self.assertNotIn("closed", repr(self.store))

    def test_required_capabilities(self):
        with dlock.Client(self.uri, require="FENCE"):
            pass
        with self.assertRaisesRegex(dlock.NotSupported, "REMOTE"):
            dlock.Client("mem:", require=["FENCE", "REMOTE"])
        with self.assertRaisesRegex(dlock.Invalid, "'X'.* REMOTE"):
            dlock.Client(self.uri, require=["X"])

    def test_no_password_is_told(self):
        for uri in (f"redis://:{PASSWORD}@:x/", f"nostore://:{PASSWORD}@h",
                    f"redis://:{PASSWORD}\0@h", f"redis://:{PASSWORD}\udc80@h"):
            with self.assertRaises(dlock.Invalid) as e:
                dlock.Client(uri)
            self.assertNotIn("nobody", repr(e.exception))
        for end in ("\0", "\udc80"):
            with self.assertRaises(dlock.Invalid) as e:
                dlock.Client(self.uri, password=PASSWORD + end)
            self.assertIn("the password", str(e.exception))
            self.assertNotIn("nobody", repr(e.exception))
            self.assertIsNone(e.exception.__context__)

    def test_once_closed(self):
        hold = self.mine.acquire()
        self.store.close()
        self.assertFalse(hold.held)
        self.assertRaises(dlock.Lost, hold.release)
        self.assertRaises(dlock.Canceled, self.mine.acquire)
        for call in (lambda: self.store.mutex("x"), lambda: self.store.caps,
                     self.store.list, self.store.stats):
            self.assertRaises(dlock.Invalid, call)
        self.store.close()

    def test_close_ends_waits(self):
        with self.mine:
            waiter = InThread(self.theirs.acquire)
            self.eventually(lambda: self.other.stats().waiters == 1)
            self.other.close()
            self.assertIsInstance(waiter.result(), dlock.Canceled)

    def test_many_threads_close_it_once(self):
        self.in_threads(8, self.store.close)
        self.assertIn("closed", repr(self.store))

    def test_says_what_a_line_of_its_log_is_about(self):
        lines = []
        with dlock.Client("mem:?fail=1", label="billing",
                          on_log=lines.append) as store:
            with self.assertRaises(dlock.Unreachable) as e:
                store.mutex("a").acquire(0)
            self.assertNotIsInstance(e.exception, TimeoutError)
            uri = store.uri
        self.assertEqual(len(lines), 1)
        self.assertIsInstance(lines[0], dlock.LogLine)
        self.assertEqual(lines[0].level, 1)
        self.assertLess(lines[0].code, 0)
        self.assertIn("request 1", lines[0].text)
        self.assertEqual(lines[0].lock, "a")
        self.assertEqual(lines[0].label, "billing")
        self.assertEqual(lines[0].uri, uri)

    def test_dies_in_its_own_log(self):
        """The garbage collector may run there, on a thread of dlock."""
        refused, box = [], []

        def on_log(line):
            if box:
                try:
                    box[0].close()
                except dlock.Invalid as e:
                    refused.append(str(e))
                box.clear()

        box.append(dlock.Client("mem:?fail=2&ttl=900ms", on_log=on_log))
        alive = weakref.ref(box[0])
        box.append(box[0].mutex("a", unbound=True).acquire(0))
        with self.assertWarns(ResourceWarning):
            self.eventually(lambda: alive() is None)
        self.assertEqual(refused, ["a client cannot be closed in on_log"])

    def test_all_are_closed_while_another_opens(self):
        store = dlock.Client("mem:")

        class Growing:
            """The set as it looks to a loop when another thread adds."""
            failures = 1

            def __iter__(self):
                if self.failures:
                    self.failures -= 1
                    raise RuntimeError("Set changed size during iteration")
                return iter([store])

        with unittest.mock.patch("dlock.client._open", Growing()):
            dlock.client._close_all()
        self.assertIn("closed", repr(store))

    def test_sub_interpreter_is_refused(self):
        """Where inspect() and list() would find nothing."""
        program = """
import _xxsubinterpreters as subs
subs.run_string(subs.create(), "import dlock")
"""
        done = subprocess.run([sys.executable, "-c", program],
                              capture_output=True, text=True, timeout=60)
        if "'_xxsubinterpreters'" in done.stderr:
            self.skipTest("this Python has another name for them")
        self.assertIn("this is a sub-interpreter", done.stderr)

    def test_forked_child_exits_while_a_thread_asks(self):
        asking, done = threading.Event(), threading.Event()

        def ask(raw):
            asking.set()
            done.wait()

        with self.mine as hold:
            for one in self.store, hold:
                asking.clear()
                done.clear()
                thread = InThread(lambda: one._ask(ask))
                asking.wait()
                pid = os.fork()
                if pid == 0:
                    signal.alarm(20)
                    dlock.client._close_all()
                    os._exit(hold.held)
                done.set()
                self.assertIsNone(thread.result())
                self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_forked_child_cancels_while_a_thread_does(self):
        cancelling, done = threading.Event(), threading.Event()

        def cancel():
            with self.mine._mu:
                cancelling.set()
                done.wait()

        thread = InThread(cancel)
        cancelling.wait()
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)
            self.mine.cancel()
            os._exit(0)
        done.set()
        self.assertIsNone(thread.result())
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_dies_in_its_own_callback(self):
        refused, box = [], []

        def on_event(hold, event, why):
            try:
                box[0].close()
            except dlock.Invalid as e:
                refused.append(str(e))
            box.clear()

        box.append(dlock.Client(short(self.uri), on_event=on_event))
        alive = weakref.ref(box[0])
        box.append(box[0].semaphore(self.name, 1).acquire())
        theirs = self.other.semaphore(self.name, 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            theirs.take_away()
            self.eventually(lambda: alive() is None)
        self.assertEqual(len(refused), 1)
        theirs.acquire(timeout=20).release()


load_tests = for_every_uri(Clients)
