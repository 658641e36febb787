# SPDX-License-Identifier: Apache-2.0
"""Holds: taken, asked, released, lost, dropped."""
import gc
import os
import select
import threading
import time

import dlock
from cases import Case, InThread, for_every_uri, short


class Holds(Case):
    def test_ends_with_its_block(self):
        with self.mine.acquire() as hold:
            self.assertTrue(hold.held and hold.token > 0)
            hold.check()
            self.assertIsNone(self.theirs.try_acquire())
            with self.assertRaises(dlock.Busy) as e:
                self.theirs.acquire(timeout=0.02)
            self.assertEqual(e.exception.name, "EBUSY")
        with self.theirs.acquire(timeout=0) as later:
            self.assertGreater(later.token, hold.token)

    def test_tokens_rise(self):
        with self.mine as hold:
            first = hold.token
        with self.theirs as hold:
            self.assertGreater(hold.token, first)

    def test_exception_releases(self):
        with self.assertRaises(KeyError):
            with self.mine:
                raise KeyError
        self.theirs.acquire(timeout=0).release()

    def test_mutex_is_recursive(self):
        with self.mine as a, self.mine as b:
            self.assertEqual(a, b)
        with self.mine, self.mine:
            self.assertIsNone(self.theirs.try_acquire())
        self.theirs.acquire(timeout=0).release()

    def test_once_released(self):
        hold = self.mine.acquire()
        token, known = hold.token, {hold}
        hold.release()
        self.assertFalse(hold.held)
        self.assertEqual((hold.token, hold.remaining), (token, 0))
        self.assertIn(hold, known)
        self.assertIn("not held", repr(hold))
        self.assertRaises(dlock.Invalid, hold.fileno)
        for call in (hold.check, hold.release):
            with self.assertRaisesRegex(dlock.Invalid, self.name):
                call()
        with self.mine.acquire() as later:
            self.assertNotEqual(later, hold)
            later.release()  # and not once more at the end

    def test_loss_is_told(self):
        told = []
        with dlock.Client(short(self.uri), on_event=lambda *args:
                          told.append(args + (args[0].held,))) as store:
            with self.assertRaisesRegex(dlock.Lost, self.name):
                with store.mutex(self.name) as hold:
                    self.theirs.take_away()
                    select.select([hold], [], [], 20)
                    self.assertFalse(hold.held)
                    with self.assertRaisesRegex(dlock.Lost, self.name):
                        hold.check()
                    self.eventually(lambda: told)
                    self.assertEqual(told[-1][:2], (hold, "lost"))
                    self.assertEqual(told[-1][3], False)
            # The callback's own is good for the call, and harmless after it.
            self.assertFalse(told[-1][0].held)
            self.assertEqual(told[-1][0].token, hold.token)
            # A loss does not hide what the block raised.
            with self.assertRaises(KeyError):
                with store.mutex(self.name) as hold:
                    self.theirs.take_away()
                    self.eventually(lambda: not hold.held)
                    raise KeyError

    def test_holder_is_told_when_others_want_it(self):
        told = []
        with dlock.Client(self.uri, on_event=lambda *args:
                          told.append(args[1])) as store:
            with store.mutex(self.name).acquire() as hold:
                if "WANTED" not in store.caps:
                    with self.assertRaises(dlock.NotSupported):
                        hold.revocable()
                    return
                hold.revocable()
                fd = hold.wanted_fileno()
                self.assertEqual(select.select([fd], [], [], 0)[0], [])
                self.theirs.revoke()
                self.assertEqual(select.select([fd], [], [], 20)[0], [fd])
                self.eventually(lambda: told == ["wanted"])
                hold.check()

    def test_only_its_thread_releases(self):
        hold = self.mine.acquire()
        self.assertIsInstance(self.in_thread(hold.release), dlock.Invalid)
        self.assertTrue(hold.held)
        hold.release()

    def test_unbound_hold_goes_to_another_thread(self):
        m = self.store.mutex(self.name, unbound=True)
        hold = m.acquire()
        self.assertIsNone(m.try_acquire())
        self.assertIsNone(self.theirs.try_acquire())
        self.assertIsNone(self.in_thread(hold.release))
        self.theirs.acquire(timeout=5).release()
        a = self.store.rwlock(self.name, unbound=True)
        hold = self.in_thread(a.acquire_shared)
        hold.release()
        with m:
            self.assertIsNone(self.theirs.try_acquire())

    def test_permit_goes_to_another_thread(self):
        s = self.store.semaphore(self.name, 1)
        hold = s.acquire()
        self.assertIsNone(s.try_acquire())
        self.assertIsNone(self.in_thread(hold.release))
        s.acquire(timeout=5).release()

    def test_readers_share(self):
        a, b = self.store.rwlock(self.name), self.other.rwlock(self.name)
        with a.acquire_shared(), b.acquire_shared():
            self.assertIsNone(dlock.Client(self.uri).rwlock(
                self.name).try_acquire(0.02))
        with a:
            self.assertIsNone(b.try_acquire_shared())

    def test_multi_lock(self):
        two = self.store.mutex(self.name + "/2")
        both = dlock.MultiLock([self.mine, two])
        with both as hold:
            self.assertIsNone(self.theirs.try_acquire())
            second = hold.member(1)
            self.assertTrue(second.held and second.token > 0)
            self.assertIsNone(hold.member(2))
        # It ended with the hold, and is not asked.
        self.assertFalse(second.held)
        self.assertRaises(dlock.Invalid, second.check)
        self.assertRaises(dlock.Invalid, dlock.MultiLock, [])

    def test_dropped_hold_is_released(self):
        with self.assertWarnsRegex(ResourceWarning, self.name):
            self.mine.acquire()
        self.theirs.acquire(timeout=0).release()

    def test_hold_that_another_thread_drops(self):
        box = [self.in_thread(self.mine.acquire)]
        with self.assertWarnsRegex(ResourceWarning, "stays held"):
            box.clear()
        self.assertIsNone(self.theirs.try_acquire())
        self.store.close()
        self.theirs.acquire(timeout=5).release()

    def test_hold_needs_no_other_reference(self):
        hold = dlock.Client(self.uri).mutex(self.name).acquire()
        gc.collect()
        self.assertTrue(hold.held)
        hold.release()

    def test_threads_may_ask_while_one_releases(self):
        s, box, end = self.store.semaphore(self.name, 1), [], threading.Event()
        asked = [0]

        def ask():
            while not end.is_set():
                for hold in box[-1:]:
                    asked[0] += (hold.held, hold.remaining, hold.warning) != ()

        threads = [InThread(ask) for _ in range(2)]
        latest, rounds = time.monotonic() + 20, 0
        while rounds < 50 or asked[0] <= 50 and time.monotonic() < latest:
            with s.acquire(timeout=20) as hold:
                box.append(hold)
                time.sleep(0)
            rounds += 1
        end.set()
        for t in threads:
            self.assertIsNone(t.result())
        self.assertGreater(asked[0], 50)

    def test_fork(self):
        hold = self.mine.acquire()
        pid = os.fork()
        if pid == 0:
            try:
                hold.release()
            except dlock.Forked:
                try:
                    self.mine.acquire()
                except dlock.Forked:
                    os._exit(0)
            os._exit(1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertIsNone(self.theirs.try_acquire())
        hold.release()


load_tests = for_every_uri(Holds)
