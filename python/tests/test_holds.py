# SPDX-License-Identifier: Apache-2.0
"""Holds: taken, asked, released, lost, dropped."""
import array
import gc
import os
import select
import threading
import time
import unittest

import dlock
from cases import Case, InThread, for_every_uri, short


class Names(unittest.TestCase):
    def test_of_any_bytes(self):
        self.assertEqual(dlock.make_name("a/b"), ("a/b", "same"))
        self.assertEqual(dlock.make_name("\xe4"), ("\xe4", "same"))
        self.assertEqual(dlock.make_name(b"a\0"), ("%e:a%00", "escaped"))
        self.assertEqual(dlock.make_name("\ud800").made, "escaped")
        self.assertEqual(dlock.make_name(array.array("H", [0x6161] * 2)),
                         ("aaaa", "same"))
        long = dlock.make_name(b"x" * 100000)
        self.assertEqual((len(long.text), long.made), (67, "hashed"))


class Holds(Case):
    def test_ends_with_its_block(self):
        with self.mine.acquire() as hold:
            self.assertTrue(hold.held and hold.token > 0)
            hold.check()
            self.assertIsNone(self.theirs.try_acquire())
            with self.assertRaises(dlock.Busy) as e:
                self.theirs.acquire(timeout=0.02)
            self.assertEqual(e.exception.name, "EBUSY")
            self.assertEqual(e.exception.code, dlock.Busy.code)
            self.assertIsInstance(e.exception, TimeoutError)
            with self.assertRaises(dlock.Busy) as e:
                self.theirs.acquire(timeout=0)
            self.assertNotIsInstance(e.exception, TimeoutError)
            self.assertIsInstance(
                self.in_thread(lambda: self.theirs.acquire(0.02)),
                dlock.TimedOut)
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

    def test_count(self):
        permits = self.store.semaphore(self.name, 2)
        self.assertEqual(self.mine.held, 0)
        with self.mine, self.mine, permits:
            self.assertEqual((self.mine.held, self.theirs.held), (2, 0))
            self.assertEqual(self.in_thread(lambda: self.mine.held), 0)
            self.assertEqual(self.in_thread(lambda: permits.held), 1)
        self.assertEqual((self.mine.held, permits.held), (0, 0))

    def test_options_of_its_own(self):
        with self.assertRaises(dlock.Lost):
            with self.mine.acquire(5, max_hold=0.2, label="a label") as hold:
                self.assertLessEqual(hold.remaining, 0.2)
                if "INSPECT" in self.store.caps:
                    self.assertEqual(self.theirs.inspect()[0].label, "a label")
                hold.extend(20)
                hold.extend(0.05)
                self.theirs.acquire(20).release()
                self.assertRaises(dlock.Lost, hold.extend, 1)
        with self.theirs as hold:
            self.assertRaises(dlock.Invalid, hold.extend, 1)
            self.assertIsNone(self.mine.try_acquire(lease=1))
            self.assertRaises(dlock.Invalid, self.mine.acquire, 0, lease=0)
            self.assertRaises(dlock.Invalid, self.mine.acquire, 0, lease=0.001)
            self.assertRaises(dlock.Invalid, self.mine.acquire, 0, label="a\n")
            self.assertRaises(TypeError, self.mine.acquire, 0, least=1)
        shared = self.store.rwlock(self.name)
        with shared.acquire_shared(5, max_hold=20) as hold:
            self.assertIsNone(self.theirs.try_acquire())
            hold.extend(10)

    def test_ends_by_itself(self):
        hold = self.mine.acquire(5, lease=0.3, renew=False)
        self.theirs.acquire(20).release()
        self.assertFalse(hold.held)
        self.assertRaises(dlock.Lost, hold.release)

    def test_mutex_is_recursive(self):
        with self.mine as a, self.mine as b:
            self.assertEqual(a.token, b.token)
        with self.mine, self.mine:
            self.assertIsNone(self.theirs.try_acquire())
        self.theirs.acquire(timeout=0).release()

    def test_each_acquire_has_a_hold_of_its_own(self):
        a, b = self.mine.acquire(), self.mine.acquire()
        self.assertNotEqual(a, b)
        self.assertEqual(len({a, b}), 2)
        a.release()
        with self.assertRaisesRegex(dlock.Invalid, "released before"):
            a.release()
        self.assertRaises(dlock.Invalid, a.check)
        self.assertTrue(b.held)
        self.assertIsNone(self.theirs.try_acquire())
        b.release()
        self.theirs.acquire(timeout=0).release()

    def test_once_released(self):
        hold = self.mine.acquire()
        token, known = hold.token, {hold}
        hold.release()
        self.assertFalse(hold.held)
        self.assertEqual((hold.token, hold.remaining), (token, 0))
        self.assertIn(hold, known)
        self.assertIn("not held", repr(hold))
        for call in (hold.check, hold.release, hold.fileno, hold.revocable,
                     hold.wanted_fileno, lambda: hold.extend(5)):
            with self.assertRaisesRegex(dlock.Invalid, self.name):
                call()
        with self.assertRaisesRegex(dlock.Invalid, "was released before"):
            hold.release()
        with self.assertRaisesRegex(dlock.Invalid, "was released before"):
            with hold:
                self.fail("a block without the lock")
        with self.mine.acquire() as later:
            self.assertNotEqual(later, hold)
            later.release()  # and not once more at the end

    def test_threads_that_may_not_release(self):
        def release():
            for _ in range(2000):
                self.assertRaises(dlock.Invalid, hold.release)

        hold = self.mine.acquire()
        self.in_threads(4, release)
        hold.release()
        self.theirs.acquire(timeout=0).release()

    def test_of_a_block_in_another_thread(self):
        mine = self.store.mutex(self.name)
        with mine:
            why = InThread(lambda: mine.__exit__(None, None, None)).result()
            self.assertIsInstance(why, dlock.Invalid)
            self.assertIn("without a block", str(why))
            self.assertEqual(mine.held, 1)

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
                    self.assertIs(told[-1][0], hold)
                    self.assertEqual(told[-1][1], "lost")
                    self.assertEqual(told[-1][3], False)
            # A loss does not hide what the block raised.
            with self.assertRaises(KeyError):
                with store.mutex(self.name) as hold:
                    self.theirs.take_away()
                    self.eventually(lambda: not hold.held)
                    raise KeyError

    def test_event_names_the_hold_of_its_acquire(self):
        work, told = {}, []
        with dlock.Client(short(self.uri), on_event=lambda hold, *_:
                          told.append((hold, hold.token))) as store:
            m = store.mutex(self.name)
            a, b = m.acquire(), m.acquire()
            s = store.semaphore(self.name, 1).acquire()
            work[a], work[s] = "a", "s"
            self.theirs.take_away()
            self.other.semaphore(self.name, 1).take_away()
            self.eventually(lambda: len(told) >= 2)
            self.assertEqual({work[hold] for hold, _ in told}, {"a", "s"})
            self.assertEqual({token for _, token in told},
                             {a.token, s.token})
            for hold in (b, a, s):
                self.assertRaises(dlock.Lost, hold.release)
            # The one that is left, whichever it is.
            a, b = m.acquire(), m.acquire()
            a.release()
            told.clear()
            self.theirs.take_away()
            self.eventually(lambda: told)
            self.assertIs(told[0][0], b)
            self.assertRaises(dlock.Lost, b.release)

    def test_event_during_its_release(self):
        """... which waits for the callback."""
        inside, told = threading.Event(), []

        def on_event(hold, event, why):
            inside.set()
            self.eventually(lambda: not hold.held)
            told.append(hold)

        with dlock.Client(short(self.uri), on_event=on_event) as store:
            hold = store.mutex(self.name).acquire()
            self.theirs.take_away()
            self.assertTrue(inside.wait(20))
            self.assertRaises(dlock.Lost, hold.release)
            self.assertIs(told[0], hold)

    def test_event_of_a_member_of_a_multi_lock(self):
        told = []
        with dlock.Client(short(self.uri), on_event=lambda hold, *_:
                          told.append(hold)) as store:
            both = dlock.MultiLock([store.mutex(self.name + "/1"),
                                    store.mutex(self.name + "/2")])
            hold = both.acquire()
            self.assertIs(hold.member(1), hold.member(1))
            self.other.mutex(self.name + "/2").take_away()
            self.eventually(lambda: told)
            self.assertIs(told[0], hold.member(1))
            self.assertRaises(dlock.Lost, hold.release)

    def test_dropped_multi_lock_is_released(self):
        hold = dlock.MultiLock([self.mine]).acquire()
        self.assertTrue(hold.member(0).held)
        with self.assertWarnsRegex(ResourceWarning, self.name):
            del hold
        self.theirs.acquire(timeout=0).release()

    def test_take_away_says_whether_anybody_held_it(self):
        self.assertIs(self.theirs.take_away(), False)
        hold = self.mine.acquire()
        self.assertIs(self.theirs.take_away(), True)
        self.eventually(lambda: not hold.held)
        self.assertRaises(dlock.Lost, hold.release)
        self.assertIs(self.theirs.take_away(), False)

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

    def test_is_asked_while_it_asks_the_store(self):
        with dlock.Client("mem://slow?delay=500ms") as store:
            hold, asked = store.mutex(self.name).acquire(), 0
            asking = InThread(hold.revocable)
            while asking.is_alive():
                hold.check()
                asked += 1
            self.assertIsNone(asking.result())
            self.assertGreater(asked, 20)
            hold.release()

    def test_holders_of_permits_are_told_of_a_revoke(self):
        mine = self.store.semaphore(self.name, 2)
        with mine.acquire() as one, mine.acquire() as two:
            if "REVOKE_PERMITS" not in self.store.caps:
                for refused in one.revocable, mine.revoke:
                    self.assertRaises(dlock.NotSupported, refused)
                return
            fds = [hold.wanted_fileno() for hold in (one, two)]
            self.assertEqual(select.select(fds, [], [], 0)[0], [])
            mine.revoke()
            for fd in fds:
                self.assertEqual(select.select([fd], [], [], 20)[0], [fd])

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
            self.assertIsNone(hold.member(2 ** 70))
            self.assertRaises(dlock.Invalid, hold.member, -1)
            self.assertRaises(TypeError, hold.member, 1.0)
        # It ended with the hold, and is not asked.
        self.assertFalse(second.held)
        self.assertRaises(dlock.Invalid, second.check)
        self.assertRaises(dlock.Invalid, dlock.MultiLock, [])
        for call in (both.inspect, both.revoke, both.take_away):
            with self.assertRaisesRegex(dlock.Invalid, "its members"):
                call()

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
                for call in hold.check, hold.release, self.mine.acquire:
                    with self.assertRaisesRegex(dlock.Forked,
                                                "parent|before fork"):
                        call()
                os._exit(0)
            finally:
                os._exit(1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertIsNone(self.theirs.try_acquire())
        hold.release()


load_tests = for_every_uri(Holds, once=(Names,))
