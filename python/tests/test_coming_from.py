# SPDX-License-Identifier: Apache-2.0
"""The rows of docs/coming-from.md that are in Python: each ends with the name
of one of these functions, which does what its second column says."""
import os
import re
import select
import time
import unittest

import dlock
from cases import URIS, InThread, short

PAGE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..",
                    "docs", "coming-from.md")


class Rows(unittest.TestCase):
    def rows_of(self, heading):
        with open(PAGE, encoding="utf-8") as page:
            part = page.read().split(f"\n## {heading}\n")[1].split("\n## ")[0]
        rows = [r for r in part.splitlines() if r.startswith("|")][2:]
        ids = [re.search(r" <!-- (\w+) --> \|$", row) for row in rows]
        self.assertTrue(all(ids), "a row names no test")
        return [i[1] for i in ids]

    def check_table(self, heading, prefix):
        mine = [n for n in dir(self) if n.startswith(prefix)]
        self.assertEqual(sorted(self.rows_of(heading)), sorted(mine))
        for uri in URIS:
            for name in mine:
                with self.subTest(name, uri=uri):
                    self.in_store(short(uri), name)

    def in_store(self, uri, name):
        with dlock.Client(uri) as store, dlock.Client(uri) as other:
            self.uri, self.store, self.name = uri, store, f"coming/{name}"
            self.mine, self.theirs = (c.mutex(self.name)
                                      for c in (store, other))
            getattr(self, name)()

    def test_redis_py(self):
        self.check_table("redis-py", "redis_py_")

    def test_kazoo(self):
        self.check_table("kazoo", "kazoo_")

    # ---- redis-py

    def redis_py_lock(self):
        hold = self.mine.acquire(lease=0.3, renew=False)
        self.theirs.acquire(20).release()
        self.assertRaises(dlock.Lost, hold.release)

    def redis_py_try(self):
        with self.theirs:
            self.assertIsNone(self.mine.try_acquire())

    def redis_py_timeout(self):
        with self.theirs:
            self.assertRaises(dlock.TimedOut, self.mine.acquire, 0.05)
            self.assertIsNone(self.mine.try_acquire(0.05))

    def redis_py_with(self):
        with self.mine:
            self.assertIsNone(self.theirs.try_acquire())
        self.theirs.acquire(5).release()

    def redis_py_extend(self):
        with self.mine.acquire(lease=1.4, renew=False) as hold:
            hold.extend(30)
            end = time.monotonic() + 2
            while time.monotonic() < end:
                self.assertTrue(hold.held)
                time.sleep(0.02)

    def redis_py_locked(self):
        if "INSPECT" not in self.store.caps:
            return
        self.assertEqual(self.theirs.inspect(), [])
        with self.mine:
            self.assertEqual(len(self.theirs.inspect()), 1)

    def redis_py_owned(self):
        with self.mine as hold:
            self.assertTrue(hold.held)
        self.assertFalse(hold.held)

    def redis_py_unbound(self):
        hold = self.store.mutex(self.name, unbound=True).acquire(5)
        InThread(hold.release).result()
        self.theirs.acquire(5).release()

    def redis_py_not_owned(self):
        hold = self.mine.acquire(max_hold=0.05)
        select.select([hold], [], [], 20)
        self.assertRaises(dlock.Lost, hold.release)

    # ---- kazoo

    def kazoo_lock(self):
        with dlock.Client(self.uri, label="me") as store:
            lock = store.mutex(self.name)
            with lock, lock:
                if "INSPECT" in store.caps:
                    self.assertEqual(self.theirs.inspect()[0].label, "me")

    def kazoo_try(self):
        with self.theirs:
            self.assertIsNone(self.mine.try_acquire())

    def kazoo_timeout(self):
        with self.theirs:
            self.assertRaises(dlock.TimedOut, self.mine.acquire, 0.05)

    def kazoo_contenders(self):
        if "INSPECT" not in self.store.caps:
            return
        with self.mine as hold:
            holder = self.theirs.inspect()[0]
            self.assertEqual((holder.token, holder.waiting),
                             (hold.token, False))

    def kazoo_cancel(self):
        lock = self.store.mutex(self.name, sticky_cancel=True)
        lock.cancel()
        self.assertRaises(dlock.Canceled, lock.acquire)

    def kazoo_is_acquired(self):
        self.assertEqual(self.mine.held, 0)
        with self.mine:
            self.assertEqual(self.mine.held, 1)

    def kazoo_read_write(self):
        lock = self.store.rwlock(self.name)
        with lock.acquire_shared(5):
            self.assertIsNone(self.theirs.try_acquire())
        with lock.acquire(5):
            self.assertIsNone(self.theirs.try_acquire())

    def kazoo_semaphore(self):
        permits = self.store.semaphore(self.name, 3)
        with permits, permits, permits:
            self.assertIsNone(permits.try_acquire())

    def kazoo_lost(self):
        with self.assertRaises(dlock.Lost):
            with self.mine.acquire(5) as hold:
                self.theirs.take_away()
                self.assertEqual(select.select([hold], [], [], 20)[0], [hold])
