# SPDX-License-Identifier: Apache-2.0
"""cancel(), in each moment of an acquire."""
import signal
import threading
import unittest.mock

import dlock
from cases import Case, InThread, for_every_uri
from dlock._dlock import lib
from dlock.wait import Signals


class Cancels(Case):
    def test_cancel(self):
        with self.mine:
            waiter = InThread(self.theirs.acquire)
            while waiter.is_alive():
                self.theirs.cancel()
                waiter.join(0.01)
            self.assertIsInstance(waiter.result(), dlock.Canceled)

    def test_cancel_of_the_main_thread(self):
        """... which no signal has to do with."""
        ended, hold = threading.Event(), self.mine.acquire()

        def cancel():
            while not ended.is_set():
                self.theirs.cancel()
                ended.wait(0.01)

        t = InThread(cancel)
        try:
            self.assertRaises(dlock.Canceled, self.theirs.acquire, 20)
        finally:
            ended.set()
            t.result()
        hold.release()

    def test_cancel_between_the_try_and_the_wait(self):
        """... of an acquire in the main thread, as by a signal's handler."""
        class Late(Signals):
            def start(self):
                signal.raise_signal(signal.SIGALRM)
                super().start()

        def acquire(raw, ms, out):
            rc = lib.dlock_acquire(raw, ms, out)
            if ms == 0:
                signal.raise_signal(signal.SIGALRM)
            return rc

        hold = self.theirs.acquire()
        old = signal.signal(signal.SIGALRM, lambda *_: self.mine.cancel())
        try:
            self.assertRaises(dlock.Canceled, self.mine._acquire, acquire, 5,
                              {})
            with unittest.mock.patch("dlock.locks.Signals", Late):
                self.assertRaises(dlock.Canceled, self.mine.acquire, 5)
        finally:
            signal.signal(signal.SIGALRM, old)
        hold.release()

    def test_cancel_before_the_wait(self):
        lock = self.store.mutex(self.name, sticky_cancel=True)
        for in_some_thread in (lambda call: call(), self.in_thread):
            def acquire():
                try:
                    return lock.acquire(5)
                except dlock.Canceled as e:
                    return e

            lock.cancel()
            lock.cancel()
            got = in_some_thread(acquire)
            self.assertIsInstance(got, dlock.Canceled)
            self.assertIn("before it began", str(got))
            lock.acquire(5).release()
            lock.cancel()
            lock.acquire(0).release()  # a try is no wait
            self.assertRaises(dlock.Canceled, lock.acquire, 5)


load_tests = for_every_uri(Cancels)
