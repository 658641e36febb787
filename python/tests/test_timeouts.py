# SPDX-License-Identifier: Apache-2.0
"""How long a wait is."""
import time
import unittest
from decimal import Decimal
from fractions import Fraction

import dlock
from dlock.errors import to_ms


class SlowStore(unittest.TestCase):
    def test_answers_later_than_a_try_waits(self):
        with dlock.Client("mem:?delay=200ms") as store:
            m = store.mutex("slow")
            self.assertRaises(dlock.Unreachable, m.acquire, timeout=0)
            m.acquire(timeout=20).release()

    def test_has_no_more_time_in_the_main_thread(self):
        """... where a wait begins with a try."""
        with dlock.Client("mem:?delay=60s&ask=1s&close=1ms") as store:
            begun = time.monotonic()
            self.assertRaises(dlock.Unreachable, store.mutex("a").acquire, 0.1)
            self.assertLess(time.monotonic() - begun, 1.6)


class Timeouts(unittest.TestCase):
    def test_are_rounded_up(self):
        inf = float("inf")
        for seconds, ms in ((None, -1), (0, 0), (0.0, 0),
                            (1e-9, 1), (0.001, 1), (0.0011, 2), (1, 1000),
                            (1.5, 1500), (inf, 2 ** 62), (1e300, 2 ** 62)):
            self.assertEqual(to_ms(seconds), ms, seconds)
        with dlock.Client("mem:") as store:
            for seconds in (inf, 10 ** 400, 10 ** 5000, Fraction(1, 3),
                            Decimal("0.5")):
                store.mutex("free").acquire(timeout=seconds).release()

    def test_that_are_no_time_are_refused(self):
        with dlock.Client("mem:") as store:
            lock = store.mutex("free")
            for bad in (-1, -0.001, -float("inf"), float("nan"), True, False,
                        -10 ** 5000, Decimal("NaN"), Decimal("sNaN")):
                for call in (lock.acquire, lock.try_acquire, lock.inspect,
                             lock.take_away, store.list):
                    with self.assertRaisesRegex(dlock.Invalid, "None to wait"):
                        call(timeout=bad)
