# SPDX-License-Identifier: Apache-2.0
"""Waiting: with other threads, and with signals."""
import asyncio
import os
import resource
import signal
import threading
import time
import unittest
import unittest.mock
import warnings

import dlock
from cases import Case, InThread, for_every_uri
from dlock.wait import Signals


def raise_interrupt(*_):
    raise KeyboardInterrupt


def pipes():
    """How many there are: what else a store has open is up to it."""
    count = 0
    for fd in os.listdir("/proc/self/fd"):
        try:
            count += os.readlink(f"/proc/self/fd/{fd}").startswith("pipe:")
        except FileNotFoundError:
            pass  # that of listdir()
    return count


class Waits(Case):
    def test_threads_exclude_each_other(self):
        count = [0]

        def work():
            for _ in range(20):
                with self.mine:
                    n = count[0]
                    time.sleep(0)
                    count[0] = n + 1

        self.in_threads(4, work)
        self.assertEqual(count, [80])

    def test_timeout_of_another_thread(self):
        with self.mine:
            begin = time.monotonic()
            got = self.in_thread(lambda: self.theirs.acquire(timeout=0.1))
            self.assertIsInstance(got, dlock.Busy)
            self.assertGreaterEqual(time.monotonic() - begin, 0.1)

    def test_signal_is_no_cancel(self):
        """... not of this wait, nor of the next."""
        lock = self.store.mutex(self.name, sticky_cancel=True)
        came, hold = [], self.theirs.acquire()
        old = signal.signal(signal.SIGALRM, lambda *_: came.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        try:
            self.assertRaises(dlock.TimedOut, lock.acquire, 0.3)
        finally:
            signal.signal(signal.SIGALRM, old)
        hold.release()
        # As if a signal had come when the wait had just been granted.
        lock._cancel(0, 1)
        lock.acquire(5).release()
        lock._cancel(0, 1)
        self.in_thread(lambda: lock.acquire(5).release())
        self.assertEqual(came, [1])

    def test_signal_among_many_descriptors(self):
        """select(2) has no place for those from 1024 on."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = 2048
        if hard != resource.RLIM_INFINITY and hard < most:
            self.skipTest("so many descriptors are not allowed")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
        many = [os.open("/dev/null", os.O_RDONLY) for _ in range(1024)]
        hold = self.theirs.acquire()
        old = signal.signal(signal.SIGALRM, raise_interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        begun = time.monotonic()
        try:
            self.assertRaises(KeyboardInterrupt, self.mine.acquire, 20)
            self.assertLess(time.monotonic() - begun, 15)
        finally:
            signal.signal(signal.SIGALRM, old)
            for fd in many:
                os.close(fd)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        hold.release()

    def test_without_a_descriptor(self):
        """The wait needs a pipe for signals."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        hold = self.theirs.acquire()
        spare = os.open("/dev/null", os.O_RDONLY)
        os.close(spare)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (spare, hard))
            with self.assertRaisesRegex(dlock.Exhausted, "open files"):
                self.mine.acquire(5)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        hold.release()
        self.mine.acquire(20).release()

    def test_without_a_thread(self):
        hold = self.theirs.acquire()
        with unittest.mock.patch("threading.Thread.start",
                                 side_effect=RuntimeError("no thread")):
            with self.assertRaisesRegex(dlock.Exhausted, "no thread"):
                self.mine.acquire(5)
        hold.release()
        self.mine.acquire(20).release()

    def test_signal_that_outlasts_the_wait(self):
        """What is left of the wait is a try, and fails as a wait does."""
        hold = self.theirs.acquire()
        old = signal.signal(signal.SIGALRM, lambda *_: time.sleep(0.4))
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        try:
            self.assertRaises(dlock.TimedOut, self.mine.acquire, 0.3)
        finally:
            signal.signal(signal.SIGALRM, old)
        hold.release()

    def test_late_cancel_for_a_signal_is_none(self):
        """The thread that cancels for a signal does so every 10 ms: once more
        behind the end of the wait."""
        class Late(Signals):
            def stop(self):
                if self._read >= 0 and self.came:
                    self._cancel()
                super().stop()

        lock = self.store.mutex(self.name, sticky_cancel=True)
        came, hold = [], self.theirs.acquire()
        old = signal.signal(signal.SIGALRM, lambda *_: came.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        try:
            with unittest.mock.patch("dlock.locks.Signals", Late):
                self.assertRaises(dlock.TimedOut, lock.acquire, 0.3)
        finally:
            signal.signal(signal.SIGALRM, old)
        hold.release()
        self.assertEqual(came, [1])
        lock.cancel()
        self.assertRaises(dlock.Canceled, lock.acquire, 5)

    def interrupted(self, handler, seconds):
        """A wait, and after a moment SIGALRM."""
        old = signal.signal(signal.SIGALRM, handler)
        holding, end = threading.Event(), threading.Event()

        def hold():
            with self.mine:
                holding.set()
                end.wait(20)

        t = InThread(hold)
        holding.wait()
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        begin = time.monotonic()
        try:
            return self.theirs.try_acquire(seconds)
        finally:
            self.took = time.monotonic() - begin
            end.set()
            t.result()
            signal.signal(signal.SIGALRM, old)

    def test_signal_handler_may_end_a_wait(self):
        before = pipes()
        for _ in range(5):
            with self.assertRaises(KeyboardInterrupt):
                self.interrupted(raise_interrupt, None)
            self.assertEqual(signal.set_wakeup_fd(-1), -1)
        self.assertEqual(pipes(), before)
        self.theirs.acquire(timeout=5).release()

    def test_signal_handler_may_raise_ahead_of_a_block(self):
        class Interrupted(list):
            def append(self, hold):
                super().append(hold)
                raise KeyboardInterrupt

        self.mine._mine.holds = Interrupted()
        with self.assertRaises(KeyboardInterrupt):
            with self.mine:
                self.fail("the block has begun")
        self.theirs.acquire(timeout=5).release()

    def test_signal_handler_need_not_end_it(self):
        came = []
        self.assertIsNone(self.interrupted(lambda *_: came.append(1), 0.5))
        self.assertEqual(came, [1])
        self.assertGreaterEqual(self.took, 0.5)

    def test_signal_reaches_who_had_the_descriptor(self):
        read, write = os.pipe2(os.O_NONBLOCK)
        signal.set_wakeup_fd(write)
        try:
            self.interrupted(lambda *_: None, 0.3)
            self.assertEqual(signal.set_wakeup_fd(-1), write)
            self.assertIn(signal.SIGALRM, os.read(read, 100))
        finally:
            signal.set_wakeup_fd(-1)
            os.close(read)
            os.close(write)

    def test_signal_handler_may_raise_in_a_callback(self):
        """... which takes in an answer of the store."""
        def interrupted(*_):
            signal.raise_signal(signal.SIGALRM)

        calls = [("dlock.locks.Participant", self.mine.inspect)]
        if "LIST" in self.store.caps:
            calls.append(("dlock.client.LockInfo", self.store.list))
        old = signal.signal(signal.SIGALRM, raise_interrupt)
        try:
            with self.mine:
                for made, call in calls:
                    with unittest.mock.patch(made, interrupted):
                        self.assertRaises(KeyboardInterrupt, call)
                    self.assertTrue(call())
        finally:
            signal.signal(signal.SIGALRM, old)

    def test_signal_handler_may_raise_in_on_log(self):
        lines = []

        def on_log(line):
            lines.append(line)
            if len(lines) == 1:
                signal.raise_signal(signal.SIGALRM)

        old = signal.signal(signal.SIGALRM, raise_interrupt)
        try:
            with dlock.Client("mem:") as other:
                theirs = other.mutex(self.name, unbound=True)
                for fail in 1, 3:  # at the first try; in the wait behind it
                    with dlock.Client(f"mem:?fail={fail}",
                                      on_log=on_log) as store:
                        mine = store.mutex(self.name, unbound=True)
                        with theirs:
                            self.assertRaises(KeyboardInterrupt,
                                              mine.acquire, 20)
                        mine.acquire(timeout=20).release()
                    lines.clear()
        finally:
            signal.signal(signal.SIGALRM, old)

    def test_interrupts_at_any_moment_leave_nothing_held(self):
        armed, came = [], 0

        def handler(*_):
            if armed:
                armed.clear()
                raise KeyboardInterrupt

        old = signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0017)
        try:
            with warnings.catch_warnings():
                # A hold that is interrupted on its way to `with` is dropped.
                warnings.simplefilter("ignore", ResourceWarning)
                end = time.monotonic() + 1
                while time.monotonic() < end:
                    try:
                        armed.append(1)
                        with self.mine.acquire(timeout=20):
                            pass
                        armed.clear()
                    except KeyboardInterrupt:
                        came += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, old)
        self.assertGreater(came, 0)
        self.assertEqual(self.store.stats().holds, 0)
        # What an interrupted wait left may still be on its way out.
        self.theirs.acquire(timeout=20).release()


async def run_alone(lock, work):
    """As docs/python.md has it for dlock.aio, here with a thread that waits."""
    hold = await asyncio.to_thread(lock.acquire)
    loop, task = asyncio.get_running_loop(), asyncio.create_task(work)
    loop.add_reader(hold.fileno(), task.cancel)
    try:
        return await task
    finally:
        loop.remove_reader(hold.fileno())
        await asyncio.to_thread(hold.release)


class EventLoop(Case):
    def test_goes_on_while_a_thread_waits(self):
        mine = self.store.mutex(self.name, unbound=True)
        theirs = self.other.mutex(self.name, unbound=True)
        hold = theirs.acquire()

        async def work():
            self.assertIsNone(await asyncio.to_thread(theirs.try_acquire))
            return "done"

        async def let_go():
            while self.store.stats().waiters == 0:
                await asyncio.sleep(0.001)
            hold.release()

        async def both():
            return await asyncio.gather(run_alone(mine, work()), let_go())

        self.assertEqual(asyncio.run(both()), ["done", None])
        theirs.acquire(timeout=0).release()

    def test_ends_a_task_when_the_lock_is_lost(self):
        async def work():
            await asyncio.to_thread(self.theirs.take_away)
            await asyncio.sleep(60)

        mine = self.store.mutex(self.name, unbound=True)
        with self.assertRaises(dlock.Lost):
            asyncio.run(run_alone(mine, work()))


class SlowStore(unittest.TestCase):
    def test_grants_while_a_signal_comes(self):
        """The lock is free when the exception is handled, not later."""
        old = signal.signal(signal.SIGALRM, raise_interrupt)
        try:
            with dlock.Client("mem:?delay=200ms&ask=20s") as store, \
                    dlock.Client("mem:") as other:
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                try:
                    store.mutex("slow").acquire()
                except KeyboardInterrupt:
                    other.mutex("slow").acquire(timeout=5).release()
                else:
                    self.fail("the handler has not raised")
        finally:
            signal.signal(signal.SIGALRM, old)


load_tests = for_every_uri(Waits, EventLoop, once=(SlowStore,))
