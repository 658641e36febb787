# SPDX-License-Identifier: Apache-2.0
"""dlock.aio: multi-locks."""
import asyncio

import dlock
import dlock.aio
from aio_cases import AioCase, until
from cases import for_every_uri, short


class Multi(AioCase):
    """Locks of two clients, as one."""

    def in_loop(self, main, uri=None, **options):
        async def run(store, mine):
            async with dlock.aio.Client(uri or short(self.uri)) as second:
                both = dlock.aio.MultiLock([mine, second.mutex("second")])
                return await main(store, second, both)

        return super().in_loop(run, uri, **options)

    def test_all(self):
        async def main(store, second, both):
            other = self.other.mutex("second")
            for _ in range(3):
                async with both.acquire(timeout=20) as hold:
                    self.assertIsNone(self.theirs.try_acquire())
                    self.assertIsNone(other.try_acquire())
                    self.assertEqual(hold.token, 0)
                    self.assertTrue(hold.member(1).held)
                    self.assertIsNone(hold.member(2))
                self.theirs.acquire(timeout=0).release()
                other.acquire(timeout=0).release()

        self.in_loop(main)

    def test_read_side(self):
        async def main(store, second, _):
            reads = second.rwlock("second").use_read_side()
            theirs = self.other.rwlock("second")
            async with dlock.aio.MultiLock([store.mutex(self.name), reads]):
                self.assertIsNone(theirs.try_acquire())
                theirs.acquire_shared(5).release()

        self.in_loop(main)

    def test_none(self):
        async def main(store, second, both):
            with self.other.mutex("second"):
                self.assertIsNone(await both.try_acquire())
                self.assertIsNone(await both.try_acquire(0.05))
                self.theirs.acquire(timeout=0).release()
                waiter = asyncio.create_task(both.acquire())
                await until(lambda: second.stats().waiters == 1)
                waiter.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await waiter
                await self.none_waits(second)
            await (await both.acquire(timeout=20)).release()

        self.in_loop(main)
        self.assert_free()

    def test_ends_with_a_client(self):
        async def main(store, second, both):
            hold = await both.acquire()
            with self.assertRaises(dlock.Busy):
                await both.acquire(timeout=0)
            waiter = asyncio.create_task(both.acquire())
            await until(lambda: store.stats().waiters
                        + second.stats().waiters == 1)
            await second.close()
            with self.assertRaises(dlock.Canceled):
                await waiter
            with self.assertRaises(dlock.Canceled):
                await both.acquire()
            with self.assertRaises(dlock.Lost):
                await hold.release()
            self.theirs.acquire(timeout=0).release()

        self.in_loop(main)

    def test_bad(self):
        async def main(store, second, both):
            for bad in ([], [both], [store.mutex("a"), store.mutex("a")]):
                with self.assertRaises(dlock.Invalid):
                    dlock.aio.MultiLock(bad)
            with self.assertRaisesRegex(dlock.Invalid, "its members"):
                await both.take_away()

        self.in_loop(main)


load_tests = for_every_uri(Multi)
